// What the importer cannot carry over from sqlite3.h: macros with casts, and functions with variable arguments.
#ifndef CSQLITE_SHIM_H
#define CSQLITE_SHIM_H

#include <sqlite3.h>
#include <stdint.h>
#include <string.h>

/// SQLITE_TRANSIENT: SQLite copies the bytes before the call returns.
static inline sqlite3_destructor_type csqlite_transient(void) { return SQLITE_TRANSIENT; }

/// SQLITE_STATIC: the bytes outlive the binding.
static inline sqlite3_destructor_type csqlite_static(void) { return SQLITE_STATIC; }

/// Sets a boolean sqlite3_db_config option, such as SQLITE_DBCONFIG_DEFENSIVE.
static inline int csqlite_db_config(sqlite3 *db, int option, int on) {
  return sqlite3_db_config(db, option, on, (int *)0);
}

/// A text without bytes that is there for good; Swift's "" is a pointer to nothing once the call has returned.
static inline const char *csqlite_empty_text(void) { return ""; }

/// Binds where FTS5 is to write the address of its functions. SQLite keeps the type's name, so it must be C's.
static inline int csqlite_bind_fts5_api(sqlite3_stmt *statement, int position, fts5_api **slot) {
  return sqlite3_bind_pointer(statement, position, slot, "fts5_api_ptr", (void (*)(void *))0);
}

/// A step of a lane of `csqlite_page_sum`. The rotation is an intrinsic function, because the compiler would make two
/// multiplications of shifts.
static inline uint64_t csqlite_lane_after(uint64_t lane, const unsigned char *word) {
  uint64_t value;
  memcpy(&value, word, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  value = __builtin_bswap64(value);
#endif
  return __builtin_rotateleft64((lane ^ value) * 0x9E3779B97F4A7C15u, 29);
}

/// The sum of a page without its last 8 bytes, and of its number. In C because every page read is summed, also by
/// programs that are built without optimization.
///
/// Each of four lanes takes every fourth word, so that the processor computes them at once. A step of a lane is
/// reversible in the word and in the lane, and so is their combination: two pages that differ in one word have
/// different sums.
static inline uint64_t csqlite_page_sum(const void *page, int size, int64_t number) {
  const uint64_t prime = 0x9E3779B97F4A7C15u;
  uint64_t lanes[4] = {1, 2, 3, (uint64_t)number * prime};
  const unsigned char *bytes = (const unsigned char *)page;
  int words = size / 8 - 1;
  int word = 0;
  for (; word + 4 <= words; word += 4) {
    for (int lane = 0; lane < 4; lane++) {
      lanes[lane] = csqlite_lane_after(lanes[lane], bytes + 8 * (word + lane));
    }
  }
  for (; word < words; word++) lanes[word & 3] = csqlite_lane_after(lanes[word & 3], bytes + 8 * word);
  uint64_t sum = (uint64_t)size;
  for (int lane = 0; lane < 4; lane++) {
    sum = __builtin_rotateleft64((sum ^ lanes[lane]) * prime, 31);
    sum ^= sum >> 29;
  }
  return sum;
}

/// Adds words of 8 bytes to the two sums of a write-ahead log. In C for the same reason as `csqlite_page_sum`.
static inline void csqlite_log_sum(
    const void *bytes, long count, _Bool is_big_endian, uint32_t *first, uint32_t *second) {
  const unsigned char *word = (const unsigned char *)bytes;
  uint32_t sums[2] = {*first, *second};
  for (long offset = 0; offset + 8 <= count; offset += 8) {
    uint32_t values[2];
    memcpy(values, word + offset, 8);
    if (is_big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)) {
      values[0] = __builtin_bswap32(values[0]);
      values[1] = __builtin_bswap32(values[1]);
    }
    sums[0] += values[0] + sums[1];
    sums[1] += values[1] + sums[0];
  }
  *first = sums[0];
  *second = sums[1];
}

/// An open database file whose pages have checksums or are encrypted. The file of the system's VFS follows it in memory.
typedef struct csqlite_checked_file {
  sqlite3_file base;
  /// A retained `CheckedFile`.
  void *file;
} csqlite_checked_file;

/// The open log of an encrypted database. The file of the system's VFS follows at the same place as in `csqlite_checked_file`.
typedef struct csqlite_sealed_log {
  sqlite3_file base;
  /// A retained `SealedLogFile`.
  void *log;
} csqlite_sealed_log;

/// The header of the index of a log. Every commit, and every restart of the log, changes it.
typedef struct csqlite_log_header {
  uint64_t words[6];
} csqlite_log_header;

/// Reads the header of the index of a log.
///
/// Returns whether there is one: its two copies differ while a commit is written.
/// Source: https://sqlite.org/walformat.html, The WAL-Index File Format.
static inline _Bool csqlite_read_log_header(const volatile void *index, csqlite_log_header *header) {
  memcpy(header, (const void *)index, 48);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  return memcmp((const char *)index + 48, header, 48) == 0;
}

static inline _Bool csqlite_is_log_header(const volatile void *index, const csqlite_log_header *known) {
  csqlite_log_header header;
  return csqlite_read_log_header(index, &header) && memcmp(&header, known, 48) == 0;
}

static inline uint32_t csqlite_log_header_word(const csqlite_log_header *header, int offset) {
  uint32_t word;
  memcpy(&word, (const char *)header + offset, 4);
  return word;
}

/// Whether the index of a log says that more frames were copied into the database than the log has. Call it with the write lock
/// of the log. If the two copies of the header differ, SQLite rebuilds the index before it uses it.
static inline _Bool csqlite_is_log_index_wrong(const volatile void *index) {
  csqlite_log_header header;
  if (!csqlite_read_log_header(index, &header)) return 0;
  uint32_t copied;
  memcpy(&copied, (const char *)index + 96, 4);
  return copied > csqlite_log_header_word(&header, 16);
}

/// The number of pages of the database after the last commit in the log, 0 without one; -1 while a commit is written.
static inline int64_t csqlite_log_index_pages(const volatile void *index) {
  csqlite_log_header header;
  return csqlite_read_log_header(index, &header) ? (int64_t)csqlite_log_header_word(&header, 20) : -1;
}

#endif
