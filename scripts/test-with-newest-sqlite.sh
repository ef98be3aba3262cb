#!/usr/bin/env bash
# Runs the tests, which have been built, with the newest SQLite in Debian. It is built from its source package with Debian's options
# in .build-sqlite and stays there for later runs. Only the tools for that are installed. Arguments go to scripts/run-tests.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
source=$(scripts/source-package.sh sqlite3 .build-sqlite)
package=$(basename "$source")

if [ ! -f "$source/libsqlite3.so.0" ]; then
  echo "building $package"
  (
    cd "$source"
    # A make that calls this script would have these write its directory into what they print.
    unset MAKEFLAGS MAKELEVEL
    CFLAGS=$(make -s -f debian/rules --eval 'flags: ; @echo $(CFLAGS)' flags)
    export CFLAGS
    ./configure --soname=legacy --disable-tcl --disable-static --disable-readline \
      --enable-load-extension --enable-fts4 --enable-fts5
    make -j"$(nproc)" libsqlite3.so
  ) > ".build-sqlite/$package.log" 2>&1 || {
    tail -20 ".build-sqlite/$package.log" >&2
    echo "can't test with the newest SQLite: $package does not build" >&2
    exit 1
  }
  ln "$source/libsqlite3.so" "$source/libsqlite3.so.0"
fi

# A test compares this with the version that the process has loaded.
EXPECTED_SQLITE=$(cat "$source/VERSION")
export EXPECTED_SQLITE LD_LIBRARY_PATH=$source${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
echo "testing with SQLite $EXPECTED_SQLITE"
exec scripts/run-tests.sh "$@"
