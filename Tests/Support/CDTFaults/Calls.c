// The functions of the C library that SQLite, Foundation and Swift call on files, in place of those of the C library.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "State.h"

/// Counts a call by path and makes it, in `result`, unless it fails. `full` is the path if the file is watched.
#define CALL(kind, file, call)                        \
  long result;                                        \
  faults_lock();                                      \
  int fault = (file) ? faults_count(kind, file) : 0;  \
  if (fault) {                                        \
    errno = fault;                                    \
    result = -1;                                      \
  } else {                                            \
    result = (call);                                  \
  }

#define RETURN(type)      \
  {                       \
    int error = errno;    \
    faults_unlock();      \
    errno = error;        \
    return (type)result;  \
  }

// MARK: Opening

/// Whether code at an address is SQLite's, which is a library of its own.
static int isSQLite(const void *address) {
  Dl_info info;
  return dladdr(address, &info) && info.dli_fname && strstr(info.dli_fname, "sqlite") != NULL;
}

static long openAndTrace(const char *full, int flags, mode_t mode, const void *caller) {
  int isNew = (flags & O_CREAT) && syscall(SYS_faccessat, AT_FDCWD, full, F_OK) != 0;
  int isCut = !isNew && (flags & O_TRUNC) && (flags & O_ACCMODE) != O_RDONLY;
  if (isNew || isCut) faults_will_change();
  long descriptor = syscall(SYS_openat, AT_FDCWD, full, flags, mode);
  if (descriptor < 0) return descriptor;
  // O_PATH names a file without opening it.
  faults_remember((int)descriptor, full, isSQLite(caller), flags & O_PATH);
  if (isNew) faults_trace(CHANGE_CREATE, full, NULL, 0, NULL, 0);
  if (isCut) faults_trace(CHANGE_TRUNCATE, full, NULL, 0, NULL, 0);
  return descriptor;
}

static int openPath(const char *path, int flags, mode_t mode, const void *caller) {
  char full[PATH_MAX];
  if (!faults_watches(path, full)) return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
  CALL(KIND_OPEN, full, openAndTrace(full, flags, mode, caller))
  RETURN(int)
}

#define MODE(flags)                             \
  mode_t mode = 0;                              \
  if ((flags) & (O_CREAT | O_TMPFILE)) {        \
    va_list arguments;                          \
    va_start(arguments, flags);                 \
    mode = (mode_t)va_arg(arguments, unsigned); \
    va_end(arguments);                          \
  }

int open(const char *path, int flags, ...) {
  MODE(flags)
  return openPath(path, flags, mode, __builtin_return_address(0));
}

int open64(const char *path, int flags, ...) {
  MODE(flags)
  return openPath(path, flags, mode, __builtin_return_address(0));
}

int openat(int directory, const char *path, int flags, ...) {
  MODE(flags)
  if (directory == AT_FDCWD || path[0] == '/') return openPath(path, flags, mode, __builtin_return_address(0));
  return (int)syscall(SYS_openat, directory, path, flags, mode);
}

static long closeAndForget(int descriptor) {
  faults_forget(descriptor);
  return syscall(SYS_close, descriptor);
}

int close(int descriptor) {
  // The file is closed even if the call fails, as in Linux.
  faults_lock();
  const char *path = faults_path(descriptor);
  int fault = path ? faults_count(KIND_CLOSE, path) : 0;
  long result = closeAndForget(descriptor);
  if (fault) {
    errno = fault;
    result = -1;
  }
  RETURN(int)
}

DIR *opendir(const char *path) {
  static DIR *(*real)(const char *);
  if (!real) real = (DIR * (*)(const char *)) dlsym(RTLD_NEXT, "opendir");
  char full[PATH_MAX];
  if (faults_watches(path, full)) {
    faults_lock();
    int fault = faults_count(KIND_LIST, full);
    faults_unlock();
    if (fault) {
      errno = fault;
      return NULL;
    }
  }
  return real(path);
}

int closedir(DIR *stream) {
  static int (*real)(DIR *);
  if (!real) real = (int (*)(DIR *))dlsym(RTLD_NEXT, "closedir");
  // Its descriptor is closed without `close`, and may be the one of another file next.
  faults_lock();
  faults_forget(dirfd(stream));
  int result = real(stream);
  RETURN(int)
}

// MARK: Reading

