#define _GNU_SOURCE
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "State.h"

enum { DESCRIPTORS = 4096 };

static char *paths[DESCRIPTORS];
static char opened_by_sqlite[DESCRIPTORS];
static long beside;
static char last_beside[PATH_MAX];

static const char *watched(void) {
  static const char *directory;
  if (!directory) directory = getenv("CDT_FAULTS_DIRECTORY");
  return directory;
}

static int isBelow(const char *path, const char *directory) {
  size_t length = strlen(directory);
  return strncmp(path, directory, length) == 0 && (path[length] == 0 || path[length] == '/');
}

int faults_watches(const char *path, char *full) {
  const char *directory = watched();
  if (!directory || !path) return 0;
  size_t length = 0;
  if (path[0] != '/') {
    if (!getcwd(full, PATH_MAX)) return 0;
    length = strlen(full);
  }
  while (*path) {
    size_t part = strcspn(path, "/");
    if (part == 2 && path[0] == '.' && path[1] == '.') {
      while (length > 0 && full[--length] != '/') {}
    } else if (part > 0 && !(part == 1 && path[0] == '.')) {
      if (length + part + 2 > PATH_MAX) return 0;
      full[length++] = '/';
      memcpy(full + length, path, part);
      length += part;
    }
    path += part;
    if (*path) path += 1;
  }
  full[length] = 0;
  return isBelow(full, directory);
}

const char *faults_path(int descriptor) {
  return descriptor >= 0 && descriptor < DESCRIPTORS ? paths[descriptor] : NULL;
}

void faults_forget(int descriptor) {
  if (!faults_path(descriptor)) return;
  free(paths[descriptor]);
  paths[descriptor] = NULL;
}

static int endsWith(const char *path, const char *suffix) {
  size_t length = strlen(path), end = strlen(suffix);
  return length >= end && strcmp(path + length - end, suffix) == 0;
}

static void noteBeside(const char *path) {
  if (endsWith(path, "-wal") || endsWith(path, "-log")) return;
  for (int descriptor = 0; descriptor < DESCRIPTORS; descriptor += 1) {
    if (!paths[descriptor] || !opened_by_sqlite[descriptor] || strcmp(paths[descriptor], path) != 0) continue;
    beside += 1;
    strcpy(last_beside, path);
    return;
  }
}

void faults_remember(int descriptor, const char *path, int isSQLite, int isName) {
  if (descriptor >= DESCRIPTORS) return;
  faults_forget(descriptor);
  if (!isSQLite && !isName) noteBeside(path);
  paths[descriptor] = strdup(path);
  opened_by_sqlite[descriptor] = (char)isSQLite;
}

long faults_beside(char *path) {
  faults_lock();
  strcpy(path, last_beside);
  long result = beside;
  faults_unlock();
  return result;
}

void faults_move(const char *path, const char *other) {
  size_t length = strlen(path);
  for (int descriptor = 0; descriptor < DESCRIPTORS; descriptor += 1) {
    const char *known = paths[descriptor];
    if (!known) continue;
    if (other && isBelow(known, other)) {
      faults_forget(descriptor);  // The file that was replaced.
    } else if (isBelow(known, path)) {
      char moved[PATH_MAX] = "";
      if (other && strlen(other) + strlen(known) - length < PATH_MAX) {
        strcpy(moved, other);
        strcat(moved, known + length);
      }
      faults_forget(descriptor);
      if (moved[0]) paths[descriptor] = strdup(moved);
    }
  }
}
