// What differs between the C libraries of Linux (glibc, musl) and of Apple's systems, with types of fixed width.
//
// A function that can fail returns 0, or the value of errno.
#ifndef CDTCPLATFORM_H
#define CDTCPLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { cdt_kind_file = 0, cdt_kind_directory = 1, cdt_kind_link = 2, cdt_kind_other = 3 };

struct cdt_status {
  uint64_t device;
  uint64_t inode;
  int64_t size;
  uint64_t links;
  /// The bits of permissions only.
  uint32_t permissions;
  uint32_t owner;
  int32_t kind;
  /// Nanoseconds since 1970 of the last change of the content, and of the status.
  int64_t modified;
  int64_t changed;
};

int32_t cdt_status_of_path(const char *path, bool follows_links, struct cdt_status *status);
int32_t cdt_status_of_file(int32_t file, struct cdt_status *status);

/// The bytes that this user can still write to the file system of a path.
int32_t cdt_free_bytes(const char *path, uint64_t *bytes);

/// Opens a file that closes in new programs. The file, or a negative value of errno.
int32_t cdt_open(const char *path, int32_t flags, uint32_t permissions);

/// A descriptor that names a file without opening it, so that closing it releases no locks; a negative value of errno, ENOTSUP
/// where there is none.
int32_t cdt_name_file(const char *path);

/// Closes a descriptor; nothing if it is negative.
void cdt_close(int32_t file);

/// Creates an empty file that only the user can access, without opening one that exists: EEXIST.
int32_t cdt_make_file(const char *path);

/// Exchanges two files or directories in one step. EINVAL, ENOSYS or ENOTSUP if the file system can't.
int32_t cdt_exchange(const char *path, const char *other);

/// Writes the content of a file, or the entries of a directory, to the disk itself.
int32_t cdt_synchronize(int32_t file);

/// The arguments of the process and their number; NULL where the C library does not give them to others than main().
char **cdt_arguments(int32_t *count);

/// Starts a thread that blocks all signals, and that nobody waits for.
int32_t cdt_start_thread(void *(*body)(void *), void *argument);

/// A number that is unique among running threads; never 0.
uint64_t cdt_thread_number(void);

/// The processor time of the current thread in nanoseconds.
int64_t cdt_thread_processor_time(void);

/// The time of CLOCK_MONOTONIC in nanoseconds.
int64_t cdt_monotonic_nanoseconds(void);

/// A monotonic time in nanoseconds that is a few milliseconds late, and read within 5 ns.
int64_t cdt_coarse_time(void);

/// The processors in use, at least one.
int32_t cdt_processors(void);

/// How many files the process can have open, and the most that it can ask for; both 0 if that is not known.
void cdt_descriptor_limits(uint64_t *now, uint64_t *most);
int32_t cdt_set_descriptor_limit(uint64_t limit);

/// Writes beyond the limit of a file's size, or to a pipe without a reader, fail instead of ending the process.
void cdt_ignore_signals_of_writes(void);

/// The bytes that were written to a socket and that the other end has not received; -1 if that is not known.
int64_t cdt_unsent_bytes(int32_t socket);

/// Sends a message to the datagram socket at a path, or at an abstract address if the path begins with @. It waits for at most a
/// second.
int32_t cdt_send_datagram(const char *path, const char *message);

/// The number of columns of a terminal; 0 if the file is not a terminal or the number is unknown.
int32_t cdt_terminal_columns(int32_t file);

/// Starts a program of the PATH with one argument, in a process group of its own and without this process's files, and does not wait
/// for it.
int32_t cdt_launch(const char *program, const char *argument);

/// From how many heaps threads allocate, where the C library has more than one.
void cdt_limit_heaps(int32_t count);

/// Whether a text contains some bytes. In C because it looks into every document of a scan.
///
/// It compares the bytes at two positions first, at sixteen places of the text at once.
bool cdt_contains(
    const uint8_t *text, int64_t count, const uint8_t *bytes, int64_t length, int64_t first, int64_t second);

/// Whether a text contains bytes, in linear time with glibc.
bool cdt_finds(const uint8_t *text, int64_t count, const uint8_t *bytes, int64_t length);

/// The MD5 digests of messages, eight at a time. In C because every imported document has one, also in programs that are built without
/// optimization.
///
/// The messages follow one another, each with its padding (RFC 1321, 3.1 and 3.2), so that it ends at a multiple of 64 bytes.
void cdt_md5(const uint8_t *messages, const int64_t *ends, int64_t count, uint8_t *digests);

#endif
