#!/usr/bin/env bash
# Runs the tests, which have been built, and repeats at the end what failed: the output is long, and tests run side by side.
#
#   scripts/run-tests.sh                   the tests of `make test`
#   scripts/run-tests.sh random            those with random input, and those of plans that compare all of them
#   scripts/run-tests.sh reliability       those that kill processes, cut the power, make calls fail and damage files
#   scripts/run-tests.sh newest            those that depend on libraries of C most, without the random ones
#   scripts/run-tests.sh --filter JSON     what `swift test` does with these arguments
#
# The tests that use the network run first, and then all others. Those that only compute would keep Swift's threads busy, one for
# each core, for longer than a request may take.
set -uo pipefail
cd "$(dirname "$0")/.."
log=.build/tests.log
network='^(CDTServer|CDTReplication)Tests\.'
random='\.(Law|PatternLaw|LawOne|LiveLaw|RemoteLaw|ReadingDoorLaw|MultipartFuzz|TextSearch|RandomText|RevisionOrder|ImporterDamage|Shrinker|PlanCost)Tests/'
random+='|\.(DocumentFieldIndex|OrderKey)Tests/'
files='\.(Damage|DamagedFile|Recovery|SealedDatabase)Tests/'
reliability='^ReliabilityTests\.|'$files
status=0
: > "$log"
# With at most four tests for each core at once, those that use the network take 48 s in place of 68 (decision 17).
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=$((4 * $(nproc)))

run() { "${SWIFT:-swift}" test --skip-build --disable-xctest "$@" 2>&1 | tee -a "$log" || status=$?; }

case ${1:-} in
  '')
    run --filter "$network" --skip "$random"
    run --skip "$network" --skip "$random" --skip "$reliability"
    ;;
  random) run --filter "$random" ;;
  reliability) run --filter "$reliability" ;;
  newest)
    shift
    run --filter '^(CDTDigest|CDTGzip|CDTSQLite|CDTDatastore|CDTQuery|Reliability)Tests\.' --skip "$random" --skip "$files" "$@"
    ;;
  *) run "$@" ;;
esac
if [ "$status" -ne 0 ]; then
  echo
  echo "What failed:"
  grep -aE '^✘ Test .* recorded an issue|error:' "$log" | grep -av '^◇' | cut -c1-600 | head -60
fi
exit "$status"
