#!/usr/bin/env bash
# Runs the tests of what needs an option of SQLite, which have been built, with an SQLite that lacks those that can be missing. It is
# built from the newest source package in Debian in .build-sqlite and stays there for later runs. Only the tools for that are installed.
# Arguments go to scripts/run-tests.sh; with FULL_SQLITE=1 the library has FTS5 and DBSTAT.
set -euo pipefail
cd "$(dirname "$0")/.."
source=$(scripts/source-package.sh sqlite3 .build-sqlite)
kind=limited fts5='' dbstat=''
if [ -n "${FULL_SQLITE:-}" ]; then
  kind=full fts5=--fts5 dbstat=-DSQLITE_ENABLE_DBSTAT_VTAB
fi
sum=$(cksum < scripts/test-with-limited-sqlite.sh | cut -d ' ' -f 1)
build=$PWD/.build-sqlite/$kind-$(basename "$source")-$sum

if [ ! -f "$build/libsqlite3.so.0" ]; then
  echo "building $(basename "$build")"
  mkdir -p "$build"
  (
    cd "$build"
    # A make that calls this script would have these write its directory into what they print.
    unset MAKEFLAGS MAKELEVEL
    # What macOS lists in PRAGMA compile_options, as far as it could matter; then what sqlite.org recommends to leave out.
    flags=(-O2 -fPIC -DSQLITE_THREADSAFE=2 -DSQLITE_ENABLE_API_ARMOR -DSQLITE_OMIT_AUTORESET -DSQLITE_DEFAULT_MEMSTATUS=0
      -DSQLITE_DEFAULT_JOURNAL_SIZE_LIMIT=32768 -DSQLITE_DEFAULT_WAL_SYNCHRONOUS=1 -DSQLITE_MAX_LENGTH=2147483645
      -DSQLITE_DQS=0 -DSQLITE_OMIT_DEPRECATED -DSQLITE_OMIT_SHARED_CACHE -DSQLITE_OMIT_DECLTYPE)
    CFLAGS="${flags[*]} $dbstat" "$source/configure" --soname=legacy --disable-tcl --disable-static --disable-readline \
      --disable-load-extension --disable-math $fts5
    make -j"$(nproc)" libsqlite3.so
  ) > "$build.log" 2>&1 || {
    tail -20 "$build.log" >&2
    echo "can't test with a limited SQLite: $(basename "$source") does not build" >&2
    exit 1
  }
  ln "$build/libsqlite3.so" "$build/libsqlite3.so.0"
fi

if [ "$kind" = limited ]; then export LIMITED_SQLITE=1; fi
EXPECTED_SQLITE=$(cat "$source/VERSION")
export EXPECTED_SQLITE LD_LIBRARY_PATH=$build${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
echo "testing with $(basename "$build")"
if [ $# -eq 0 ]; then set -- --filter '^CDTSQLiteTests\.|\.(LimitedSQLite|SQLiteError)Tests/'; fi
exec scripts/run-tests.sh "$@"
