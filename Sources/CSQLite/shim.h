// What the importer cannot carry over from sqlite3.h: macros with casts, and functions with variable arguments.
#ifndef CSQLITE_SHIM_H
#define CSQLITE_SHIM_H

#include <sqlite3.h>

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

#endif
