#!/usr/bin/env bash
# Calls a server with requests that schemathesis derives from docs/openapi.yaml, valid and invalid ones, for so many seconds. A reply
# with a status of 500 or more fails, and so does one that the page does not describe.
set -euo pipefail
cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}
seconds=${SECONDS_IN_ALL:-120}
root=$PWD

SWIFT=$swift scripts/build-tests.sh
program=$("$swift" build --show-bin-path)/cdtquery
environment=.build/fuzz-server
[ -x "$environment/bin/schemathesis" ] || {
  python3 -m venv "$environment"
  "$environment/bin/pip" install --quiet schemathesis==4.32.5
}

work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill -KILL "$server"; rm -rf "$work"' EXIT
mkfifo "$work/messages"
echo secret | "$program" user add "$work/users.json" admin --role _admin
"$program" serve "$work/stores" --bind 127.0.0.1:0 --users "$work/users.json" 2> "$work/messages" &
server=$!
# The first line is `cdtquery: serving DIRECTORY at http://127.0.0.1:PORT`.
exec 3< "$work/messages"
read -r line <&3
cat <&3 >&2 &
url=${line##* at }
curl --silent --fail --user admin:secret -X PUT "$url/contacts" > "$work/reply"

# It leaves files where it runs. A request that never ends would keep it. It must not delete the database that all
# other requests are about, nor have the server connect to hosts.
(cd "$work" && timeout $((seconds + 300)) "$root/$environment/bin/schemathesis" --config-file "$root/scripts/fuzz-server.toml" \
  run "$root/docs/openapi.yaml" --url "$url" --auth admin:secret --exclude-operation-id deleteDatabase \
  --exclude-operation-id replicate \
  --checks not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance \
  --max-time "$seconds" --warnings off --continue-on-failure ${SEED:+--seed "$SEED"})
# It is still there, and ends as it should.
curl --silent --fail "$url/_up" > "$work/reply"
kill "$server"
wait "$server"
server=
