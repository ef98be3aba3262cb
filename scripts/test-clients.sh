#!/usr/bin/env bash
# Runs the documented operations of clients of CouchDB against the server, and lets Prometheus read its metrics. With POUCHDB, a
# bundle of PouchDB, a page in Chromium syncs with the server for POUCHDB_SECONDS.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -n "${POUCHDB:-}" ]; then
  POUCHDB=$(realpath -e "$POUCHDB")
  export POUCHDB
fi
scripts/install-clients.sh
swift=${SWIFT:-swift}
SWIFT=$swift scripts/build-tests.sh
CDTQUERY=$("$swift" build --show-bin-path)/cdtquery
export CDTQUERY PYTHONDONTWRITEBYTECODE=1
# The clients use what later versions of Python and of their dependencies will not have.
exec .build/clients/bin/python -W ignore::DeprecationWarning -m unittest discover --verbose --start-directory Tests/Clients
