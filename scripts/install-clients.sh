#!/usr/bin/env bash
# Installs the clients of CouchDB that the tests use in a virtual environment, .build/clients, Prometheus, and Chromium if POUCHDB,
# a bundle of PouchDB, is given.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install-packages.sh python3 python3-venv prometheus
if [ -n "${POUCHDB:-}" ]; then scripts/install-packages.sh chromium chromium-driver; fi
python3 -m venv .build/clients
.build/clients/bin/pip install --quiet --disable-pip-version-check --requirement Tests/Clients/requirements.txt
