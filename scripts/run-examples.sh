#!/usr/bin/env bash
# Uses the programs of the examples as their users would. `scripts/build-tests.sh` has built them; the tests of the library of tools
# are among all others.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$("${SWIFT:-swift}" build --show-bin-path):$PATH
work=$(mktemp -d)
service=
trap '[ -z "$service" ] || kill "$service" 2> /dev/null || true; rm -rf "$work"' EXIT

# Compares what was printed with what was expected.
expect() {
  diff -u --label "$1: expected" --label "$1: printed" <(printf '%s\n' "$2") <(printf '%s\n' "$3") >&2 || exit 1
}

# Waits for a file to have a line, and prints what a pattern finds in it: await FILE PATTERN.
await() {
  local found=
  for _ in $(seq 200); do
    found=$(sed -n "$2" "$1")
    [ -z "$found" ] || { echo "$found" && return; }
    sleep 0.1
  done
  echo "$1 never had $2" >&2
  cat "$1" >&2
  exit 1
}

# Borrow: the devices of two neighbours, and a server whose admin has made the library's database.
cd "$work"
for name in root ann ben; do echo "secret-$name" > "$name.password"; done
cdtquery user add users.json root --role _admin --password-file root.password 2> /dev/null
for name in ann ben; do cdtquery user add users.json "$name" --password-file "$name.password" 2> /dev/null; done
: | cdtquery import server/library - 2> /dev/null
borrow rules > rules.json
cdtquery rules set server/library @rules.json
cdtquery serve server --bind 127.0.0.1:0 --users users.json > server.log 2>&1 &
service=$!
url=http://127.0.0.1:$(await server.log 's/.*127\.0\.0\.1:\([0-9][0-9]*\).*/\1/p' | head -1)/library
curl -sS -u root:secret-root -X PUT "$url/_security" -d '{"members": {"names": ["ann", "ben"]}}' > /dev/null

ann() { borrow "$@" --directory phone --user ann 2>&1 || true; }
ben() { borrow "$@" --directory laptop --user ben 2>&1 || true; }
sync() { "$1" sync "$url" --password-file "$1.password"; }

sync ann
ann join Ann
ann offer drill --notes 'for walls, with the bits'
ann offer ladder
sync ann
sync ben
ben join Ben
expect 'borrow search' 'drill: for walls, with the bits' "$(ben search 'wall bit')"
ben take drill
expect 'borrow take, twice' 'Error: the drill is lent to ben; ask when it comes back' "$(ben take drill)"
expect 'borrow take, unknown' 'Error: nobody offers a saw; sync, or choose a name of "borrow list"' "$(ben take saw)"
sync ben
# The list on the phone follows what the sync brings.
borrow list --watch --directory phone --user ann > list 2>&1 &
watching=$!
await list '/--/p' > /dev/null
ann offer rake
await list '/rake/p' > /dev/null
kill "$watching"
wait "$watching" 2> /dev/null || true
sync ann
expect 'borrow list' 'drill, with Ben
ladder, free
rake, free' "$(ann list)"
# Both change the loan without the server. The sync merges it, on both devices to the same document.
ann remark drill 'needed on Sunday'
ben return drill
sync ann
sync ben
sync ann
for who in ann ben; do
  expect "borrow list of $who" 'drill, free
ladder, free
rake, free' "$("$who" list)"
done
expect 'the merged loan' '1' "$(cdtquery find server/library '{"kind": "loan"}' --fields remark,returned --no-rev |
  grep -c '"remark":"needed on Sunday","returned":"')"
expect 'conflicts' '' "$(cdtquery conflicts server/library)"
# The files of a device are encrypted, and its rules are those of the server.
expect 'encrypted files' 0 "$(grep -rc drill phone | awk -F: '{ n += $2 } END { print n + 0 }')"
kill -TERM "$service"
wait "$service" || true
service=
cd "$OLDPWD"

# The service. Port 0 is any that is free; the service's log names it.
document-service --directory "$work/documents" --port 0 > "$work/service.log" 2>&1 &
service=$!
port=
for _ in $(seq 100); do
  port=$(sed -n 's/.*listening on 127.0.0.1:\([0-9]*\).*/\1/p' "$work/service.log")
  [ -z "$port" ] || break
  sleep 0.1
done
[ -n "$port" ] || { cat "$work/service.log" >&2; exit 1; }

# Prints the answer to a request and, on a line of its own, its status: ask METHOD PATH [BODY].
ask() { curl -sS -m 10 -w '\n%{http_code}\n' -X "$1" "http://127.0.0.1:$port/$2" ${3:+--data-binary "$3"}; }

milk='{"_id":"buy milk","title":"Buy milk","done":false}'
created=$(ask POST documents "$milk")
rev=$(sed -n 's/.*"rev":"\([^"]*\)".*/\1/p' <<< "$created")
expect 'POST' "{\"id\":\"buy milk\",\"rev\":\"$rev\"}
201" "$created"
expect 'POST, twice' 409 "$(ask POST documents "$milk" | tail -1)"
expect 'POST, no JSON' 400 "$(ask POST documents '{"title":' | tail -1)"
expect 'GET' "{\"_id\":\"buy milk\",\"_rev\":\"$rev\",\"title\":\"Buy milk\",\"done\":false}
200" "$(ask GET documents/buy%20milk)"
expect 'GET, unknown' 404 "$(ask GET documents/bread | tail -1)"
updated=$(ask PUT documents/buy%20milk "{\"_rev\":\"$rev\",\"title\":\"Buy milk\",\"done\":true}")
expect 'PUT' 200 "$(tail -1 <<< "$updated")"
expect 'PUT, an old revision' 409 "$(ask PUT documents/buy%20milk "{\"_rev\":\"$rev\"}" | tail -1)"
rev=$(sed -n 's/.*"rev":"\([^"]*\)".*/\1/p' <<< "$updated")
expect 'POST query' "{\"documents\":[{\"_id\":\"buy milk\",\"_rev\":\"$rev\",\"title\":\"Buy milk\"}]}
200" "$(ask POST query '{"selector": {"done": true}, "sort": ["title"], "fields": ["title"]}')"
expect 'POST query, misspelled' '{"error":"done.$eqq: unknown operator \"$eqq\" (did you mean \"$eq\"?)"}
400' "$(ask POST query '{"selector": {"done": {"$eqq": true}}}')"
expect 'DELETE' 200 "$(ask DELETE "documents/buy%20milk?rev=$rev" | tail -1)"
expect 'GET, deleted' 404 "$(ask GET documents/buy%20milk | tail -1)"

kill -TERM "$service"
wait "$service" || { echo "the service did not end well" >&2; cat "$work/service.log" >&2; exit 1; }
service=
# What a Mac is to try, as far as it can be tried here.
CDTQUERY=$(command -v cdtquery) REPORT=$work/report scripts/on-a-mac.sh golden watch > "$work/steps"
expect 'steps for a Mac' '2 passed' "$(grep -c ": passed" "$work/steps") passed"
echo "the examples do what they should"
