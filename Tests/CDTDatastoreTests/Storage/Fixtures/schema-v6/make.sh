#!/bin/sh
# Creates db.sync beside this script: that of schema-v5 with checksums in its pages. CDTQUERY is a cdtquery that writes version 6.
# Compaction would delete the bodies of replaced revisions, so the store is encrypted and decrypted.
set -eu
cd "$(dirname "$0")"
: "${CDTQUERY:?the path of a cdtquery that writes version 6}"
space=$(mktemp -d)
trap 'rm -rf "$space"' EXIT
mkdir "$space/store"
cp ../schema-v5/db.sync "$space/store/db.sync"
umask 077
head -c 32 /dev/zero > "$space/key"
"$CDTQUERY" rekey "$space/store" --new-key-file "$space/key"
"$CDTQUERY" rekey "$space/store" --key-file "$space/key" --no-key
"$CDTQUERY" check "$space/store"
cp "$space/store/db.sync" db.sync
