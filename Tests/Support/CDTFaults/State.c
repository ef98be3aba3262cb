#define _GNU_SOURCE
#include "State.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "include/CDTFaults.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static const char *const names[KIND_COUNT] = {"open", "read", "write", "sync", "lock", "shm", "truncate",
    "delete", "rename", "mkdir", "close", "stat", "list", "malloc"};

/// The armed fault; there is none if the error is 0.
static struct {
  enum kind kind;
  long n;
  int error;
  int isLasting;
} fault;

static long calls[KIND_COUNT];
static long failures;
/// How many changes are left until the process is killed; negative if it is not killed.
static long changesLeft = -1;

__attribute__((constructor)) static void start(void) {
  const char *kill = getenv("CDT_FAULTS_KILL");
  if (kill) changesLeft = atol(kill);
}

void faults_lock(void) { pthread_mutex_lock(&mutex); }

void faults_unlock(void) { pthread_mutex_unlock(&mutex); }

static int isShared(const char *path) {
  size_t length = path ? strlen(path) : 0;
  return length > 4 && strcmp(path + length - 4, "-shm") == 0;
}

int faults_count(enum kind kind, const char *path) {
  if (isShared(path) && kind != KIND_LOCK) kind = KIND_SHM;
  calls[kind] += 1;
  if (!fault.error || fault.kind != kind) return 0;
  if (fault.isLasting ? calls[kind] < fault.n : calls[kind] != fault.n) return 0;
  failures += 1;
  return fault.error;
}

void faults_will_change(void) {
  if (changesLeft > 0 && --changesLeft == 0) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
  }
}

static int kindNamed(const char *name) {
  for (int kind = 0; kind < KIND_COUNT; kind += 1) {
    if (strcmp(names[kind], name) == 0) return kind;
  }
  return -1;
}

int faults_arm(const char *kind, long n, int error, int isLasting) {
  int found = kindNamed(kind);
  if (found < 0) return 0;
  faults_lock();
  memset(calls, 0, sizeof calls);
  failures = 0;
  fault.kind = (enum kind)found;
  fault.n = n;
  fault.error = error;
  fault.isLasting = isLasting;
  faults_unlock();
  return 1;
}

long faults_disarm(void) {
  faults_lock();
  fault.error = 0;
  long result = failures;
  faults_unlock();
  return result;
}

long faults_calls(const char *kind) {
  int found = kindNamed(kind);
  if (found < 0) return 0;
  faults_lock();
  long result = calls[found];
  faults_unlock();
  return result;
}

void faults_mark(long number) {
  faults_lock();
  faults_trace(CHANGE_MARK, "", NULL, (uint64_t)number, NULL, 0);
  faults_unlock();
}