ssize_t read(int descriptor, void *buffer, size_t count) {
  // Reading a pipe may block, so only watched files take the lock.
  if (!faults_path(descriptor)) return syscall(SYS_read, descriptor, buffer, count);
  CALL(KIND_READ, faults_path(descriptor), syscall(SYS_read, descriptor, buffer, count))
  RETURN(ssize_t)
}

ssize_t pread64(int descriptor, void *buffer, size_t count, off64_t offset) {
  CALL(KIND_READ, faults_path(descriptor), syscall(SYS_pread64, descriptor, buffer, count, offset))
  RETURN(ssize_t)
}

ssize_t pread(int descriptor, void *buffer, size_t count, off_t offset) {
  return pread64(descriptor, buffer, count, offset);
}

// MARK: Writing

static long writeAndTrace(int descriptor, const void *bytes, size_t count, int64_t offset) {
  const char *path = faults_path(descriptor);
  faults_will_change();
  int64_t start = offset >= 0 ? offset : syscall(SYS_lseek, descriptor, 0, SEEK_CUR);
  long result = offset >= 0 ? syscall(SYS_pwrite64, descriptor, bytes, count, offset)
                            : syscall(SYS_write, descriptor, bytes, count);
  if (result > 0) faults_trace(CHANGE_WRITE, path, NULL, (uint64_t)start, bytes, (size_t)result);
  return result;
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
  if (!faults_path(descriptor)) return syscall(SYS_write, descriptor, bytes, count);
  CALL(KIND_WRITE, faults_path(descriptor), writeAndTrace(descriptor, bytes, count, -1))
  RETURN(ssize_t)
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
  if (!faults_path(descriptor)) return syscall(SYS_pwrite64, descriptor, bytes, count, offset);
  CALL(KIND_WRITE, faults_path(descriptor), writeAndTrace(descriptor, bytes, count, offset))
  RETURN(ssize_t)
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
  return pwrite64(descriptor, bytes, count, offset);
}

static long truncateAndTrace(int descriptor, int64_t size) {
  if (faults_path(descriptor)) faults_will_change();
  long result = syscall(SYS_ftruncate, descriptor, size);
  if (result == 0 && faults_path(descriptor)) {
    faults_trace(CHANGE_TRUNCATE, faults_path(descriptor), NULL, (uint64_t)size, NULL, 0);
  }
  return result;
}

int ftruncate64(int descriptor, off64_t size) {
  CALL(KIND_TRUNCATE, faults_path(descriptor), truncateAndTrace(descriptor, size))
  RETURN(int)
}

int ftruncate(int descriptor, off_t size) { return ftruncate64(descriptor, size); }

static long syncAndTrace(int descriptor, long call) {
  long result = syscall(call, descriptor);
  if (result == 0 && faults_path(descriptor)) {
    faults_trace(CHANGE_SYNC, faults_path(descriptor), NULL, 0, NULL, 0);
  }
  return result;
}

int fsync(int descriptor) {
  CALL(KIND_SYNC, faults_path(descriptor), syncAndTrace(descriptor, SYS_fsync))
  RETURN(int)
}

int fdatasync(int descriptor) {
  CALL(KIND_SYNC, faults_path(descriptor), syncAndTrace(descriptor, SYS_fdatasync))
  RETURN(int)
}

// MARK: Sharing

static int control(int descriptor, int command, void *argument) {
  // No system fails to unlock a file that is open.
  int isLock = (command == F_SETLK || command == F_OFD_SETLK) && ((struct flock *)argument)->l_type != F_UNLCK;
  if (!isLock || !faults_path(descriptor)) return (int)syscall(SYS_fcntl, descriptor, command, argument);
  CALL(KIND_LOCK, faults_path(descriptor), syscall(SYS_fcntl, descriptor, command, argument))
  RETURN(int)
}

int fcntl(int descriptor, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void *argument = va_arg(arguments, void *);
  va_end(arguments);
  return control(descriptor, command, argument);
}

int fcntl64(int descriptor, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void *argument = va_arg(arguments, void *);
  va_end(arguments);
  return control(descriptor, command, argument);
}

int flock(int descriptor, int operation) {
  // A call that waits must not hold this library's lock.
  if (!(operation & LOCK_NB)) return (int)syscall(SYS_flock, descriptor, operation);
  CALL(KIND_LOCK, faults_path(descriptor), syscall(SYS_flock, descriptor, operation))
  RETURN(int)
}

void *mmap64(void *address, size_t length, int protection, int flags, int descriptor, off64_t offset) {
  const char *path = faults_path(descriptor);
  if (!path) return (void *)syscall(SYS_mmap, address, length, protection, flags, descriptor, offset);
  CALL(KIND_READ, path, syscall(SYS_mmap, address, length, protection, flags, descriptor, offset))
  RETURN(void *)
}

