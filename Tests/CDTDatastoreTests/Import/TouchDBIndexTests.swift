import CDTDatastore
import CDTImport
import CDTQuery
import CDTSQLite
import CloudantSync
import Foundation
import Testing

/// Indexes of CDTDatastore 2.x made again.
@Suite struct TouchDBIndexTests {
  private func imported(_ body: (TouchDBFixture) throws -> Void) throws {
    try withTouchDB { fixture in
      try fixture.store.importTouchDB(fixture.path)
      try body(fixture)
    }
  }

  private func change(_ fixture: TouchDBFixture, _ sql: String) throws {
    let connection = try Connection(path: fixture.indexes, mode: .readWriteCreate)
    defer { connection.close() }
    try connection.execute(sql)
  }

  @Test func `json indexes are made with their names and fields, and used`() throws {
    try imported { fixture in
      let report = try fixture.store.importTouchDBIndexes(fixture.path)
      #expect(report.indexes == ["by_nested", "by_v", "words"])
      let indexes = try fixture.store.listIndexes()
      #expect(indexes.map(\.name) == ["by_nested", "by_v", "words"])
      #expect(indexes.map { $0.fields.map(\.path) } == [["nested.b", "hi"], ["v"], ["of", "it's"]])
      #expect(
        try fixture.store.read { try $0.explain(Query(["v": 3])) }.description.contains(#"index "by_v""#))
      #expect(try fixture.store.find(["v": 3]).map(\.id) == ["revived"])
    }
  }

  @Test func `doing it again changes nothing, and the files are left as they are`() throws {
    try imported { fixture in
      let before = try fixture.files()
      let first = try fixture.store.importTouchDBIndexes(fixture.path)
      let indexes = try fixture.store.listIndexes()
      let second = try fixture.store.importTouchDBIndexes(fixture.path)
      #expect(second == first)
      #expect(try fixture.store.listIndexes() == indexes)
      #expect(try fixture.files() == before)
    }
  }

  @Test func `a text index is made with its tokenizer, and answers searches`() throws {
    try imported { fixture in
      try fixture.store.importTouchDBIndexes(fixture.path)
      let words = try #require(try fixture.store.listIndexes().first { $0.name == "words" })
      #expect(words.type == .text)
      #expect(words.definition.options.tokenizer == .porter)
      #expect(try fixture.store.find(["$text": ["$search": "animal"]]).map(\.id) == ["pictures"])
    }
  }

  @Test func `an index that can't be, or whose name is taken, is left out with the reason`() throws {
    try imported { fixture in
      try fixture.store.ensureIndexed(["other"], name: "by_v")
      try change(
        fixture,
        """
        INSERT INTO _t_cloudant_sync_query_metadata VALUES
          ('bad', 'json', '$x', 1, NULL), ('geo', 'geo', 'place', 1, NULL), ('none', 'json', '_id', 1, NULL);
        UPDATE _t_cloudant_sync_query_metadata SET index_settings = '{"tokenize":"icu"}' WHERE index_name = 'words'
        """)
      let report = try fixture.store.importTouchDBIndexes(fixture.path)
      #expect(report.indexes == ["by_nested"])
      #expect(report.skippedIndexes.map(\.name) == ["bad", "by_v", "geo", "none", "words"])
      #expect(report.skippedIndexes.allSatisfy { !$0.reason.isEmpty })
      #expect(
        try fixture.store.listIndexes().map { $0.fields.map(\.path) } == [["nested.b", "hi"], ["other"]])
    }
  }

  @Test func `without indexes there is nothing to do`() throws {
    try imported { fixture in
      try FileManager.default.removeItem(atPath: fixture.indexes)
      let report = try fixture.store.importTouchDBIndexes(fixture.path)
      #expect(report.indexes == [] && report.skippedIndexes == [])
    }
  }

  @Test func `a file other than an index file is refused, and the documents are there`() throws {
    try imported { fixture in
      try Data("nothing".utf8).write(to: URL(filePath: fixture.indexes))
      #expect(touchDBError { try fixture.store.importTouchDBIndexes(fixture.path) }?.code == .foreign)
      try FileManager.default.removeItem(atPath: fixture.indexes)
      try change(fixture, "CREATE TABLE other (x)")
      #expect(touchDBError { try fixture.store.importTouchDBIndexes(fixture.path) }?.code == .foreign)
      #expect(try fixture.store.read { try $0.documentCount() } == 7)
    }
  }
}
