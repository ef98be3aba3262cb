#!/bin/sh
# Creates extensions/com.cloudant.sync.query beside this script: the indexes of db.sync as they were kept with it, in version
# 3 of their layout, whose rows named sequences.
set -eu
cd "$(dirname "$0")"
directory=extensions/com.cloudant.sync.query
rm -rf extensions
mkdir -p "$directory"
cat >"$directory/indexes.json" <<'JSON'
[
 {"name": "by_hi", "type": "json", "fields": ["hi"], "settings": {}},
 {"name": "words", "type": "text", "fields": ["text"], "settings": {"tokenize": "simple"}}
]
JSON
sqlite3 "$directory/indexes.sqlite" <<'SQL'
PRAGMA journal_mode = WAL;
CREATE TABLE state (
  store TEXT NOT NULL,
  revision INTEGER NOT NULL
);
CREATE TABLE indexes (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  type TEXT NOT NULL,
  fields TEXT NOT NULL,
  settings TEXT NOT NULL,
  watermark INTEGER NOT NULL,
  session TEXT,
  multiple INTEGER NOT NULL,
  apart INTEGER NOT NULL
);
CREATE TABLE apart (
  index_number INTEGER NOT NULL,
  id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  PRIMARY KEY (index_number, id)
) WITHOUT ROWID;
CREATE TABLE statistics (
  index_number INTEGER PRIMARY KEY,
  sequence INTEGER NOT NULL,
  documents INTEGER NOT NULL,
  rows INTEGER NOT NULL,
  distinct_values TEXT NOT NULL,
  sample TEXT NOT NULL
);
INSERT INTO state VALUES ('5f0c6a52-6a5e-4a3e-9d0c-1f2f35c0a001', 3);
INSERT INTO indexes VALUES
  (1, 'by_hi', 'json', '["hi"]', '{}', 8, '5f0c6a52-6a5e-4a3e-9d0c-1f2f35c0a002', 0, 0),
  (2, 'words', 'text', '["text"]', '{"tokenize":"simple"}', 8, '5f0c6a52-6a5e-4a3e-9d0c-1f2f35c0a002', 0, 0);
CREATE TABLE entries_1 (t0 NOT NULL, v0 NOT NULL, id NOT NULL, sequence NOT NULL, absent NOT NULL,
  PRIMARY KEY (t0, v0, id)) WITHOUT ROWID;
INSERT INTO entries_1 VALUES (1, 'mike', 'conflict', 8, 0), (1, 'mike', 'history', 2, 0);
CREATE VIRTUAL TABLE text_2 USING fts5(c0, id, sequence UNINDEXED, tokenize = 'ascii');
INSERT INTO text_2 (rowid, c0, id, sequence) VALUES (1, '', 'history', 2), (5, '', 'conflict', 8);
INSERT INTO statistics VALUES (1, 8, 3, 2, '[1]', '[["mike"]]');
PRAGMA user_version = 3;
PRAGMA wal_checkpoint(TRUNCATE);
SQL
rm -f "$directory/indexes.sqlite-wal" "$directory/indexes.sqlite-shm"