void *mmap(void *address, size_t length, int protection, int flags, int descriptor, off_t offset) {
  return mmap64(address, length, protection, flags, descriptor, offset);
}

// MARK: Names

static long removeAndTrace(const char *full, int flags, enum change change) {
  faults_will_change();
  long result = syscall(SYS_unlinkat, AT_FDCWD, full, flags);
  if (result == 0) {
    faults_move(full, NULL);
    faults_trace(change, full, NULL, 0, NULL, 0);
  }
  return result;
}

int unlink(const char *path) {
  char full[PATH_MAX];
  if (!faults_watches(path, full)) return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
  CALL(KIND_DELETE, full, removeAndTrace(full, 0, CHANGE_REMOVE))
  RETURN(int)
}

int rmdir(const char *path) {
  char full[PATH_MAX];
  if (!faults_watches(path, full)) return (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
  CALL(KIND_DELETE, full, removeAndTrace(full, AT_REMOVEDIR, CHANGE_REMOVE_DIRECTORY))
  RETURN(int)
}

static long renameAndTrace(const char *full, const char *other) {
  faults_will_change();
  long result = syscall(SYS_renameat2, AT_FDCWD, full, AT_FDCWD, other, 0);
  if (result == 0) {
    faults_move(full, other);
    faults_trace(CHANGE_RENAME, full, other, 0, NULL, 0);
  }
  return result;
}

int rename(const char *path, const char *new) {
  char full[PATH_MAX], other[PATH_MAX];
  if (!faults_watches(path, full) || !faults_watches(new, other)) {
    return (int)syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, new, 0);
  }
  CALL(KIND_RENAME, full, renameAndTrace(full, other))
  RETURN(int)
}

static long makeFileAndTrace(const char *full, mode_t mode) {
  faults_will_change();
  long result = syscall(SYS_mknodat, AT_FDCWD, full, mode, 0);
  if (result == 0) faults_trace(CHANGE_CREATE, full, NULL, 0, NULL, 0);
  return result;
}

int mknod(const char *path, mode_t mode, dev_t device) {
  char full[PATH_MAX];
  if (!faults_watches(path, full)) return (int)syscall(SYS_mknodat, AT_FDCWD, path, mode, (unsigned)device);
  CALL(KIND_OPEN, full, makeFileAndTrace(full, mode))
  RETURN(int)
}

static long makeDirectoryAndTrace(const char *full, mode_t mode) {
  faults_will_change();
  long result = syscall(SYS_mkdirat, AT_FDCWD, full, mode);
  if (result == 0) faults_trace(CHANGE_MAKE_DIRECTORY, full, NULL, 0, NULL, 0);
  return result;
}

int mkdir(const char *path, mode_t mode) {
  char full[PATH_MAX];
  if (!faults_watches(path, full)) return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
  CALL(KIND_MKDIR, full, makeDirectoryAndTrace(full, mode))
  RETURN(int)
}

// MARK: Status

static int status(const char *path, struct stat *status, int flags) {
  char full[PATH_MAX];
  if (!faults_watches(path, full)) return (int)syscall(SYS_newfstatat, AT_FDCWD, path, status, flags);
  CALL(KIND_STAT, full, syscall(SYS_newfstatat, AT_FDCWD, full, status, flags))
  RETURN(int)
}

int stat(const char *path, struct stat *result) { return status(path, result, 0); }
int stat64(const char *path, struct stat64 *result) { return status(path, (struct stat *)result, 0); }
int lstat(const char *path, struct stat *result) { return status(path, result, AT_SYMLINK_NOFOLLOW); }
int lstat64(const char *path, struct stat64 *result) {
  return status(path, (struct stat *)result, AT_SYMLINK_NOFOLLOW);
}

int fstat(int descriptor, struct stat *status) {
  CALL(KIND_STAT, faults_path(descriptor), syscall(SYS_fstat, descriptor, status))
  RETURN(int)
}

int fstat64(int descriptor, struct stat64 *status) { return fstat(descriptor, (struct stat *)status); }

int access(const char *path, int mode) {
  char full[PATH_MAX];
  if (!faults_watches(path, full)) return (int)syscall(SYS_faccessat, AT_FDCWD, path, mode);
  CALL(KIND_STAT, full, syscall(SYS_faccessat, AT_FDCWD, full, mode))
  RETURN(int)
}
