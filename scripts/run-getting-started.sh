#!/usr/bin/env bash
# Does what docs/getting-started.md tells, in a new directory, and compares what is printed. Its program is among the examples,
# and `scripts/build-tests.sh` has built it: `swift run` runs that one. Then this checks that an app without traits fetches no
# package.
#
# A line `FILE`: says that the next block is that file. A block of shell has commands behind `$ `, and what they print.
set -euo pipefail
cd "$(dirname "$0")/.."
page=$PWD/docs/getting-started.md
program=$PWD/Examples/Sources/People/main.swift
people=$("${SWIFT:-swift}" build --show-bin-path)/people
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ln -s "$PWD" "$work/cdtdatastore"
cd "$work"

swift() { [ "$*" = 'run -q people' ] && "$people"; }

file=
block=
command=
expected=
step() {
  [ -n "$command" ] || return 0
  echo "+ $command" >&2
  eval "$command" > "$work/printed" < /dev/null
  diff -u --label "$command: expected" --label "$command: printed" <(printf '%s' "$expected") "$work/printed" >&2
  command=
  expected=
}
while IFS= read -r line; do
  if [[ $line == '```'* ]]; then
    if [ -n "$block" ]; then
      step
      block=
      file=
    else
      block=${line#'```'}
      [ -z "$file" ] || : > "$file"
    fi
  elif [ "$block" = shell ]; then
    if [[ $line == '$ '* ]]; then
      step
      command=${line#'$ '}
    else
      expected+=$line$'\n'
    fi
  elif [ -n "$block" ]; then
    [ -z "$file" ] || printf '%s\n' "$line" >> "$file"
  elif [[ $line == '`'*'`:' ]]; then
    file=${line#'`'}
    file=${file%'`:'}
  fi
done < "$page"

diff -u "$program" Sources/people/main.swift
command "${SWIFT:-swift}" package resolve
fetched=$(grep -sc '"identity"' Package.resolved || true)
[ "${fetched:-0}" -eq 0 ] || {
  echo "an app without traits fetches $fetched packages:" >&2
  grep '"identity"' Package.resolved >&2
  exit 1
}
echo "docs/getting-started.md does what it says; no package was fetched"
