#!/bin/sh
# Makes db.sync beside this script: a datastore's file in version 1 of its layout, which had no indexes `conflicts` and
# `losing_leaves`. It has a history, a
# tombstone, a conflict and a local document.
set -eu
cd "$(dirname "$0")"
rm -f db.sync db.sync-wal db.sync-shm
sqlite3 db.sync <<'SQL'
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA journal_mode = WAL;
BEGIN;
CREATE TABLE documents (
  sequence INTEGER PRIMARY KEY,
  number INTEGER NOT NULL,
  id TEXT NOT NULL UNIQUE,
  revision TEXT NOT NULL,
  parent TEXT,
  written INTEGER,
  leaves INTEGER NOT NULL,
  deleted INTEGER NOT NULL,
  attachments INTEGER NOT NULL,
  body TEXT NOT NULL
);
CREATE INDEX tombstones ON documents (sequence) WHERE deleted;
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
) WITHOUT ROWID;
CREATE TABLE attachments (
  document INTEGER NOT NULL,
  revision TEXT NOT NULL,
  name TEXT NOT NULL,
  key BLOB NOT NULL,
  type TEXT NOT NULL,
  length INTEGER NOT NULL,
  revpos INTEGER NOT NULL,
  PRIMARY KEY (document, revision, name)
) WITHOUT ROWID;
CREATE INDEX attachment_keys ON attachments (key);
CREATE TABLE local_documents (
  id TEXT PRIMARY KEY,
  body TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE sessions (
  start INTEGER PRIMARY KEY,
  token TEXT NOT NULL
);
CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value NOT NULL
) WITHOUT ROWID;
INSERT INTO meta VALUES ('store', '5f0c6a52-6a5e-4a3e-9d0c-1f2f35c0a001');
INSERT INTO sessions VALUES (1, '5f0c6a52-6a5e-4a3e-9d0c-1f2f35c0a002');

-- history: the winner of two generations
INSERT INTO documents VALUES (2, 1, 'history', '2-be2c05cd85b8468ce92b04e001b0e923',
  '1-1f7588ca02054efe626a6e440a431861', NULL, 1, 0, 0, '{"hi":"mike"}');
INSERT INTO revisions VALUES (1, 1, '1-1f7588ca02054efe626a6e440a431861', NULL, 1, 0, 0, 0, '{"hello":"world"}');

-- deleted: a tombstone
INSERT INTO documents VALUES (4, 3, 'deleted', '2-1903c663d301c3170ad524f008c9a517',
  '1-1f7588ca02054efe626a6e440a431861', NULL, 1, 1, 0, '{}');
INSERT INTO revisions VALUES (3, 1, '1-1f7588ca02054efe626a6e440a431861', NULL, 3, 0, 0, 0, '{"hello":"world"}');

-- conflict: two leaves that live, and a tombstone of a higher generation; the loser was the last to come
INSERT INTO documents VALUES (8, 5, 'conflict', '2-be2c05cd85b8468ce92b04e001b0e923',
  '1-1f7588ca02054efe626a6e440a431861', 6, 3, 0, 0, '{"hi":"mike"}');
INSERT INTO revisions VALUES (5, 1, '1-1f7588ca02054efe626a6e440a431861', NULL, 5, 0, 0, 0, '{"hello":"world"}');
INSERT INTO revisions VALUES (5, 2, '2-0a8bb6c04e5a1a1b6a0e3a4b4c1d2e3f',
  '1-1f7588ca02054efe626a6e440a431861', 8, 1, 0, 0, '{"hi":"joe"}');
INSERT INTO revisions VALUES (5, 3, '3-7d9d1f9a5c1a4d6e8b7a6c5d4e3f2a1b',
  '2-1903c663d301c3170ad524f008c9a517', 7, 1, 1, 0, '{}');
INSERT INTO revisions VALUES (5, 2, '2-1903c663d301c3170ad524f008c9a517',
  '1-1f7588ca02054efe626a6e440a431861', 7, 0, 0, 0, NULL);

INSERT INTO local_documents VALUES ('checkpoint', '{"last":8}');
PRAGMA application_id = 1128551524;
PRAGMA user_version = 1;
COMMIT;
PRAGMA wal_checkpoint(TRUNCATE);
SQL
rm -f db.sync-wal db.sync-shm
