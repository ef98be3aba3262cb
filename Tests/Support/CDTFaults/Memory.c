#define _GNU_SOURCE
#include <dlfcn.h>
#include <sqlite3.h>

#include "State.h"
#include "include/CDTFaults.h"

/// SQLite's own allocator.
static sqlite3_mem_methods allocator;

static int fails(void) {
  faults_lock();
  int fault = faults_count(KIND_MALLOC, 0);
  faults_unlock();
  return fault != 0;
}

static void *allocate(int size) { return fails() ? 0 : allocator.xMalloc(size); }

static void *resize(void *bytes, int size) { return fails() ? 0 : allocator.xRealloc(bytes, size); }

int faults_install_malloc(void) {
  // The library is also loaded into programs without SQLite.
  int (*config)(int, ...) = (int (*)(int, ...))dlsym(RTLD_DEFAULT, "sqlite3_config");
  if (!config) return SQLITE_ERROR;
  int code = config(SQLITE_CONFIG_GETMALLOC, &allocator);
  if (code != SQLITE_OK) return code;
  sqlite3_mem_methods methods = allocator;
  methods.xMalloc = allocate;
  methods.xRealloc = resize;
  return config(SQLITE_CONFIG_MALLOC, &methods);
}
