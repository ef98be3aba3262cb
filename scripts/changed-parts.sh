#!/usr/bin/env bash
# Prints the parts of `make test-more` that a change concerns: those with a file that differs from where the change left the branch
# BASE (`git merge-base`). Without BASE, that is origin/main; a clone of the change itself takes the commit that .ci/passed names.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -n "${BASE:-}" ]; then
  base=$(git merge-base "$BASE" HEAD)
else
  base=$(git merge-base origin/main HEAD 2> /dev/null || true)
  if [ -z "$base" ] || [ "$base" = "$(git rev-parse HEAD)" ]; then
    base=$(git merge-base "$(cat .ci/passed)" HEAD 2> /dev/null || true)
  fi
fi
# All of it, if the history does not reach so far.
if [ -n "$base" ]; then changed=$(git diff --name-only "$base" HEAD); else changed=$(git ls-files); fi

# Besides its own scripts, each needs these.
shared='Package.swift|Makefile|scripts/(build-tests|build-release|install-packages|run-tests)\.sh'
concerns() {
  ! grep -qE "^($shared|$2)" <<< "$changed" || printf '%s ' "$1"
}
core='Sources/(Base|Store|Query)/'
concerns random "$core|Sources/(Care|Sync/(CDTReplication|CDTRemote))/|Tests/CDT.*/Fuzz/"
concerns reliability "$core|Sources/(Care|Command)/|Tests/(ReliabilityTests|Support)/"
concerns newest 'scripts/test-with-|Sources/(Store/CDT(SQLite|Datastore/Storage)|Query/CDT(Index/|Query/Execution))'
concerns inputs 'scripts/fuzz\.sh|Sources/Base/CDTJSON/|FuzzTargets/'
concerns clients 'scripts/(install|test)-clients|Sources/(Store/CouchDB|Sync/CDT(CPage|Server)|Command/cdtquery/Assistants)/|Tests/Clients/'
concerns page 'scripts/test-page|Sources/(Store/CouchDB|Sync/CDT(CPage|Server)|Query/CDTQuery/(Describe|Explain|Planning))/|Sources/Command/.*/LookCommand|Tests/Page/'
concerns requests 'scripts/fuzz-server|Sources/(Store/CouchDB|Sync/CDTServer)/|docs/openapi.yaml'
concerns gate "$core|Benchmarks/"
concerns examples 'scripts/run-(examples|getting-started)|Sources/|Examples/|docs/getting-started.md'

# These two take the time of a whole build, so only a change of what is bundled and of the packages runs them.
only() {
  ! grep -qE "^($2)" <<< "$changed" || printf '%s ' "$1"
}
bundled='scripts/(source-package|build-bundled|test-bundled).sh|Sources/.*/CDTC(SQLite|PCRE2|Zlib|Crypto)/'
only release "$bundled|scripts/(build-release.sh|build-deb.sh|test-release.sh|man-page.sh|deb/|cdtquery.service)"
only bundled "$bundled"
echo
