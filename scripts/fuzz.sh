#!/usr/bin/env bash
# Builds the fuzz targets with libFuzzer and the address sanitizer, and runs each on inputs that libFuzzer derives from its corpus
# and from what the code does with them. SECONDS_IN_ALL is divided among the targets; if it is 0, each runs only its corpus.
# `scripts/fuzz.sh json csv` runs only these targets. An input that fails is left in .build-fuzz/failures.
set -euo pipefail
cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}
seconds=${SECONDS_IN_ALL:-120}
root=$PWD

# libFuzzer has a `main` of its own, which must yield, and gold can't link what the sanitizers need.
"$swift" build --package-path FuzzTargets --scratch-path .build-fuzz -c release \
  -Xswiftc -sanitize=fuzzer,address -Xswiftc -use-ld=lld -Xlinker --allow-multiple-definition
program=$root/.build-fuzz/release/FuzzTargets

targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(cd FuzzTargets/Corpus && ls)
each=$((seconds / ${#targets[@]} > 0 ? seconds / ${#targets[@]} : 1))
limit=-max_total_time=$each
said="$each s"
[ "$seconds" -gt 0 ] || { limit=-runs=0 && said='its corpus'; }
# In memory if possible, as most targets make stores.
[ -w /dev/shm ] && export TMPDIR=/dev/shm
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p .build-fuzz/failures
# Swift's own report of a crash would wait for a terminal, and leaks are looked for by `make sanitize`.
export SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0:symbolize=0
status=0
for target in "${targets[@]}"; do
  echo "$target: $said"
  log=$work/$target.log
  mkdir -p "$work/$target/found"
  FUZZ_TARGET=$target TMPDIR=$work/$target "$program" "$work/$target/found" "FuzzTargets/Corpus/$target" \
    "$limit" -timeout=20 -rss_limit_mb=2048 -dict=FuzzTargets/words.dict \
    -artifact_prefix=".build-fuzz/failures/$target-" -print_final_stats=1 > "$log" 2>&1 < /dev/null || {
    status=1
    grep -E 'Fatal error|ERROR|SUMMARY|Test unit written' "$log" || tail -20 "$log"
  }
  sed -n 's/^stat::\(number_of_executed_units\|average_exec_per_sec\)/  \1/p' "$log"
  rm -rf "${work:?}/$target"
done
exit "$status"
