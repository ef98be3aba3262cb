#!/usr/bin/env bash
# Prints the parts of `make test-more` that a change concerns: those with a file that differs from the commit BASE. Without BASE,
# that is the newest commit that is more than two days older than this one.
set -euo pipefail
cd "$(dirname "$0")/.."
last=$(git log -1 --format=%ct)
base=${BASE:-$(git log -1 --before="@$((last - 2 * 86400))" --format=%H)}
# All of it, if the history does not reach so far.
if [ -n "$base" ]; then changed=$(git diff --name-only "$base" HEAD); else changed=$(git ls-files); fi

concerns() {
  ! grep -qE "^(Package.swift|Makefile|scripts/|$2)" <<< "$changed" || printf '%s ' "$1"
}
core='Sources/CDT(C?Platform|JSON|SQLite|Datastore|Query)/'
concerns random "$core|Sources/(CouchDB|CDTReplication|CDTRemote|CDTImport|CDTRecovery)/|Tests/CDT.*/Fuzz/"
concerns reliability "$core|Sources/(CDTImport|CDTRecovery|cdtquery)/|Tests/(ReliabilityTests|Support)/"
concerns newest "Sources/CDT(SQLite|Datastore/Storage|Query/(Execution|Indexing))"
concerns clients "Sources/(CouchDB|CDTServer)/|Tests/Clients/"
concerns page "Sources/(CDTCPage|CouchDB|CDTServer)/|Sources/cdtquery/Commands/LookCommand|Sources/CDTQuery/(Describe|Planning)/|Tests/Page/"
concerns requests "Sources/(CouchDB|CDTServer)/|docs/openapi.yaml"
concerns gate "$core|Benchmarks/"
concerns examples "Sources/|Examples/|docs/getting-started.md"
echo
