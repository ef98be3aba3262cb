import CDTDatastore
import CDTJSON
import CDTPlatform
import CDTSQLite
import CDTTestSupport
import Foundation
import Testing

@testable import CDTIndex
@testable import CDTQuery
@testable import CDTSelector

/// `scripts/test-with-limited-sqlite.sh` has the tests load an SQLite without FTS5 and DBSTAT.
private let isLimited = ProcessInfo.processInfo.environment["LIMITED_SQLITE"] != nil

/// What needs an option of SQLite is refused with its name, and all else works. Another process, which has the system's SQLite,
/// goes on where this one has left off.
@Suite(.enabled(if: isLimited)) struct LimitedSQLiteTests {
  private static let refusal = """
    the text index can't be used: SQLite \(SQLiteLibrary.version) was built without FTS5; install an SQLite \
    with FTS5
    """
  private static let search: JSONObject = ["$text": ["$search": "word"]]
  private static let requests: [JSONObject] = [
    ["selector": ["a": 1]], ["selector": ["a": ["$gt": 1]], "sort": [["a": "desc"]]],
    ["selector": ["a": ["$lt": 3]], "use_index": "by_a"],
    ["selector": ["text": ["$regex": "wor"]]],
  ]

  private static func fill(_ store: Datastore) throws {
    try store.write { transaction in
      for number in 0..<40 {
        try transaction.createDocument(
          from: DocumentDraft(
            id: "d\(number)",
            body: ["a": .int(Int64(number % 4)), "text": number < 30 ? "some word" : "nothing"]))
      }
    }
  }

  /// What a process with FTS5 finds after it has brought the indexes up to date.
  private static func words(_ directory: String) async throws -> JSONObject {
    let (status, output) = try await BuiltProgram(
      "cdt-store-worker", ["words", directory], usesSystemSQLite: true
    ).ended()
    #expect(status == 0, "\(output)")
    return try JSONObject(parsing: output)
  }

  /// Runs `body` with a datastore in which another process has made the indexes, and checks afterwards that it finds all.
  private static func withForeignIndexes(_ body: (Datastore, String) async throws -> Void) async throws {
    try await withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      try await fill(manager.datastore(named: "store"))
      try await manager.closeDatastore(named: "store")
      let before = try await words(directory)
      #expect(before["words"]?.arrayValue?.count == 30 && before["findings"] == [])
      let store = try await manager.datastore(named: "store")
      try await body(store, "\(directory)/store")
      let documents = try await store.read { try $0.allDocuments() }
      func ids(_ isWanted: (JSONObject) -> Bool) -> JSONValue {
        .array(documents.filter { isWanted($0.body) }.map(\.id).sorted().map { .string($0) })
      }
      try await manager.closeDatastore(named: "store")
      let after = try await words(directory)
      #expect(after["words"] == ids { $0["text"]?.stringValue?.contains("word") == true })
      #expect(after["values"] == ids { $0["a"] == 1 })
      #expect(after["findings"] == [], "\(after.text)")
      #expect(after["indexes"] == ["by_a", "words"])
      manager.close()
    }
  }

  private static func refuses(_ body: () throws -> Void) {
    let error = #expect(throws: QueryError.self) { try body() }
    #expect(error?.code == .textSearch)
    #expect(error?.message.hasSuffix(refusal) == true, "\(error?.message ?? "")")
  }

  @Test func `a text index is refused, and leaves nothing behind`() throws {
    try withTemporaryDatastore { store in
      try Self.fill(store)
      Self.refuses { try store.ensureIndexed(["text"], .text, name: "words") }
      #expect(try store.listIndexes() == [] && store.checkIndexes() == [])
      try store.ensureIndexed(["a"], name: "by_a")
      #expect(try store.listIndexes().map(\.name) == ["by_a"])
    }
  }

  @Test func `indexes are listed without their sizes`() throws {
    try withTemporaryDatastore { store in
      try Self.fill(store)
      try store.ensureIndexed(["a"], name: "by_a")
      let before = FileIdentity(try store.indexManager().path)
      let index = try #require(try store.listIndexes().first)
      #expect(index.entries == 40 && index.bytes == 0)
      #expect(index.json["entries"] == 40 && index.json["bytes"] == nil)
      // The file is not taken for damaged.
      #expect(try FileIdentity(store.indexManager().path) == before)
    }
  }

  @Test func `a datastore with a text index is read and written`() async throws {
    try await Self.withForeignIndexes { store, _ in
      let file = FileIdentity(try store.indexManager().path)
      #expect(try store.document(withID: "d7").body["text"] == "some word")
      Self.refuses { _ = try store.read { try $0.find(Query(Self.search)) } }
      Self.refuses { _ = try Query(Self.search).find(in: [], textIndex: store.indexDefinition("words")) }
      try store.write { transaction in
        for number in 0..<5 {
          try transaction.updateDocument(withID: "d\(number)") { $0.body["text"] = "other" }
          try transaction.updateDocument(withID: "d\(number + 30)") { $0.body["text"] = "a word at last" }
          try transaction.deleteDocument(withID: "d\(number + 10)")
        }
      }
      try store.createDocument(from: DocumentDraft(id: "new", body: ["a": 1, "text": "a new word"]))
      let rival = RevisionID(generation: 9, suffix: "rival")
      try store.write {
        try $0.forceInsert(DocumentRevision(id: "d20", revisionID: rival, body: ["a": 1, "text": "rival"]))
      }
      // The values are updated by each write, not only in the background.
      let last = try store.read { try $0.lastSequence() }
      let indexes = try store.listIndexes()
      #expect(indexes.map(\.name) == ["by_a", "words"])
      #expect(indexes[0].indexedSequence == last && indexes[1].indexedSequence < last)
      #expect(indexes[1].entries == 0 && indexes[1].bytes == 0)
      let plan = try store.read { try $0.explain(Query(["a": 1], useIndex: "by_a")) }
      #expect(plan.json["waiting"] == 0)
      #expect(try differencesFromMatcher(store, Self.requests) == [])
      try store.updateIndexes()
      #expect(try store.indexManager().worksWithoutFailure)
      #expect(try FileIdentity(store.indexManager().path) == file)
    }
  }

  @Test func `a check says which index it can't check`() async throws {
    try await Self.withForeignIndexes { store, _ in
      #expect(
        try store.checkIndexes().map(\.message) == [
          "the index \"words\" can't be checked: SQLite \(SQLiteLibrary.version) was built without FTS5"
        ])
      _ = try store.checkIndexes(repair: true)
      #expect(try store.checkIntegrity() == [])
      try store.compact()
    }
  }

  @Test func `all indexes but text indexes are rebuilt`() async throws {
    try await Self.withForeignIndexes { store, _ in
      Self.refuses { try store.rebuildIndexes(named: "words") }
      Self.refuses { try store.ensureIndexed(["text"], .text, name: "words") }
      try store.rebuildIndexes()
      #expect(try differencesFromMatcher(store, Self.requests) == [])
    }
  }

  @Test func `an index file that is lost is made again, and the text index by a process that has FTS5`()
    async throws
  {
    try await Self.withForeignIndexes { store, _ in
      for suffix in ["", "-wal", "-shm"] { try Files.remove(store.indexManager().path + suffix) }
      try store.updateIndexes()
      try store.createDocument(from: DocumentDraft(id: "new", body: ["a": 1, "text": "a new word"]))
      #expect(try store.listIndexes().map(\.name) == ["by_a", "words"])
      #expect(try differencesFromMatcher(store, Self.requests) == [])
    }
  }

  @Test func `a text index is deleted, and the others are built again`() async throws {
    try await Self.withForeignIndexes { store, _ in
      try store.deleteIndex(named: "words")
      #expect(try store.listIndexes().map(\.name) == ["by_a"])
      try store.updateIndexes()
      #expect(try differencesFromMatcher(store, Self.requests) == [])
      #expect(try store.checkIndexes() == [])
    }
  }

  @Test func `a design document with a text index does not keep the others from being made`() throws {
    try withTemporaryDatastore { store in
      try Self.fill(store)
      try store.createDocument(
        from: DocumentDraft(
          id: "_design/a",
          body: [
            "language": "query",
            "indexes": ["t": ["index": ["fields": [["name": "text", "type": "string"]]]]],
            "views": ["v": ["map": ["fields": ["a": "asc"]], "options": ["def": ["fields": ["a"]]]]],
          ]))
      #expect(try store.listIndexes().map(\.name) == ["_design/a/t", "_design/a/v"])
      #expect(try store.read { try $0.find(Query(["a": 1], useIndex: "_design/a/v")) }.count == 10)
      Self.refuses { _ = try store.read { try $0.find(Query(Self.search)) } }
      #expect(try store.checkIndexes().count == 1)
      #expect(try store.indexManager().worksWithoutFailure)
      // As between the two steps of the deletion of an index.
      try store.indexManager().save([])
      #expect(try store.checkIndexes() == [])
      try store.deleteDocument(withID: "_design/a")
      #expect(try store.listIndexes() == [])
      #expect(try store.checkIndexes() == [])
    }
  }

  @Test(arguments: [["info"], ["check"], ["index", "list"], ["find", "{\"a\": 1}"]])
  func `the command works`(_ command: [String]) async throws {
    try await Self.withForeignIndexes { store, path in
      let arguments = command.first == "index" ? command + [path] : [command[0], path] + command.dropFirst()
      let (status, output) = try await BuiltProgram("cdtquery", arguments).ended()
      // A check that can't see everything fails.
      #expect((status == 0) == (command != ["check"]), "\(output)")
      #expect(output.contains(command[0] == "find" ? "d1" : "words"), "\(output)")
    }
  }
}

extension Datastore {
  fileprivate func indexDefinition(_ name: String) throws -> IndexDefinition? {
    try listIndexes().map(\.definition).first { $0.name == name }
  }
}

extension IndexManager {
  fileprivate var worksWithoutFailure: Bool {
    worker.waitUntilIdle()
    return !worker.hasFailed
  }
}
