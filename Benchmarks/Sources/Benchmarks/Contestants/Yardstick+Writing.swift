extension Yardstick {
  func load(_ documents: JSONLines, file: String) throws {
    let insert = try statement(.insert)
    for first in stride(from: 0, to: documents.count, by: 1_000) {
      try transaction {
        for position in first..<min(first + 1_000, documents.count) {
          try documents.withLine(position) { try run(insert, id: idBytes(of: $0), document: $0) }
        }
      }
    }
  }

  func replace(_ positions: Range<Int>, of documents: JSONLines) throws {
    let replace = try statement(.replace)
    try transaction {
      for position in positions {
        try documents.withLine(position) { try run(replace, id: idBytes(of: $0), document: $0) }
      }
    }
  }

  private func transaction(_ body: () throws -> Void) throws {
    try withTurn {
      try statement(.begin).run()
      try body()
      try statement(.commit).run()
    }
  }

  private func run(
    _ statement: SQLStatement, id: UnsafeRawBufferPointer, document: UnsafeRawBufferPointer
  ) throws {
    statement.bind(inPlace: id, at: 1)
    statement.bind(inPlace: document, at: 2)
    try statement.run()
  }

  // MARK: Indexes

  func createIndexes() throws {
    try execute(
      """
      BEGIN;
      CREATE INDEX docs_name_age ON docs (json_extract(doc, '$.name'), json_extract(doc, '$.age'));
      CREATE INDEX docs_species ON docs (json_extract(doc, '$.pet.species'));
      CREATE TABLE tags (
        tag TEXT NOT NULL,
        doc INTEGER NOT NULL,
        PRIMARY KEY (tag, doc)
      ) WITHOUT ROWID;
      INSERT OR IGNORE INTO tags
        SELECT t.value, d.number FROM docs d, json_each(d.doc, '$.tags') t ORDER BY 1, 2;
      CREATE TRIGGER tags_insert AFTER INSERT ON docs BEGIN
        INSERT OR IGNORE INTO tags SELECT value, new.number FROM json_each(new.doc, '$.tags');
      END;
      CREATE TRIGGER tags_delete AFTER DELETE ON docs BEGIN
        DELETE FROM tags
         WHERE tag IN (SELECT value FROM json_each(old.doc, '$.tags')) AND doc = old.number;
      END;
      CREATE TRIGGER tags_update AFTER UPDATE OF doc ON docs
      WHEN json_extract(old.doc, '$.tags') IS NOT json_extract(new.doc, '$.tags') BEGIN
        DELETE FROM tags
         WHERE tag IN (SELECT value FROM json_each(old.doc, '$.tags')) AND doc = old.number;
        INSERT OR IGNORE INTO tags SELECT value, new.number FROM json_each(new.doc, '$.tags');
      END;
      COMMIT;
      """)
  }

  func settle() throws {
    try execute("ANALYZE")
  }

  func createAgeIndex() throws {
    try execute("CREATE INDEX docs_age ON docs (json_extract(doc, '$.age')); ANALYZE")
  }

  func deleteAgeIndex() throws {
    try execute("DROP INDEX docs_age; ANALYZE")
  }
}
