// The yardstick's own view of SQLite, so that it shares no code with what is measured.
#ifndef CSQLITE_YARDSTICK_SHIM_H
#define CSQLITE_YARDSTICK_SHIM_H

#include <sqlite3.h>

/// Binds text that SQLite copies; SQLITE_TRANSIENT is a macro with a cast, which Swift does not import.
static inline int yardstick_bind_copied_text(sqlite3_stmt *statement, int position, const char *text, int count) {
  return sqlite3_bind_text(statement, position, text, count, SQLITE_TRANSIENT);
}

/// The sum of the products of codes.
static __attribute__((noinline)) int yardstick_product(const signed char *left, const signed char *right, int count) {
  int sum = 0;
  for (int i = 0; i < count; i++) sum += (short)left[i] * (short)right[i];
  return sum;
}

/// Calls `body`. Its name is how callgrind is told what to count (GateCommand).
static __attribute__((noinline)) void counted_region(void (*body)(void *), void *context) {
  body(context);
}

#endif
