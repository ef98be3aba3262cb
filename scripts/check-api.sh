#!/usr/bin/env bash
# Compares the public API of the libraries with that of the last release, which is the newest tag that this commit has behind
# it. A change after which a user's code would no longer build fails, unless scripts/api-breakages.txt has its line: a break
# that is meant is added there, as the tool prints it, and the file is emptied after a major release.
# BASELINE is another tag or commit to compare with.
set -euo pipefail
cd "$(dirname "$0")/.."
baseline=${BASELINE:-$(git describe --tags --abbrev=0 2> /dev/null || true)}
if [ -z "$baseline" ]; then
  echo "there is no tag, so there is no release whose API could break; a shallow clone has to fetch its tags" >&2
  exit 0
fi
echo "comparing the API with that of $baseline"
exec "${SWIFT:-swift}" package diagnose-api-breaking-changes "$baseline" \
  --breakage-allowlist-path scripts/api-breakages.txt --baseline-dir .build-api
