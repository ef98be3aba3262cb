#!/bin/sh
# Makes db.sync beside this script: that of schema-v1 in version 2 of the layout, which kept revisions in the order of
# their documents.
set -eu
cd "$(dirname "$0")"
rm -f db.sync db.sync-wal db.sync-shm
cp ../schema-v1/db.sync db.sync
sqlite3 db.sync <<'SQL'
CREATE INDEX conflicts ON documents (sequence) WHERE leaves > 1;
CREATE INDEX losing_leaves ON revisions (document) WHERE leaf;
PRAGMA user_version = 2;
PRAGMA wal_checkpoint(TRUNCATE);
SQL
rm -f db.sync-wal db.sync-shm
