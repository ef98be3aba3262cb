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

/// Keeps a virtual table out of triggers and views; for use within its xConnect.
static inline int csqlite_vtab_direct_only(sqlite3 *db) { return sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY); }

#endif
