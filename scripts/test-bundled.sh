#!/usr/bin/env bash
# Runs the tests of the core with the libraries of scripts/build-bundled.sh in place of the system's. Only the linking differs from
# the other builds of the tests: without the headers, nothing is compiled again.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/build-bundled.sh
mkdir -p .build-bundled/link
for file in .build-bundled/pkgconfig/*.pc; do sed '/^Cflags:/d' "$file" > ".build-bundled/link/${file##*/}"; done
# A test compares this with the version that the process has.
EXPECTED_SQLITE=$(cat .build-bundled/sources/sqlite3_*/VERSION)
export EXPECTED_SQLITE
# Tests look for functions of SQLite in the program, as they find them in the library.
PKG_CONFIG_PATH=$PWD/.build-bundled/link scripts/build-tests.sh -Xlinker --export-dynamic
echo "testing with SQLite $EXPECTED_SQLITE"
exec scripts/run-tests.sh newest
