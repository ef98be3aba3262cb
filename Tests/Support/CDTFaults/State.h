// What the files of this library share. All of it is guarded by one lock, so that the trace is in the order of the calls.
#ifndef CDT_FAULTS_STATE_H
#define CDT_FAULTS_STATE_H

#include <stddef.h>
#include <stdint.h>

enum kind {
  KIND_OPEN,
  KIND_READ,
  KIND_WRITE,
  KIND_SYNC,
  KIND_LOCK,
  KIND_SHM,
  KIND_TRUNCATE,
  KIND_DELETE,
  KIND_RENAME,
  KIND_MKDIR,
  KIND_CLOSE,
  KIND_STAT,
  KIND_LIST,
  KIND_MALLOC,
  KIND_COUNT,
};

void faults_lock(void);
void faults_unlock(void);

/// Counts a call. Returns the error that it must fail with, or 0.
int faults_count(enum kind kind, const char *path);

/// Kills the process if this is the change to die at. Called before each change.
void faults_will_change(void);

// Paths.c

/// Writes the absolute path, without `.` and `..`, into a buffer of PATH_MAX bytes.
///
/// \returns Whether it is the watched directory or below it.
int faults_watches(const char *path, char *full);

/// The path of an open file in the watched directory; NULL for others, and after the file was removed.
const char *faults_path(int descriptor);

/// \param isSQLite Whether SQLite has opened it.
/// \param isName Whether the descriptor only names the file, so that closing it drops no locks.
void faults_remember(int descriptor, const char *path, int isSQLite, int isName);
void faults_forget(int descriptor);

/// Notes that a file or directory has another path. NULL if it was removed.
void faults_move(const char *path, const char *other);

// Trace.c

/// What a record of the trace says.
enum change {
  CHANGE_CREATE = 'C',
  CHANGE_WRITE = 'W',
  CHANGE_TRUNCATE = 'T',
  CHANGE_SYNC = 'S',
  CHANGE_REMOVE = 'U',
  CHANGE_RENAME = 'R',
  CHANGE_MAKE_DIRECTORY = 'M',
  CHANGE_REMOVE_DIRECTORY = 'D',
  CHANGE_MARK = 'K',
};

/// Appends a record.
///
/// \param other The new path of a rename, or NULL.
/// \param number The offset of a write, the size of a truncated file, or the number of a mark.
void faults_trace(
    enum change change, const char *path, const char *other, uint64_t number, const void *data, size_t length);

#endif
