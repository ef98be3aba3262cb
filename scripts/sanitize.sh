#!/usr/bin/env bash
# Runs the tests under the address sanitizer, which finds memory that is used after it was freed, read beyond its end, or
# never freed, and then under the thread sanitizer, which finds memory that threads use at once without a lock. There is
# none for undefined behaviour in Swift on Linux, where overflow and a wrong index end the program anyway.
# `scripts/sanitize.sh SUITE` runs only the tests whose names match; SANITIZERS=thread uses only that one.
#
# Each has a build of its own, as everything in it, dependencies included, is compiled in another way.
set -euo pipefail
cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}
filter=${1:-}
reports=$(mktemp -d)
trap 'rm -rf "$reports"' EXIT
# Programs that tests start have reports of their own: an exit code that is none of theirs, and files that are shown.
reporting=exitcode=99:log_path=$reports/report
status=0

address() {
  # Leaks are looked for by tracing one's own process, which some containers forbid. A program without any tells.
  local leaks=1
  echo 'print("ran")' > "$reports/main.swift"
  "${swift}c" -sanitize=address "$reports/main.swift" -o "$reports/main"
  "$reports/main" > "$reports/output" 2>&1 || {
    leaks=0
    echo "leaks are not looked for, as the sanitizer can't trace this process: $(tail -1 "$reports/output")" >&2
  }
  export ASAN_OPTIONS=$reporting:detect_leaks=$leaks
  export LSAN_OPTIONS=suppressions=$PWD/scripts/leaks.txt:print_suppressions=0
  local options=(--sanitize=address --scratch-path .build-asan)
  nice "$swift" build --build-tests "${options[@]}"
  nice "$swift" test --skip-build --disable-xctest "${options[@]}" ${filter:+--filter "$filter"} || status=$?
}

thread() {
  # Swift's own clang knows how Swift calls methods.
  local toolchain
  toolchain=$("${swift}c" -print-target-info | sed -n 's|.*"runtimeResourcePath": "\(.*\)/lib/swift".*|\1|p')
  mkdir -p .build-tsan
  "$toolchain/bin/clang" -O1 -fPIC -c scripts/thread-sanitizer.c -o .build-tsan/thread-sanitizer.o
  export TSAN_OPTIONS=$reporting
  local options=(--sanitize=thread --scratch-path .build-tsan -Xlinker "$PWD/.build-tsan/thread-sanitizer.o")
  nice "$swift" build --build-tests "${options[@]}"
  # A test at a time, as there are more threads within a test than cores.
  nice "$swift" test --no-parallel --skip-build --disable-xctest "${options[@]}" ${filter:+--filter "$filter"} ||
    status=$?
}

for sanitizer in ${SANITIZERS:-address thread}; do "$sanitizer"; done
for report in "$reports"/report*; do
  [ -s "$report" ] || continue
  { echo "$report:" && head -60 "$report"; } >&2
  status=1
done
exit "$status"
