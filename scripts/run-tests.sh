#!/usr/bin/env bash
# Runs the tests, which have been built, and repeats at the end what failed: the output is long, and tests run side by side.
# Arguments go to `swift test`: `scripts/run-tests.sh --filter JSON`.
set -uo pipefail
cd "$(dirname "$0")/.."
log=.build/tests.log
"${SWIFT:-swift}" test --skip-build --disable-xctest "$@" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
if [ "$status" -ne 0 ]; then
  echo
  echo "What failed:"
  grep -aE '^✘ Test .* recorded an issue|error:' "$log" | grep -av '^◇' | cut -c1-600 | head -60
fi
exit "$status"
