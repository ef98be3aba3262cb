// A library for LD_PRELOAD that makes system calls and SQLite's allocations fail, kills the process at a call, and traces
// what the process changes. It sees only files below one directory, and changes nothing until it is told to.
//
// Environment:
//   CDT_FAULTS_DIRECTORY  The absolute path of the directory, without symbolic links.
//   CDT_FAULTS_TRACE      A file outside of it, to which every change of the directory is appended.
//   CDT_FAULTS_KILL       The process is killed before its n-th change.
//
// Programs find the functions below with dlsym, as they also run without the library.
#ifndef CDT_FAULTS_H
#define CDT_FAULTS_H

/// Makes the n-th call of a kind from now on fail with an error of the system.
///
/// Kinds: open, read, write, sync, lock, shm (any other call on a file whose name ends in -shm), truncate, delete,
/// rename, mkdir, close, stat, list, malloc (SQLite's, see faults_install_malloc).
///
/// \param isLasting Whether all later calls of the kind fail, too.
/// \returns Whether there is such a kind.
int faults_arm(const char *kind, long n, int error, int isLasting);

/// Lets all calls succeed again.
///
/// \returns The number of calls that failed.
long faults_disarm(void);

/// The number of calls of a kind since faults_arm.
long faults_calls(const char *kind);

/// Adds a number to the trace: what was traced before it happened before now.
void faults_mark(long number);

/// The number of files that were opened by another caller than SQLite while SQLite had them open, except for logs, and the
/// last path in a buffer of PATH_MAX bytes. Closing such a file drops SQLite's locks.
long faults_beside(char *path);

/// Puts the library between SQLite and its allocator. SQLite must not have been used yet.
///
/// \returns 0, or SQLite's error code.
int faults_install_malloc(void);

#endif
