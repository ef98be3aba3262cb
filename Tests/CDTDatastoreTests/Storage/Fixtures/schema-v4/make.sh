#!/bin/sh
# Creates db.sync beside this script: that of schema-v3 in version 4 of the layout, which kept documents where they were
# first written. Its index of losing leaves had their documents only.
set -eu
cd "$(dirname "$0")"
rm -f db.sync db.sync-wal db.sync-shm
cp ../schema-v3/db.sync db.sync
sqlite3 db.sync <<'SQL'
DROP INDEX tombstones;
DROP INDEX conflicts;
ALTER TABLE documents RENAME TO earlier_documents;
CREATE TABLE documents (
  number INTEGER PRIMARY KEY,
  sequence INTEGER NOT NULL UNIQUE,
  id TEXT NOT NULL UNIQUE,
  revision TEXT NOT NULL,
  parent TEXT,
  written INTEGER,
  leaves INTEGER NOT NULL,
  deleted INTEGER NOT NULL,
  attachments INTEGER NOT NULL,
  body TEXT NOT NULL
);
CREATE INDEX tombstones ON documents (number) WHERE deleted;
CREATE INDEX conflicts ON documents (number) WHERE leaves > 1;
INSERT INTO documents
  SELECT number, sequence, id, revision, parent, written, leaves, deleted, attachments, body
    FROM earlier_documents ORDER BY number;
DROP TABLE earlier_documents;
PRAGMA user_version = 4;
PRAGMA wal_checkpoint(TRUNCATE);
SQL
rm -f db.sync-wal db.sync-shm
