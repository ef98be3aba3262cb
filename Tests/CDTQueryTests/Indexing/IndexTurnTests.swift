import CDTDatastore
import CDTJSON
import CDTTestSupport
import Testing

@testable import CDTQuery
@testable import CDTSelector

/// When a write returns, every complete index has it.
@Suite struct IndexTurnTests {
  private static let requests: [JSONObject] = [
    ["selector": ["a": 3]], ["selector": ["a": ["$gte": 2]], "sort": ["a", "b"]],
    ["selector": ["tags": "red"]], ["selector": ["b": ["$lt": 4]], "sort": [["b": "desc"]]],
    ["selector": ["$text": ["$search": "word"]]], ["selector": ["a": 5, "b": 6]],
  ]

  private static func directory(_ manager: DatastoreManager) -> String { "\(manager.directory)/store" }

  private static func withIndexes(_ body: (DatastoreManager, Datastore) throws -> Void) throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      defer { manager.close() }
      let store = try manager.datastore(named: "store")
      try store.write { transaction in
        for number in 0..<20 {
          try transaction.createDocument(
            from: DocumentDraft(
              id: "d\(number)",
              body: [
                "a": .int(Int64(number % 5)), "b": .int(Int64(number)), "tags": ["red", "blue"],
                "text": "a word",
              ]))
        }
      }
      try store.ensureIndexed(["a", "b"], name: "values")
      try store.ensureIndexed(["tags"], name: "elements")
      try store.ensureIndexed([.descending("b"), "_rev"], name: "revisions")
      try store.ensureIndexed(["text"], .text, name: "words")
      try body(manager, store)
    }
  }

  /// A write of each kind. An index that lacked it would not be caught up, as nobody may build.
  static let writes: [(name: String, write: @Sendable (Datastore) throws -> Void)] = [
    ("create", { try $0.createDocument(from: DocumentDraft(id: "new", body: ["a": 3, "tags": "red"])) }),
    ("update", { try $0.updateDocument(withID: "d3") { $0.body["a"] = 4 } }),
    ("update of another field", { try $0.updateDocument(withID: "d3") { $0.body["z"] = 4 } }),
    (
      "update of an array",
      { try $0.updateDocument(withID: "d3") { $0.body["tags"] = ["red", "red", "green"] } }
    ),
    ("update of words", { try $0.updateDocument(withID: "d3") { $0.body["text"] = "no more" } }),
    ("delete", { try $0.deleteDocument(withID: "d3") }),
    (
      "create again",
      { store in
        try store.deleteDocument(withID: "d3")
        try store.createDocument(from: DocumentDraft(id: "d3", body: ["a": 3, "text": "word"]))
      }
    ),
    (
      "conflict that wins",
      { store in try store.write { _ = try $0.forceInsert(revision("d3", "7-x", ["a": 5, "b": 6])) } }
    ),
    (
      "conflict that loses, and then wins",
      { store in
        try store.updateDocument(withID: "d3") { $0.body["b"] = 1 }
        try store.write { try $0.forceInsert(revision("d3", "1-x", ["a": 5, "b": 6])) }
        try store.deleteDocument(from: store.document(withID: "d3"))
      }
    ),
    (
      "conflict that is resolved",
      { store in
        try store.write { try $0.forceInsert(revision("d3", "7-x", ["a": 5, "b": 6])) }
        try store.write { try $0.resolveConflicts(for: "d3") { _, leaves in leaves.last } }
      }
    ),
    (
      "a document of too many combinations, and then of few",
      { store in
        let many = JSONValue.array((0..<50).map { .int($0) })
        try store.createDocument(from: DocumentDraft(id: "wide", body: ["a": many, "b": many]))
        try store.updateDocument(withID: "wide") { $0.body["b"] = 6 }
        try store.updateDocument(withID: "d4") { $0.body = ["a": many, "b": many] }
      }
    ),
    (
      "several in one transaction, one of them twice",
      { store in
        try store.write { transaction in
          for number in 0..<8 {
            try transaction.updateDocument(withID: "d\(number)") { $0.body["a"] = 3 }
          }
          try transaction.updateDocument(withID: "d2") { $0.body["a"] = 2 }
          try transaction.deleteDocument(withID: "d4")
          try transaction.createDocument(from: DocumentDraft(id: "passing", body: ["a": 3]))
          try transaction.deleteDocument(withID: "passing")
        }
      }
    ),
    (
      "more rows than are kept in memory",
      { store in
        let long = String(repeating: "x", count: 20_000)
        try store.write { transaction in
          for number in 0..<300 {
            try transaction.createDocument(
              from: DocumentDraft(id: "long \(number)", body: ["a": 3, "b": .string("\(long)\(number)")]))
          }
        }
      }
    ),
    (
      "a transaction that is rolled back, and one after it",
      { store in
        struct OwnError: Error {}
        #expect(throws: OwnError.self) {
          try store.write { transaction in
            try transaction.deleteDocument(withID: "d3")
            throw OwnError()
          }
        }
        try store.updateDocument(withID: "d8") { $0.body["a"] = 0 }
      }
    ),
    ("no document", { try $0.write { try $0.setLocalDocument(["a": 3], withID: "d3") } }),
    ("nothing", { store in try store.write { _ in } }),
  ]

  private static func revision(_ id: String, _ revision: String, _ body: JSONObject) throws
    -> DocumentRevision
  {
    DocumentRevision(id: id, revisionID: try #require(RevisionID(revision)), body: body)
  }

  @Test(arguments: writes.indices) func `a write brings every index up to date before it returns`(
    _ number: Int
  )
    throws
  {
    try Self.withIndexes { manager, store in
      try withBuildsHeld(inDirectoryOf: Self.directory(manager)) {
        try Self.writes[number].write(store)
        let name = Self.writes[number].name
        #expect(try indexesAreComplete(store), "\(name)")
        #expect(try differencesFromMatcher(store, Self.requests) == [], "\(name)")
        // The index alone knows.
        let count = try store.read { state in
          let query = try Query(["tags": "red"], useIndex: "elements")
          return try QueryEngine(state).withRun(query, .count) { (try $0.count(), $0.documentsRead) }
        }
        #expect(count.1 == 0, "\(name)")
        #expect(try count.0 == store.read { try $0.allDocuments() }.count { Self.isRed($0) }, "\(name)")
      }
    }
  }

  private static func isRed(_ document: DocumentRevision) -> Bool {
    guard let tags = document.body["tags"] else { return false }
    return tags == "red" || tags.arrayValue?.contains("red") == true
  }

  @Test func `so it is after closing and opening again`() throws {
    try Self.withIndexes { manager, store in
      try store.updateDocument(withID: "d3") { $0.body["a"] = 4 }
      try manager.closeDatastore(named: "store")
      try withBuildsHeld(inDirectoryOf: Self.directory(manager)) {
        let again = try manager.datastore(named: "store")
        #expect(try indexesAreComplete(again))
        try again.updateDocument(withID: "d4") { $0.body["a"] = 3 }
        try manager.closeDatastore(named: "store")
        let third = try manager.datastore(named: "store")
        #expect(try indexesAreComplete(third))
        #expect(try differencesFromMatcher(third, Self.requests) == [])
      }
    }
  }

  @Test func `so it is with an index that another process has made since the store was opened`() throws {
    try withTemporaryDirectory { directory in
      let managers = try (0..<2).map { _ in try DatastoreManager(directory: directory) }
      defer { for manager in managers { try? manager.closeDatastore(named: "store") } }
      let stores = try managers.map { try $0.datastore(named: "store") }
      for number in 0..<10 {
        try stores[0].createDocument(
          from: DocumentDraft(id: "d\(number)", body: ["a": .int(Int64(number))]))
      }
      try stores[1].ensureIndexed(["a"], name: "by_a")
      try withBuildsHeld(inDirectoryOf: "\(directory)/store") {
        try stores[0].updateDocument(withID: "d3") { $0.body["a"] = 4 }
        #expect(try indexesAreComplete(stores[1]))
        #expect(try stores[1].count(["a": 4]) == 2)
        #expect(try indexesAreComplete(stores[0]))
      }
      // It is there, but not filled, when the other one writes.
      try stores[1].deleteIndex(named: "by_a")
      try stores[1].declareIndex(["a"], name: "by_a")
      try stores[0].updateDocument(withID: "d4") { $0.body["a"] = 3 }
      try stores[1].updateIndexes()
      try withBuildsHeld(inDirectoryOf: "\(directory)/store") {
        try stores[0].deleteDocument(withID: "d3")
        #expect(try indexesAreComplete(stores[1]))
        #expect(try stores[1].count(["a": 4]) == 0)
        #expect(try stores[1].count(["a": 3]) == 1)
      }
    }
  }

  @Test func `processes that write in turn keep the indexes of both complete`() throws {
    try Self.withIndexes { manager, store in
      let elsewhere = try DatastoreManager(directory: manager.directory)
      defer { elsewhere.close() }
      let other = try elsewhere.datastore(named: "store")
      try withBuildsHeld(inDirectoryOf: Self.directory(manager)) {
        for number in 0..<10 {
          try (number % 2 == 0 ? store : other).updateDocument(withID: "d\(number)") { $0.body["a"] = 3 }
        }
        #expect(try indexesAreComplete(store))
        #expect(try differencesFromMatcher(other, Self.requests) == [])
      }
    }
  }
}
