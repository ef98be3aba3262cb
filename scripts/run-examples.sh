#!/usr/bin/env bash
# Uses the command-line tool and the service of the examples as their users would. `scripts/build-tests.sh` has built them; the
# tests of the to-do app's model are among all others.
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

# Bookmarks
keep() { bookmarks "$@" --directory "$work/bookmarks" 2>&1 || true; }
keep add https://www.swift.org --title Swift --tag language --tag tools
keep add https://sqlite.org --title SQLite --tag database
keep visit https://sqlite.org > /dev/null
tab=$'\t'
expect 'bookmarks list' "SQLite${tab}https://sqlite.org${tab}1
Swift${tab}https://www.swift.org${tab}0" "$(keep list)"
expect 'bookmarks list --tag' "Swift${tab}https://www.swift.org${tab}0" "$(keep list --tag tools)"
expect 'bookmarks list --matching' "SQLite${tab}https://sqlite.org${tab}1" "$(keep list --matching ^sql)"
expect 'bookmarks add, twice' 'Error: https://sqlite.org is a bookmark already' \
  "$(keep add https://sqlite.org --title SQLite)"
expect 'bookmarks visit, unknown' 'Error: there is no document "https://www.w3.org"; check the id, or create it' \
  "$(keep visit https://www.w3.org)"
keep remove https://sqlite.org
expect 'bookmarks remove' "Swift${tab}https://www.swift.org${tab}0" "$(keep list)"

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
