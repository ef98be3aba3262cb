#!/bin/sh
# Creates db.sync beside this script: that of schema-v2 in version 3 of the layout, which kept documents in the order of
# their sequences, and revisions in the order in which they were written.
set -eu
cd "$(dirname "$0")"
rm -f db.sync db.sync-wal db.sync-shm
cp ../schema-v2/db.sync db.sync
sqlite3 db.sync <<'SQL'
DROP INDEX losing_leaves;
ALTER TABLE revisions RENAME TO earlier_revisions;
CREATE TABLE revisions (
  document INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  revision TEXT NOT NULL,
  parent TEXT,
  sequence INTEGER NOT NULL,
  leaf INTEGER NOT NULL,
  deleted INTEGER NOT NULL,
  attachments INTEGER NOT NULL,
  body TEXT,
  PRIMARY KEY (document, generation, revision)
);
CREATE INDEX losing_leaves ON revisions (document) WHERE leaf;
INSERT INTO revisions SELECT * FROM earlier_revisions;
DROP TABLE earlier_revisions;
PRAGMA user_version = 3;
PRAGMA wal_checkpoint(TRUNCATE);
SQL
rm -f db.sync-wal db.sync-shm
