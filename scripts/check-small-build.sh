#!/usr/bin/env bash
# Checks the small build of cdtquery, which `make build` makes: it has nothing of SwiftNIO, and says how to build the program with
# what it leaves out. An app without the traits can still use CDTDatastore's names.
set -euo pipefail
cd "$(dirname "$0")/.."
program=.build/small/release/cdtquery

fail() {
  echo "$1" >&2
  exit 1
}

# A module's name is part of the name of each of its symbols.
grep -q CDTQuery "$program" || fail "$program has no symbols"
! grep -q NIOCore "$program" || fail "$program has parts of SwiftNIO"

for command in 'serve people' 'user list users.json' 'look people' 'replicate a b' 'find http://127.0.0.1:1/db' 'test --at http://127.0.0.1:1 QueryFixtures'; do
  status=0
  # shellcheck disable=SC2086
  said=$("$program" $command 2>&1 > /dev/null) || status=$?
  [ "$status" -eq 66 ] && [[ $said == *"; build it with make server" ]] || fail "cdtquery $command: $status: $said"
done
SWIFT="${SWIFT:-swift}" scripts/build-release.sh small --target CloudantSync
echo "the small build is what it should be"
