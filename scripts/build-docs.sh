#!/usr/bin/env bash
# Builds the documentation of the libraries and puts it into .build-docs/site, ready for any web server. A broken link, or any
# other warning, fails. BASE_PATH is the path below which the site will be served, such as /cdtdatastore.
#
# Guides are in docs/ alone. A catalog has them as symbolic links, whose names are the articles' names. As DocC does not know
# links between Markdown files, this works on copies of the catalogs in which they lead to the articles.
set -euo pipefail
cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}
base=${BASE_PATH:-}
modules=(CDTJSON CDTDatastore CDTQuery CDTImport CDTRecovery CDTQueryTesting CDTReplication CDTRemote CDTServer CloudantSync)
out=.build-docs

SWIFT=$swift scripts/symbol-graphs.sh "${modules[@]}"
tools=$("${swift}c" -print-target-info | sed -n 's|.*"runtimeResourcePath": "\(.*\)/lib/swift".*|\1|p')/bin
find "$out" -mindepth 1 -maxdepth 1 ! -name symbols -exec rm -rf {} +

# A line for each guide: its file, its module, its article.
for link in Sources/*/*/Documentation.docc/*.md; do
  [ -L "$link" ] || continue
  module=$(basename "${link%/Documentation.docc/*}")
  echo "$(basename "$(readlink "$link")") $module $(basename "$link" .md)"
done > "$out/articles"

for module in "${modules[@]}"; do
  catalog=$out/$module.docc
  mkdir -p "$catalog"
  for file in Sources/*/"$module"/Documentation.docc/*; do [ ! -e "$file" ] || cp -L "$file" "$catalog"; done
  while read -r guide owner article; do
    [ "$owner" = "$module" ] || continue
    scripts/link-articles.pl "$out/articles" "$module" "$guide" "$base" > "$catalog/$article.md"
  done < "$out/articles"
  "$tools/docc" convert "$catalog" --additional-symbol-graph-dir "$out/symbols/$module" \
    --fallback-display-name "$module" --fallback-bundle-identifier "$module" --fallback-default-module-kind Library \
    --default-code-listing-language swift --hosting-base-path "$base" --warnings-as-errors \
    --output-dir "$out/$module.doccarchive"
done
archives=("${modules[@]/#/$out/}")
"$tools/docc" merge "${archives[@]/%/.doccarchive}" --synthesized-landing-page-name "CDTDatastore for Swift" \
  --synthesized-landing-page-kind Package --output-path "$out/site"
echo "the documentation is in $out/site"
