#!/usr/bin/env bash
# Extracts the symbol graphs of the public libraries into .build-docs/symbols, a directory for each module. The documentation and
# the list of public declarations are made from them.
set -euo pipefail
cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}

SWIFT=$swift scripts/build-tests.sh
built=$("$swift" build --show-bin-path)
info=$("${swift}c" -print-target-info)
triple=$(sed -n 's/.*"triple": "\(.*\)".*/\1/p' <<< "$info" | head -1)
tools=$(sed -n 's|.*"runtimeResourcePath": "\(.*\)/lib/swift".*|\1|p' <<< "$info")/bin
# The C modules of packages that this one uses.
maps=()
while read -r map; do maps+=(-Xcc "-fmodule-map-file=$map"); done < <(
  find "$built" -maxdepth 2 -name module.modulemap
  find .build/checkouts -path '*/Sources/*/include/module.modulemap')
rm -rf .build-docs/symbols
for module in "$@"; do
  # CDTQuery shows the types of CDTIndex, CDTRules and CDTSelector as its own, as `import CDTQuery` gives them to users.
  exported=$([ "$module" != CDTQuery ] || echo CDTSelector,CDTIndex,CDTRules)
  mkdir -p ".build-docs/symbols/$module"
  "$tools/swift-symbolgraph-extract" -module-name "$module" -target "$triple" -I "$built/Modules" \
    -I Sources/Store/CDTCSQLite -I Sources/Query/CDTCPCRE2 -I Sources/Base/CDTCZlib -I Sources/Base/CDTCCrypto "${maps[@]}" \
    -output-dir ".build-docs/symbols/$module" -minimum-access-level public -emit-extension-block-symbols \
    -skip-synthesized-members -skip-inherited-docs ${exported:+"-experimental-allowed-reexported-modules=$exported"}
done
