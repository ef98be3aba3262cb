#!/usr/bin/env bash
# Builds the tests and what they use, and the examples, without information for a debugger. Arguments go to `swift build`.
#
# On two cores this takes three quarters of the time of `swift build --build-tests`: without -wmo, the compiler checks the types of
# a test once for every few files of its module. See decision 17.
#
# The package manager passes the names of traits to the compiler in the order of a Swift set, which is another one in half the
# runs, and then builds every module of this package again; its hashes are therefore made the same in all runs.
set -euo pipefail
cd "$(dirname "$0")/.."
export SWIFT_DETERMINISTIC_HASHING=1 CDT_EXTRAS=1
exec "${SWIFT:-swift}" build --product CDTDatastorePackageTests -debug-info-format none -Xcc -g0 \
  -Xswiftc -disable-batch-mode -Xswiftc -wmo -Xswiftc -num-threads -Xswiftc 2 "$@"
