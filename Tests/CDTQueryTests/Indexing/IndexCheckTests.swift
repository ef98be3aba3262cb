import CDTCSQLite
import CDTDatastore
import CDTJSON
import CDTPlatform
import CDTTestSupport
import Dispatch
import FoundationEssentials
import Synchronization
import Testing

@testable import CDTIndex
@testable import CDTQuery
@testable import CDTSelector

/// `checkIndexes` finds every kind of damage, and repairs it.
@Suite struct IndexCheckTests {
  struct Damage: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// What is done to the file, by SQL on it.
    let sql: String
    /// What is found, the start of it.
    let finding: String

    /// Whether opening the store finds it.
    var isFoundByOpening = false
  }

  private static func ofID(_ id: String) -> String { "instr(key, CAST('\(id)' AS BLOB))" }

  /// The index "values", of `a` and `b`, has the table `entries_1`, and "words", of `text`, has `text_2`. The key of "doc-13" has 13
  /// as `36 1A`, `10`, the id, and `02`, as `b` is missing.
  static let damages = [
    Damage(
      testDescription: "a missing row", sql: "DELETE FROM entries_1 WHERE \(ofID("doc-13"))",
      finding: #"index: document "doc-13": the index "values" lacks a row"#),
    Damage(
      testDescription: "a missing row of several",
      sql: "DELETE FROM entries_1 WHERE \(ofID("array")) AND substr(key, 1, 2) = x'3604'",
      finding: #"index: document "array": the index "values" lacks a row"#),
    Damage(
      testDescription: "an extra row of a document",
      sql: """
        INSERT INTO entries_1 SELECT CAST(x'36C6' || substr(key, 3) AS BLOB), document
          FROM entries_1 WHERE \(ofID("doc-13"))
        """,
      finding: #"index: document "doc-13": the index "values" has an extra row"#),
    Damage(
      testDescription: "a row of a document that is not there",
      sql: "INSERT INTO entries_1 VALUES (x'361A1040780002', 1000)",
      finding: #"index: document "x": the index "values" has an extra row"#),
    Damage(
      testDescription: "a row of a document that is deleted",
      sql: "INSERT INTO entries_1 VALUES (x'361A1040676F6E650002', 1)",
      finding: #"index: document "gone": the index "values" has an extra row"#),
    Damage(
      testDescription: "a key that is none", sql: "INSERT INTO entries_1 VALUES (x'3D40', 1)",
      finding: #"index: document "": the index "values" has an extra row"#),
    Damage(
      testDescription: "a wrong document",
      sql: "UPDATE entries_1 SET document = document - 1 WHERE \(ofID("doc-13"))",
      finding: #"index: document "doc-13": the index "values" lacks a row"#),
    Damage(
      testDescription: "a document that is not there",
      sql: "UPDATE entries_1 SET document = 1000 WHERE \(ofID("doc-13"))",
      finding: #"index: document "doc-13": the index "values" lacks a row"#),
    Damage(
      testDescription: "a wrong value",
      sql: "UPDATE entries_1 SET key = CAST(x'36C4' || substr(key, 3) AS BLOB) WHERE \(ofID("doc-13"))",
      finding: #"index: document "doc-13": the index "values" lacks a row"#),
    Damage(
      testDescription: "a wrong type",
      sql: "UPDATE entries_1 SET key = CAST(x'28' || substr(key, 3) AS BLOB) WHERE \(ofID("doc-13"))",
      finding: #"index: document "doc-13": the index "values" lacks a row"#),
    Damage(
      testDescription: "a wrong absence",
      sql:
        "UPDATE entries_1 SET key = CAST(substr(key, 1, length(key) - 1) || x'03' AS BLOB) WHERE \(ofID("doc-13"))",
      finding: #"index: document "doc-13": the index "values" lacks a row"#),
    Damage(
      testDescription: "a document that is no longer kept apart", sql: "DELETE FROM overflow",
      finding: #"index: document "wide": the index "values" has no separate entry for it"#),
    Damage(
      testDescription: "a document that is kept apart without need",
      sql: "INSERT INTO overflow SELECT 1, document FROM entries_1 WHERE \(ofID("doc-13"))",
      finding: #"index: the index "values" has separate entries that it should not have"#),
    Damage(
      testDescription: "several rows that are not known of",
      sql: "UPDATE state SET revision = revision + 1; UPDATE indexes SET multiple = 0",
      finding:
        #"index: document "wide": the index "values" is not marked as having several rows per document"#),
    Damage(
      testDescription: "lost words",
      sql: "DELETE FROM text_2_data WHERE id > 10",
      finding: #"index: the index "words" has lost words"#),
    Damage(
      testDescription: "a document without its words", sql: "DELETE FROM text_2 WHERE id = 'doc-13'",
      finding: #"index: document "doc-13": the index "words" lacks a row"#),
    Damage(
      testDescription: "other words", sql: "UPDATE text_2 SET c0 = 'other' WHERE id = 'doc-13'",
      finding: #"index: document "doc-13": the index "words" lacks a row"#),
    Damage(
      testDescription: "words under a wrong number",
      sql: "UPDATE text_2 SET rowid = 1000 WHERE id = 'doc-13'",
      finding: #"index: document "doc-13": the index "words" lacks a row"#),
    Damage(
      testDescription: "words of no document",
      sql: "INSERT INTO text_2(rowid, c0, id) VALUES (1000, 'word', 'x')",
      finding: #"index: document "x": the index "words" has an extra row"#),
    Damage(
      testDescription: "a changed code",
      sql: """
        UPDATE vectors_3 SET entries = CAST(substr(entries, 1, 74) || x'11' || substr(entries, 76) AS BLOB)
         WHERE key = 0
        """,
      finding: #"index: document "doc-13": the index "vectors" has a wrong row"#),
    Damage(
      testDescription: "a document without its vector",
      sql: """
        UPDATE vectors_3 SET entries = CAST(substr(entries, 1, 57) || substr(entries, 77) AS BLOB) WHERE key = 0
        """,
      finding: #"index: document "doc-13": the index "vectors" lacks a row"#),
    Damage(
      testDescription: "a vector of no document",
      sql: "INSERT INTO vectors_3 SELECT 256000, substr(entries, 1, 19) FROM vectors_3 WHERE key = 0",
      finding: #"index: the index "vectors" has an extra row"#),
    Damage(
      testDescription: "a row of vectors that is cut",
      sql: "UPDATE vectors_3 SET entries = substr(entries, 1, 30) WHERE key = 0",
      finding: "index: the index file can't be used: a row of vectors has a wrong size"),
    Damage(
      testDescription: "another version", sql: "PRAGMA user_version = 1",
      finding: "index: the index file can't be used: it has another version", isFoundByOpening: true),
    Damage(
      testDescription: "another store", sql: "UPDATE state SET store = 'x'",
      finding: "index: the index file belongs to another store", isFoundByOpening: true),
    Damage(
      testDescription: "another history",
      sql: "UPDATE state SET revision = revision + 1, session = 'x'",
      finding: "index: the index file was built from another history of the documents", isFoundByOpening: true
    ),
    Damage(
      testDescription: "an index that is missing",
      sql: "UPDATE state SET revision = revision + 1; DELETE FROM indexes WHERE name = 'values'",
      finding: #"index: the index file can't be used: the index "values" is missing"#),
    Damage(
      testDescription: "a table that is missing", sql: "DROP TABLE entries_1",
      finding: "index: the index file can't be used: no such table: main.entries_1"),
    Damage(
      testDescription: "a definition that is none",
      sql: "UPDATE state SET revision = revision + 1; UPDATE indexes SET fields = '{}' WHERE name = 'values'",
      finding: "index: the index file can't be used: a definition is invalid", isFoundByOpening: true),
  ]

  private static func fill(_ store: Datastore) throws {
    try store.ensureIndexed(["a", "b"], name: "values")
    try store.ensureIndexed(["text"], .text, name: "words")
    try store.ensureIndexed(["v"], .vector(2), name: "vectors")
    try store.createDocument(from: DocumentDraft(id: "gone", body: ["a": 1]))
    for number in 10..<40 {
      try store.createDocument(
        from: DocumentDraft(
          id: "doc-\(number)",
          body: ["a": .int(Int64(number)), "text": "word \(number)", "v": [.int(Int64(number)), 10]]))
    }
    let many = JSONValue.array((0..<100).map { .int($0) })
    try store.createDocument(from: DocumentDraft(id: "wide", body: ["a": many, "b": many]))
    try store.createDocument(from: DocumentDraft(id: "array", body: ["a": [1, 2, 2], "b": nil]))
    try store.createDocument(from: DocumentDraft(id: "empty", body: [:]))
    try store.deleteDocument(withID: "gone")
    try store.updateDocument(withID: "doc-20") { $0.body["a"] = 21 }
    try store.updateIndexes()
  }

  /// Runs SQL on a file as anyone could, without what our own connections refuse.
  private static func execute(_ sql: String, on path: String) throws {
    var file: OpaquePointer?
    defer { sqlite3_close(file) }
    try #require(sqlite3_open_v2(path, &file, SQLITE_OPEN_READWRITE, "cdt-checked") == SQLITE_OK)
    sqlite3_busy_timeout(file, 5_000)
    try #require(
      sqlite3_exec(file, sql, nil, nil, nil) == SQLITE_OK, "\(String(cString: sqlite3_errmsg(file)))")
  }

  private static func isWhole(_ store: Datastore) throws -> Bool {
    let text: JSONObject = ["$text": ["$search": "word 13"]]
    return try Set(store.find(["a": 13]).map(\.id)) == ["doc-13", "wide"]
      && store.count(["a": ["$gte": 30]]) == 11
      && store.count(["a": 2]) == 2 && store.find(text).map(\.id) == ["doc-13"]
      && store.find(["v": ["$near": ["$vector": [13, 10]]]], limit: 2).map(\.id) == ["doc-13", "doc-14"]
      && store.listIndexes().map(\.name) == ["values", "vectors", "words"]
  }

  @Test func `nothing is found in indexes that are whole, complete or behind`() throws {
    try withImpatientDatastore { store in
      #expect(try store.checkIndexes() == [])
      try Self.fill(store)
      #expect(try store.checkIndexes() == [])
      let last = try store.read { try $0.lastSequence() }
      try withIndexesHeld(store) {
        try store.createDocument(from: DocumentDraft(id: "new", body: ["a": 1, "text": "new"]))
        try store.updateDocument(withID: "doc-14") { $0.body["a"] = [5, 6] }
        try store.updateDocument(withID: "array") { $0.body["a"] = 7 }
        try store.updateDocument(withID: "wide") { $0.body["a"] = 8 }
        try store.deleteDocument(withID: "doc-15")
        #expect(try store.listIndexes().allSatisfy { $0.indexedSequence == last })
      }
      try store.updateIndexes()
      #expect(try store.listIndexes().allSatisfy { $0.indexedSequence == last + 5 })
      #expect(try store.checkIndexes() == [])
    }
  }

  @Test(arguments: damages, [true, false])
  func `damage is found and repaired`(_ damage: Damage, whileOpen: Bool) throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      var store = try manager.datastore(named: "store")
      try Self.fill(store)
      #expect(try Self.isWhole(store))
      let path = try store.indexManager().path
      if !whileOpen { try manager.closeDatastore(named: "store") }
      try Self.execute(damage.sql, on: path)
      if !whileOpen { store = try manager.datastore(named: "store") }
      if !whileOpen, damage.isFoundByOpening {
        // Opening the store has it made again.
        try store.indexManager().worker.waitUntilIdle()
        #expect(try store.checkIndexes() == [])
        #expect(try Self.isWhole(store))
        return
      }

      let found = try store.checkIndexes()
      #expect(found.first?.description.hasPrefix(damage.finding) == true, "\(found)")
      let repaired = try store.checkIndexes(repair: true)
      #expect(repaired == found)
      #expect(try store.checkIndexes() == [])
      #expect(try Self.isWhole(store))
      try manager.closeDatastore(named: "store")
    }
  }

  enum FileDamage: CaseIterable {
    case deleted, truncated, overwritten, emptied
  }

  @Test(arguments: FileDamage.allCases, [true, false])
  func `a damaged file is found and replaced`(_ damage: FileDamage, whileOpen: Bool) throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      var store = try manager.datastore(named: "store")
      try Self.fill(store)
      let path = try store.indexManager().path
      // What open connections have of the log outlasts the log's file.
      try Self.execute("PRAGMA wal_checkpoint(TRUNCATE)", on: path)
      if !whileOpen { try manager.closeDatastore(named: "store") }
      for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
      switch damage {
      case .deleted: try FileManager.default.removeItem(atPath: path)
      case .truncated:
        let data = try #require(FileManager.default.contents(atPath: path))
        try data.prefix(data.count / 2).write(to: URL(filePath: path))
      case .overwritten: try Data(repeating: 0x5A, count: 20_000).write(to: URL(filePath: path))
      case .emptied: try Data().write(to: URL(filePath: path))
      }
      if !whileOpen {
        // Opening the store has the file made again.
        store = try manager.datastore(named: "store")
        try store.indexManager().worker.waitUntilIdle()
        #expect(try store.checkIndexes() == [])
        #expect(try Self.isWhole(store))
        return
      }

      let found = try store.checkIndexes()
      #expect(found.count == 1 && found.first?.kind == .index, "\(found)")
      #expect(found.first?.message.hasPrefix("the index file ") == true, "\(found)")
      #expect(try store.checkIndexes(repair: true).count == 1)
      #expect(try store.checkIndexes() == [])
      #expect(try Self.isWhole(store))
      try manager.closeDatastore(named: "store")
    }
  }

  @Test func `a query that meets damage is answered from the documents, and the file is replaced`() throws {
    try withTemporaryDatastore { store in
      try Self.fill(store)
      let path = try store.indexManager().path
      let before = FileIdentity(path)
      try Self.execute("DELETE FROM text_2_data WHERE id > 10", on: path)
      let text: JSONObject = ["$text": ["$search": "word"]]
      #expect(try store.find(text).count == 30)
      try store.indexManager().worker.waitUntilIdle()
      #expect(FileIdentity(path) != before)
      #expect(try store.checkIndexes() == [])
      #expect(try store.find(text).count == 30)
    }
  }

  /// Runs `body` with a store of 3,000 documents. In their index, the pages of the last rows are damaged.
  private func withDamagedEnd(_ body: (Datastore) throws -> Void) throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      var store = try manager.datastore(named: "store")
      try store.write { transaction in
        for number in 0..<3_000 {
          try transaction.createDocument(from: DocumentDraft(body: ["a": .int(Int64(number))]))
        }
      }
      try store.ensureIndexed(["a"], name: "a")
      let path = try store.indexManager().path
      try manager.closeDatastore(named: "store")
      var data = try Data(contentsOf: URL(filePath: path))
      let leaves = (1..<data.count / 4_096).filter { data[$0 * 4_096] == 0x0A && data[$0 * 4_096 + 4] >= 10 }
      for leaf in leaves.suffix(leaves.count / 3) { data[leaf * 4_096 + 4_000] ^= 4 }
      try data.write(to: URL(filePath: path))
      store = try manager.datastore(named: "store")
      try body(store)
      try store.indexManager().worker.waitUntilIdle()
      #expect(try store.checkIndexes() == [])
      #expect(try store.read { try $0.count(Self.query()) } == 2_989)
    }
  }

  private static func query() throws -> Query {
    try Query(["a": ["$gt": 10]], sort: ["a"], useIndex: "a")
  }

  @Test func `damage among the rows of an index changes no answer`() throws {
    try withDamagedEnd { store throws in
      #expect(
        try store.read { try $0.find(Self.query()) }.map { $0.body["a"]?.intValue } == (11..<3_000).map { $0 }
      )
    }
    try withDamagedEnd { store throws in #expect(try store.read { try $0.count(Self.query()) } == 2_989) }
    try withDamagedEnd { store throws in
      #expect(try store.read { try $0.documentIDs(Self.query()) }.count == 2_989)
    }
  }

  /// SQLite ends a transaction that meets damage in any file.
  @Test func `a write that meets a damaged index can be repeated`() throws {
    try withDamagedEnd { store in
      func write() throws {
        try store.write { transaction in
          #expect(try transaction.count(Self.query()) == 2_989)
          try transaction.createDocument(from: DocumentDraft(id: "new", body: ["a": 1]))
        }
      }
      let error = #expect(throws: DatastoreError.self) { try write() }
      #expect(error?.message.hasSuffix("after an earlier error in it; try again") == true)
      try write()
      #expect(try store.read { try $0.documentCount() } == 3_001)
    }
  }

  @Test func `results that are read one at a time go on without the index where it is damaged`() throws {
    for order in [.ascending("a"), .descending("a")] as [SortField] {
      try withDamagedEnd { store in
        var query = try Query(["a": ["$gt": 10]], skip: 5, limit: 2_900, sort: [order], useIndex: "a")
        let (first, last) = order.direction == .ascending ? (16, 2_915) : (2_994, 95)
        let results = try store.results(for: query)
        defer { results.close() }
        #expect(try results.next()?.body["a"]?.intValue == first)
        let position = try results.firstBookmark()
        let rest = try results.documents().map { $0.body["a"]?.intValue }
        #expect(rest.count == 2_899 && rest.last == last)
        #expect(Set(rest).count == 2_899)
        #expect(try results.firstBookmark() == position)
        query.bookmark = try results.bookmark()
        (query.skip, query.limit) = (0, nil)
        #expect(try store.read { try $0.find(query) }.count == 2_989 - 2_905)
      }
    }
  }

  @Test func `a damaged index can be deleted`() throws {
    try withDamagedEnd { store in
      try store.deleteIndex(named: "a")
      #expect(try store.listIndexes().isEmpty)
      try store.ensureIndexed(["a"], name: "a")
    }
  }

  @Test func `an index that is no longer defined is not checked`() throws {
    try withImpatientDatastore { store in
      try Self.fill(store)
      try Self.execute("DELETE FROM entries_1", on: store.indexManager().path)
      #expect(try store.checkIndexes() != [])
      // As between the two steps of the deletion of an index.
      try store.indexManager().save([])
      #expect(try store.checkIndexes() == [])
    }
  }

  @Test func `damage of the index file is not reported for documents`() throws {
    try withTemporaryDatastore { store in
      try Self.fill(store)
      try #expect(Self.isWhole(store))
      try Self.execute("DELETE FROM text_2_data WHERE id > 10", on: store.indexManager().path)
      #expect(try store.checkIntegrity() == [])
    }
  }

  @Test func `a check finds nothing while others write`() throws {
    try withTemporaryDatastore { store in
      try Self.fill(store)
      let isDone = Atomic(false)
      let written = DispatchGroup()
      DispatchQueue.global().async(group: written) {
        while !isDone.load(ordering: .relaxed) {
          _ = try? store.createDocument(from: DocumentDraft(body: ["a": 1, "text": "another word"]))
        }
      }
      defer {
        isDone.store(true, ordering: .relaxed)
        written.wait()
      }
      for _ in 0..<20 { #expect(try store.checkIndexes() == []) }
    }
  }

  @Test func `of many findings the first ten are told, and how many more there are`() throws {
    try withTemporaryDatastore { store in
      try Self.fill(store)
      try Self.execute("DELETE FROM entries_1", on: store.indexManager().path)
      let found = try store.checkIndexes().map(\.description)
      #expect(found.count == 11)
      #expect(found.last == #"index: the index "values" has 22 more wrong rows"#)
    }
  }

  @Test func `progress is reported after every thousand documents and after the last`() throws {
    try withTemporaryDatastore { store in
      try Self.fill(store)
      func progress() throws -> [[Int]] {
        var reported: [[Int]] = []
        _ = try store.checkIndexes { reported.append([$0, $1]) }
        return reported
      }
      #expect(try progress() == [[33, 33]])
      try store.write { transaction in
        for number in 33..<2_500 {
          try transaction.createDocument(from: DocumentDraft(body: ["a": .int(Int64(number))]))
        }
      }
      #expect(try progress() == [[1_000, 2_500], [2_000, 2_500], [2_500, 2_500]])
    }
  }
}
