#!/usr/bin/env bash
# Makes the fixture beside it: a datastore as CDTDatastore 2.x leaves it in an app's directory, with the schema of
# user_version 200. It needs the sqlite3 shell, gzip and sha1sum; its output is committed.
#
#   plain       one revision, written by NSJSONSerialization: slashes escaped
#   edited      three generations; the body of the first was compacted away
#   pulled      came from a server at generation 4, its ancestors known by their ids alone
#   conflicted  two live leaves of generation 2 and a deleted one
#   gone        a tombstone without a body
#   revived     deleted, and created again
#   pictures    attachments: under a name of the database's, under the key in upper case, packed by gzip, and one shared
#               by two revisions
#   empty       an empty body, kept as no text at all
set -euo pipefail
cd "$(dirname "$0")"
rm -rf tasks.touchdb* 'tasks attachments' tasks_extensions
mkdir -p 'tasks attachments' tasks_extensions/com.cloudant.sync.query

sha1() { sha1sum "$1" | cut -d' ' -f1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf 'a cat, in bytes \001\002' > "$work/cat"
printf 'a dog' > "$work/dog"
printf '%.0sa long text that packs well\n' {1..200} > "$work/text"
gzip -9n < "$work/text" > "$work/text.gz"
cat=$(sha1 "$work/cat") dog=$(sha1 "$work/dog") text=$(sha1 "$work/text.gz")
# CDTDatastore 2.x names files at random and keeps the names; what an older version left is named by its key.
cp "$work/cat" 'tasks attachments/0123456789ABCDEF0123456789ABCDEF01234567.blob'
cp "$work/dog" "tasks attachments/${dog^^}.blob"
cp "$work/text.gz" "tasks attachments/${text^^}.blob"

sqlite3 tasks.touchdb <<SQL
PRAGMA page_size = 1024;
CREATE TABLE docs (doc_id INTEGER PRIMARY KEY, docid TEXT UNIQUE NOT NULL);
CREATE INDEX docs_docid ON docs(docid);
CREATE TABLE revs (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  doc_id INTEGER NOT NULL REFERENCES docs(doc_id) ON DELETE CASCADE,
  revid TEXT NOT NULL,
  parent INTEGER REFERENCES revs(sequence) ON DELETE SET NULL,
  current BOOLEAN,
  deleted BOOLEAN DEFAULT 0,
  json BLOB,
  UNIQUE (doc_id, revid));
CREATE INDEX revs_current ON revs(doc_id, current);
CREATE INDEX revs_parent ON revs(parent);
CREATE TABLE localdocs (docid TEXT UNIQUE NOT NULL, revid TEXT NOT NULL, json BLOB);
CREATE INDEX localdocs_by_docid ON localdocs(docid);
CREATE TABLE attachments (
  sequence INTEGER NOT NULL REFERENCES revs(sequence) ON DELETE CASCADE,
  filename TEXT NOT NULL,
  key BLOB NOT NULL,
  type TEXT,
  length INTEGER NOT NULL,
  revpos INTEGER DEFAULT 0,
  encoding INTEGER DEFAULT 0,
  encoded_length INTEGER);
CREATE INDEX attachments_by_sequence ON attachments(sequence, filename);
CREATE TABLE attachments_key_filename (key TEXT NOT NULL, filename TEXT NOT NULL, UNIQUE (key), UNIQUE (filename));
CREATE TABLE replicators (remote TEXT NOT NULL, push BOOLEAN, last_sequence TEXT, UNIQUE (remote, push));
CREATE TABLE info (key TEXT PRIMARY KEY, value TEXT);
INSERT INTO info VALUES ('privateUUID', '2C0B0A26-1111-4222-8333-444455556666'), ('publicUUID', '7E5A3B1C-1111-4222-8333-444455556666');

INSERT INTO docs VALUES (1, 'plain'), (2, 'edited'), (3, 'pulled'), (4, 'conflicted'), (5, 'gone'), (6, 'revived'),
  (7, 'pictures'), (8, 'empty'), (9, 'without revisions');
-- {"hello":"world"} has the revision that CDTDatastore and this package both give it.
INSERT INTO revs VALUES
  (1, 1, '1-00000000000000000000000000000001', NULL, 1, 0,
    CAST('{"url":"http:\/\/example.com\/a\u00e9","n":1.50,"nested":{"b":[true,null]}}' AS BLOB)),
  (2, 2, '1-1f7588ca02054efe626a6e440a431861', NULL, 0, 0, NULL),
  (3, 2, '2-be2c05cd85b8468ce92b04e001b0e923', 2, 0, 0, CAST('{"hi":"mike"}' AS BLOB)),
  (4, 2, '3-00000000000000000000000000000003', 3, 1, 0, CAST('{"hi":"zoe"}' AS BLOB)),
  (5, 3, '2-00000000000000000000000000000a02', NULL, 0, 0, NULL),
  (6, 3, '3-00000000000000000000000000000a03', 5, 0, 0, NULL),
  (7, 3, '4-00000000000000000000000000000a04', 6, 1, 0, CAST('{"from":"server"}' AS BLOB)),
  (8, 4, '1-00000000000000000000000000000b01', NULL, 0, 0, CAST('{"v":1}' AS BLOB)),
  (9, 4, '2-00000000000000000000000000000b0a', 8, 1, 0, CAST('{"v":"a"}' AS BLOB)),
  (10, 4, '2-00000000000000000000000000000b0b', 8, 1, 0, CAST('{"v":"b"}' AS BLOB)),
  (11, 4, '2-00000000000000000000000000000b0c', 8, 0, 0, CAST('{"v":"c"}' AS BLOB)),
  (12, 4, '3-00000000000000000000000000000b0d', 11, 1, 1, CAST('' AS BLOB)),
  (13, 5, '1-00000000000000000000000000000c01', NULL, 0, 0, CAST('{"v":1}' AS BLOB)),
  (14, 5, '2-00000000000000000000000000000c02', 13, 1, 1, NULL),
  (15, 6, '1-00000000000000000000000000000d01', NULL, 0, 0, CAST('{"v":1}' AS BLOB)),
  (16, 6, '2-00000000000000000000000000000d02', 15, 0, 1, CAST('{}' AS BLOB)),
  (17, 6, '3-00000000000000000000000000000d03', 16, 1, 0, CAST('{"v":3}' AS BLOB)),
  (18, 7, '1-00000000000000000000000000000e01', NULL, 0, 0, CAST('{"of":"animals"}' AS BLOB)),
  (19, 7, '2-00000000000000000000000000000e02', 18, 1, 0, CAST('{"of":"animals","more":true}' AS BLOB)),
  (20, 8, '1-00000000000000000000000000000f01', NULL, 1, 0, CAST('' AS BLOB));
INSERT INTO localdocs VALUES
  ('_local/checkpoint', '1-local', CAST('{"seq":"12-abc","_id":"_local\/checkpoint"}' AS BLOB)),
  ('settings', '3-local', CAST('{"theme":"dark"}' AS BLOB));
INSERT INTO attachments VALUES
  (18, 'cat.jpg', X'$cat', 'image/jpeg', $(stat -c %s "$work/cat"), 1, 0, NULL),
  (19, 'cat.jpg', X'$cat', 'image/jpeg', $(stat -c %s "$work/cat"), 1, 0, NULL),
  (19, 'dog/../dog.jpg', X'$dog', NULL, $(stat -c %s "$work/dog"), 2, 0, NULL),
  (19, 'text', X'$text', 'text/plain', $(stat -c %s "$work/text"), 2, 1, $(stat -c %s "$work/text.gz"));
INSERT INTO attachments_key_filename VALUES ('${cat^^}', '0123456789ABCDEF0123456789ABCDEF01234567.blob');
PRAGMA user_version = 200;
VACUUM;
SQL

sqlite3 tasks_extensions/com.cloudant.sync.query/indexes.sqlite <<'SQL'
PRAGMA page_size = 1024;
CREATE TABLE _t_cloudant_sync_query_metadata (
  index_name TEXT NOT NULL, index_type TEXT NOT NULL, field_name TEXT NOT NULL, last_sequence INTEGER NOT NULL,
  index_settings TEXT);
INSERT INTO _t_cloudant_sync_query_metadata VALUES
  ('by_v', 'json', '_id', 20, NULL), ('by_v', 'json', '_rev', 20, NULL), ('by_v', 'json', 'v', 20, NULL),
  ('words', 'text', '_id', 20, '{"tokenize":"porter"}'), ('words', 'text', '_rev', 20, '{"tokenize":"porter"}'),
  ('words', 'text', 'of', 20, '{"tokenize":"porter"}'), ('words', 'text', 'it''s', 20, '{"tokenize":"porter"}'),
  ('by_nested', 'json', '_id', 20, NULL), ('by_nested', 'json', '_rev', 20, NULL),
  ('by_nested', 'json', 'nested.b', 20, NULL), ('by_nested', 'json', 'hi', 20, NULL);
PRAGMA user_version = 2;
VACUUM;
SQL
