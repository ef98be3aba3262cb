#!/bin/sh
# Creates db.sync beside this script: that of schema-v4 in version 5 of the layout, whose index of losing leaves has their
# order. Its pages have no checksums.
set -eu
cd "$(dirname "$0")"
rm -f db.sync db.sync-wal db.sync-shm
cp ../schema-v4/db.sync db.sync
sqlite3 db.sync <<'SQL'
DROP INDEX losing_leaves;
CREATE INDEX losing_leaves ON revisions (document, deleted, generation DESC, revision DESC) WHERE leaf;
PRAGMA user_version = 5;
PRAGMA wal_checkpoint(TRUNCATE);
SQL
rm -f db.sync-wal db.sync-shm
