#!/usr/bin/env bash
# Tries on a Mac what can't be tried elsewhere, and writes what happened to on-a-mac.txt, which is to be sent back: builds of the library
# for macOS and iOS, the test vectors of the digests, the golden files of queries, and two processes that write to one store while one
# of them watches it. It changes nothing outside of this directory and a temporary one. A step that fails does not end it.
#
#   scripts/on-a-mac.sh            all steps
#   scripts/on-a-mac.sh watch      the steps whose names are given: system library vectors golden whole watch ios
set -uo pipefail
cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}
# Leaves out what needs Linux: most tests, and the programs that they run.
export CDT_PORTABLE=1
work=$(mktemp -d)
report=${REPORT:-$PWD/on-a-mac.txt}
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
: > "$report"
say() { printf '%s\n' "$*" | tee -a "$report"; }

# Runs a step, and keeps its last lines, or all that it printed about errors.
step() {
  local name=$1 start=$SECONDS status=0
  [ -z "$wanted" ] || [[ " $wanted " = *" $name "* ]] || return 0
  "step_$name" > "$work/$name" 2>&1 || status=$?
  say "== $name: $([ "$status" = 0 ] && echo passed || echo "FAILED ($status)"), $((SECONDS - start)) s"
  { [ "$status" = 0 ] || grep -E 'error:|✘' "$work/$name" | sort -u | head -100; tail -20 "$work/$name"; } | cut -c1-500 >> "$report"
}

step_system() { uname -a; sw_vers; xcodebuild -version; "$swift" --version; }

# What an app without traits builds, and the command. Patterns are Foundation's, SQLite and zlib are the system's.
step_library() { "$swift" build --traits Command --scratch-path .build/mac; }

step_vectors() { "$swift" test --traits Command --scratch-path .build/mac; }

step_golden() { "${CDTQUERY:-.build/mac/debug/cdtquery}" test QueryFixtures; }

step_whole() { "$swift" build --scratch-path .build/mac-whole; }

# What is acknowledged while a feed watches the store must be there.
step_watch() {
  local program=${CDTQUERY:-.build/mac-whole/debug/cdtquery} url line number acknowledged=0
  mkfifo "$work/messages"
  echo '{"_id":"first"}' | "$program" import "$work/stores/db" - || return
  "$program" serve "$work/stores" --port 0 2> "$work/messages" &
  server=$!
  exec 3< "$work/messages"
  read -r line <&3
  cat <&3 > "$work/log" &
  url=${line##* at }
  curl --silent --no-buffer --max-time 60 "$url/db/_changes?feed=continuous&since=now" > "$work/feed" &
  for number in $(seq 30); do
    seq 50 | sed "s/.*/{\"_id\":\"import-$number-&\"}/" | "$program" import "$work/stores/db" - 2> "$work/imported" &
    local importer=$!
    for part in $(seq 20); do
      curl --silent --fail -X PUT "$url/db/put-$number-$part" -d '{"x":1}' > "$work/reply" && acknowledged=$((acknowledged + 1))
    done
    wait "$importer" && acknowledged=$((acknowledged + 50))
  done
  kill "$server"
  wait "$server"
  server=
  local there
  there=$("$program" count "$work/stores/db") || return
  echo "acknowledged $((acknowledged + 1)), there $there, rows of the feed $(wc -l < "$work/feed")"
  "$program" check "$work/stores/db" && [ "$there" -ge $((acknowledged + 1)) ]
}

step_ios() { xcodebuild -scheme CDTQuery -destination 'generic/platform=iOS' -derivedDataPath .build/mac-ios build; }

wanted=$*
for name in system library vectors golden whole watch ios; do step "$name"; done
say "Please send back $report."
