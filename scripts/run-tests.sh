#!/usr/bin/env bash
# Runs the tests, which have been built, and repeats at the end what failed: the output is long, and tests run side by side.
# Arguments go to `swift test`: `scripts/run-tests.sh --filter JSON`.
#
# Without arguments, the tests that use the network run first, and then all others. Those that only compute would keep
# Swift's threads busy, one for each core, for longer than a request may take.
set -uo pipefail
cd "$(dirname "$0")/.."
log=.build/tests.log
network='^(CDTServer|CDTReplication)Tests\.'
: > "$log"

run() { "${SWIFT:-swift}" test --skip-build --disable-xctest "$@" 2>&1 | tee -a "$log"; }

if [ $# -gt 0 ]; then
  run "$@"
  status=$?
else
  run --filter "$network"
  status=$?
  run --skip "$network" || status=$?
fi
if [ "$status" -ne 0 ]; then
  echo
  echo "What failed:"
  grep -aE '^✘ Test .* recorded an issue|error:' "$log" | grep -av '^◇' | cut -c1-600 | head -60
fi
exit "$status"
