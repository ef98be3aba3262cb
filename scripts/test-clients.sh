#!/usr/bin/env bash
# Installs clients of CouchDB in a virtual environment and runs their documented operations against the server. With POUCHDB,
# a bundle of PouchDB, a page in Chromium syncs with the server for POUCHDB_SECONDS.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install-packages.sh python3 python3-venv
if [ -n "${POUCHDB:-}" ]; then
  POUCHDB=$(realpath -e "$POUCHDB")
  export POUCHDB
  scripts/install-packages.sh chromium chromium-driver
fi
swift=${SWIFT:-swift}
"$swift" build --product cdtquery-server
CDTQUERY_SERVER=$("$swift" build --show-bin-path)/cdtquery-server
export CDTQUERY_SERVER PYTHONDONTWRITEBYTECODE=1

environment=.build/clients
python3 -m venv "$environment"
"$environment/bin/pip" install --quiet --disable-pip-version-check --requirement Tests/Clients/requirements.txt
# The clients use what later versions of Python and of their dependencies will not have.
exec "$environment/bin/python" -W ignore::DeprecationWarning -m unittest discover --verbose --start-directory Tests/Clients
