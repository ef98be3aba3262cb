#!/usr/bin/env bash
# Compares the public declarations of the libraries with scripts/public-api.txt. A change of the API is a change of that file in the
# same commit: ACCEPT=1 writes it.
set -euo pipefail
cd "$(dirname "$0")/.."
list=scripts/public-api.txt
modules=$(sed -n 's/.*\.library(name: "\([^"]*\)".*/\1/p' Package.swift)
# shellcheck disable=SC2086
SWIFT=${SWIFT:-swift} scripts/symbol-graphs.sh $modules
found=.build-docs/public-api.txt
for module in $modules; do
  # A graph for the module, and one for each module that it extends.
  for graph in .build-docs/symbols/"$module"/*.json; do
    jq -r --arg library "$module" '
      .symbols[] | select(.kind.identifier != "swift.extension")
      | "\($library) \(.pathComponents | join(".")): \([.declarationFragments[].spelling] | join("") | gsub("\\s+"; " "))"
    ' "$graph"
  done
done | LC_ALL=C sort -u > "$found"
if [ -n "${ACCEPT:-}" ]; then
  cp "$found" "$list"
elif ! diff -U0 --label "$list" --label "the libraries" "$list" "$found"; then
  echo "the public API has changed; if that is intended, run: make api-check ACCEPT=1" >&2
  exit 1
fi
echo "$(wc -l < "$found") public declarations"
