import CDTDatastore
import CSQLite
import Dispatch
import FoundationEssentials
import JSON
import Synchronization
import Testing

@testable import CDTQuery

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

  /// The index "values", of `a` and `b`, has the table `entries_1`, and "words", of `text`, has `text_2`.
  static let damages = [
    Damage(
      testDescription: "a missing row", sql: "DELETE FROM entries_1 WHERE id = 'doc-13'",
      finding: #"index: document "doc-13": the index "values" lacks a row of it"#),
    Damage(
      testDescription: "a missing row of several",
      sql: "DELETE FROM entries_1 WHERE id = 'array' AND v0 = 2",
      finding: #"index: document "array": the index "values" lacks a row of it"#),
    Damage(
      testDescription: "an extra row of a document",
      sql:
        "INSERT INTO entries_1 SELECT t0, 99, t1, v1, id, document, absent FROM entries_1 WHERE id = 'doc-13'",
      finding: #"index: document "doc-13": the index "values" has a row that it does not give"#),
    Damage(
      testDescription: "a row of a document that is not there",
      sql:
        "INSERT INTO entries_1 SELECT t0, v0, t1, v1, 'x', 1000, absent FROM entries_1 WHERE id = 'doc-13'",
      finding: #"index: document "x": the index "values" has a row that it does not give"#),
    Damage(
      testDescription: "a row of a document that is deleted",
      sql:
        "INSERT INTO entries_1 SELECT t0, v0, t1, v1, 'gone', 1, absent FROM entries_1 WHERE id = 'doc-13'",
      finding: #"index: document "gone": the index "values" has a row that it does not give"#),
    Damage(
      testDescription: "a wrong document",
      sql: "UPDATE entries_1 SET document = document - 1 WHERE id = 'doc-13'",
      finding: #"index: document "doc-13": the index "values" lacks a row of it"#),
    Damage(
      testDescription: "a document that is not there",
      sql: "UPDATE entries_1 SET document = 1000 WHERE id = 'doc-13'",
      finding: #"index: document "doc-13": the index "values" lacks a row of it"#),
    Damage(
      testDescription: "a wrong value", sql: "UPDATE entries_1 SET v0 = 98 WHERE id = 'doc-13'",
      finding: #"index: document "doc-13": the index "values" lacks a row of it"#),
    Damage(
      testDescription: "a wrong type", sql: "UPDATE entries_1 SET t0 = t0 + 1 WHERE id = 'doc-13'",
      finding: #"index: document "doc-13": the index "values" lacks a row of it"#),
    Damage(
      testDescription: "a wrong absence", sql: "UPDATE entries_1 SET absent = absent + 1 WHERE id = 'doc-13'",
      finding: #"index: document "doc-13": the index "values" lacks a row of it"#),
    Damage(
      testDescription: "a document that is no longer kept apart", sql: "DELETE FROM apart",
      finding: #"index: document "wide": the index "values" does not keep it apart"#),
    Damage(
      testDescription: "a document that is kept apart without need",
      sql: "INSERT INTO apart SELECT 1, document FROM entries_1 WHERE id = 'doc-13'",
      finding: #"index: the index "values" keeps documents apart that it should not"#),
    Damage(
      testDescription: "several rows that are not known of",
      sql: "UPDATE state SET revision = revision + 1; UPDATE indexes SET multiple = 0",
      finding: #"index: document "wide": the index "values" is not marked as having several rows of it"#),
    Damage(
      testDescription: "lost words",
      sql: "DELETE FROM text_2_data WHERE id > 10",
      finding: #"index: the index "words" has lost words"#),
    Damage(
      testDescription: "a document without its words", sql: "DELETE FROM text_2 WHERE id = 'doc-13'",
      finding: #"index: document "doc-13": the index "words" lacks a row of it"#),
    Damage(
      testDescription: "other words", sql: "UPDATE text_2 SET c0 = 'other' WHERE id = 'doc-13'",
      finding: #"index: document "doc-13": the index "words" lacks a row of it"#),
    Damage(
      testDescription: "words under a wrong number",
      sql: "UPDATE text_2 SET rowid = 1000 WHERE id = 'doc-13'",
      finding: #"index: document "doc-13": the index "words" lacks a row of it"#),
    Damage(
      testDescription: "words of no document",
      sql: "INSERT INTO text_2(rowid, c0, id) VALUES (1000, 'word', 'x')",
      finding: #"index: document "x": the index "words" has a row that it does not give"#),
    Damage(
      testDescription: "another version", sql: "PRAGMA user_version = 1",
      finding: "index: the index file can't be used: another version", isFoundByOpening: true),
    Damage(
      testDescription: "another store", sql: "UPDATE state SET store = 'x'",
      finding: "index: the index file is of another store", isFoundByOpening: true),
    Damage(
      testDescription: "another history",
      sql: "UPDATE state SET revision = revision + 1, session = 'x'",
      finding: "index: the index file was made from another history of the documents", isFoundByOpening: true),
    Damage(
      testDescription: "an index that is missing",
      sql: "UPDATE state SET revision = revision + 1; DELETE FROM indexes WHERE name = 'values'",
      finding: #"index: the index file can't be used: "values", which is missing"#),
    Damage(
      testDescription: "a table that is missing", sql: "DROP TABLE entries_1",
      finding: "index: the index file can't be used: no such table: main.entries_1"),
    Damage(
      testDescription: "a definition that is none",
      sql: "UPDATE state SET revision = revision + 1; UPDATE indexes SET fields = '{}' WHERE name = 'values'",
      finding: "index: the index file can't be used: a definition", isFoundByOpening: true),
  ]

  private static func fill(_ store: Datastore) throws {
    try store.ensureIndexed(["a", "b"], name: "values")
    try store.ensureIndexed(["text"], name: "words", type: .text)
    try store.createDocument(from: DocumentRevision(id: "gone", body: ["a": 1]))
    for number in 10..<40 {
      try store.createDocument(
        from: DocumentRevision(
          id: "doc-\(number)", body: ["a": .int(Int64(number)), "text": "word \(number)"]))
    }
    let many = JSONValue.array((0..<100).map { .int($0) })
    try store.createDocument(from: DocumentRevision(id: "wide", body: ["a": many, "b": many]))
    try store.createDocument(from: DocumentRevision(id: "array", body: ["a": [1, 2, 2], "b": nil]))
    try store.createDocument(from: DocumentRevision(id: "empty", body: [:]))
    try store.deleteDocument(withID: "gone")
    try store.updateDocument(withID: "doc-20") { $0.body["a"] = 21 }
    try store.updateAllIndexes()
  }

  /// Runs SQL on a file as anyone could, without what our own connections refuse.
  private static func execute(_ sql: String, on path: String) throws {
    var file: OpaquePointer?
    defer { sqlite3_close(file) }
    try #require(sqlite3_open(path, &file) == SQLITE_OK)
    sqlite3_busy_timeout(file, 5_000)
    try #require(
      sqlite3_exec(file, sql, nil, nil, nil) == SQLITE_OK, "\(String(cString: sqlite3_errmsg(file)))")
  }

  private static func isWhole(_ store: Datastore) throws -> Bool {
    let text: JSONObject = ["$text": ["$search": "word 13"]]
    return try Set(store.find(["a": 13]).documentIDs) == ["doc-13", "wide"]
      && store.count(["a": ["$gte": 30]]) == 11
      && store.count(["a": 2]) == 2 && store.find(text).documentIDs == ["doc-13"]
      && store.listIndexes().map(\.name) == ["values", "words"]
  }

  @Test func `nothing is found in indexes that are whole, complete or behind`() throws {
    try withImpatientDatastore { store in
      #expect(try store.checkIndexes() == [])
      try Self.fill(store)
      #expect(try store.checkIndexes() == [])
      let last = try store.lastSequence
      try withIndexesHeld(store) {
        try store.createDocument(from: DocumentRevision(id: "new", body: ["a": 1, "text": "new"]))
        try store.updateDocument(withID: "doc-14") { $0.body["a"] = [5, 6] }
        try store.updateDocument(withID: "array") { $0.body["a"] = 7 }
        try store.updateDocument(withID: "wide") { $0.body["a"] = 8 }
        try store.deleteDocument(withID: "doc-15")
        #expect(try store.listIndexes().allSatisfy { $0.upToSequence == last })
      }
      try store.updateAllIndexes()
      #expect(try store.listIndexes().allSatisfy { $0.upToSequence == last + 5 })
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
      if !whileOpen { manager.closeDatastore(named: "store") }
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
      manager.closeDatastore(named: "store")
    }
  }

  enum FileDamage: CaseIterable {
    case deleted, truncated, overwritten, emptied
  }

  @Test(arguments: FileDamage.allCases, [true, false])
  func `a file that is damaged is found and made anew`(_ damage: FileDamage, whileOpen: Bool) throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      var store = try manager.datastore(named: "store")
      try Self.fill(store)
      let path = try store.indexManager().path
      // What open connections have of the log outlasts the log's file.
      try Self.execute("PRAGMA wal_checkpoint(TRUNCATE)", on: path)
      if !whileOpen { manager.closeDatastore(named: "store") }
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
      manager.closeDatastore(named: "store")
    }
  }

  @Test func `a query that meets damage half way says how to repair it`() throws {
    try withTemporaryDatastore { store in
      try Self.fill(store)
      try Self.execute("DELETE FROM text_2_data WHERE id > 10", on: store.indexManager().path)
      let text: JSONObject = ["$text": ["$search": "word"]]
      let error = #expect(throws: DatastoreError.self) { try store.find(text).documentIDs }
      #expect(error?.code == .corrupt)
      #expect(error?.message.hasPrefix("an index or the store is damaged: ") == true)
      #expect(error?.message.hasSuffix("; \"cdtquery check --repair\" makes indexes anew") == true)
      _ = try store.checkIndexes(repair: true)
      #expect(try store.find(text).documentIDs.count == 30)
    }
  }

  @Test func `damage of the index file is none of the documents`() throws {
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
          _ = try? store.createDocument(from: DocumentRevision(body: ["a": 1, "text": "another word"]))
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
      #expect(found.last == #"index: the index "values" has 22 more rows that are wrong"#)
    }
  }

  @Test func `progress tells of every document`() throws {
    try withTemporaryDatastore { store in
      try Self.fill(store)
      var told: [[Int]] = []
      _ = try store.checkIndexes { told.append([$0, $1]) }
      #expect(told == [[33, 33]])
    }
  }
}
