#!/usr/bin/env bash
# Runs the tests under the address sanitizer: it finds memory that is used after it was freed, read beyond its end, or
# never freed. There is none for undefined behaviour in Swift on Linux, where overflow and a wrong index end the program
# anyway. `scripts/sanitize.sh SUITE` runs the tests whose names match only.
#
# The build has a directory of its own, as everything in it, dependencies included, is compiled in another way.
set -euo pipefail
cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}
options=(--sanitize=address --scratch-path .build-asan)

# Leaks are looked for by tracing one's own process, which some containers forbid. A program without any tells.
leaks=1
probe=$(mktemp -d)
trap 'rm -rf "$probe"' EXIT
echo 'print("ran")' > "$probe/main.swift"
"${swift}c" -sanitize=address "$probe/main.swift" -o "$probe/main"
"$probe/main" > "$probe/output" 2>&1 || {
  leaks=0
  echo "leaks are not looked for, as the sanitizer can't trace this process: $(tail -1 "$probe/output")" >&2
}

nice "$swift" build --build-tests "${options[@]}"
# Programs that tests start have reports of their own: an exit code that is none of theirs, and files that are shown.
export ASAN_OPTIONS=detect_leaks=$leaks:exitcode=99:log_path=$probe/report
export LSAN_OPTIONS=suppressions=$PWD/scripts/leaks.txt:print_suppressions=0
status=0
nice "$swift" test --skip-build --disable-xctest "${options[@]}" ${1:+--filter "$1"} || status=$?
for report in "$probe"/report*; do
  [ ! -s "$report" ] || { echo "$report:" && head -60 "$report"; } >&2
done
exit "$status"
