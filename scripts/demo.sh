#!/usr/bin/env bash
# Imports Debian's ISO codes (languages, countries, subdivisions), indexes them and asks five questions: the whole main
# job with cdtquery alone. Everything lies under .build/demo and is made anew each time.
set -euo pipefail
cd "$(dirname "$0")/.."

data=/usr/share/iso-codes/json
export PATH="$PWD/.build/small/release:$PATH"
rm -rf .build/demo
mkdir -p .build/demo
cd .build/demo

# Runs a command, prints it with the time it took, and then what it printed.
run() {
  local start=$EPOCHREALTIME output elapsed
  output=$("$@" 2>&1)
  elapsed=$(((${EPOCHREALTIME/[.,]/} - ${start/[.,]/}) / 1000))
  printf '$'
  local word
  for word in "$@"; do
    case $word in
      *[!a-zA-Z0-9_./:,=-]*) printf " '%s'" "$word" ;;
      *) printf ' %s' "$word" ;;
    esac
  done
  printf '   # %d ms\n' "$elapsed"
  [ -z "$output" ] || printf '%s\n' "$output"
}

ask() { printf '\n%s\n' "$1"; }

mkdir iso
run cdtquery import iso/languages "$data/iso_639-3.json" --at 639-3 --id alpha_3
run cdtquery import iso/countries "$data/iso_3166-1.json" --at 3166-1 --id alpha_2
run cdtquery import iso/subdivisions "$data/iso_3166-2.json" --at 3166-2 --id code
run cdtquery index create iso/languages type name

ask 'Which languages were made up?'
run cdtquery find iso/languages '{"type": "C"}' --sort name --limit 3 --fields name
ask 'How does the store know? By the index: three documents are read, and none is sorted.'
run cdtquery explain iso/languages '{"type": "C"}' --sort name --limit 3
ask 'Which sign languages do Danes and Swedes have?'
run cdtquery find iso/languages '{"name": {"$regex": "^(Danish|Swedish) Sign"}}' --fields name
ask 'The tenth page of countries, three a page, by name?'
run cdtquery find iso/countries '{}' --sort name --skip 27 --limit 3 --fields name,numeric --format table
ask 'Which cantons of Switzerland have an umlaut in their name?'
run cdtquery find iso/subdivisions '{"code": {"$beginsWith": "CH-"}, "name": {"$regex": "[äöü]"}}' --fields name
ask 'How many countries have no official name beside their common one?'
run cdtquery count iso/countries '{"official_name": {"$exists": false}}'
