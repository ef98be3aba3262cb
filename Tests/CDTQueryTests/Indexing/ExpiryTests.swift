import CDTDatastore
import CDTJSON
import CDTSQLite
import CDTTestSupport
import Synchronization
import Testing

@testable import CDTIndex
@testable import CDTQuery
@testable import CDTSelector

/// Documents that expire.
@Suite struct ExpiryTests {
  /// A clock that a test sets.
  private final class TestClock: Sendable {
    private let time = Mutex(1_000.0)
    var now: Double {
      get { time.withLock { $0 } }
      set { time.withLock { $0 = newValue } }
    }
  }

  private static func put(_ id: String, _ body: JSONObject, in store: Datastore) throws {
    try store.createDocument(from: DocumentDraft(id: id, body: body))
  }

  /// A store whose documents expire 100 seconds after `at`, while nothing deletes them.
  private static func withStore(
    on disk: Bool = false, _ body: (Datastore, TestClock) throws -> Void
  ) throws {
    let path = try temporaryDirectory()
    defer { removeDirectory(path) }
    let manager = try disk ? DatastoreManager(directory: path) : DatastoreManager.inMemory()
    defer { manager.close() }
    let store = try manager.datastore(named: "store")
    let clock = TestClock()
    try store.indexManager().expiry.setClock { clock.now }
    try put("a", ["at": 1_000, "n": 1], in: store)
    try put("b", ["at": "1970-01-01T00:16:50.5Z", "n": 2], in: store)
    try put("c", ["at": "tomorrow", "n": 3], in: store)
    try put("d", ["at": ["1970-01-01T00:00:00Z"], "n": 4], in: store)
    try put("e", ["n": 5], in: store)
    #expect(try store.ensureIndexed(["at"], .expiring(after: .seconds(100))) == "expire_at")
    try store.indexManager().worker.waitUntilIdle()
    try body(store, clock)
  }

  /// Stops deletions in the background.
  private static func hold(_ store: Datastore) throws {
    let manager = try store.indexManager()
    manager.expiry.close()
    manager.worker.close()
  }

  @Test func `a document is left out of every read at the instant`() throws {
    try Self.withStore { store, clock in
      try store.ensureIndexed(["n"], name: "by_n")
      try store.ensureIndexed([], .summary(of: "n"))
      try Self.hold(store)
      func ids() throws -> [String] { try store.read { try $0.allDocumentIDs() } }
      clock.now = 1_099.9
      #expect(try ids() == ["a", "b", "c", "d", "e"])
      clock.now = 1_100
      #expect(try ids() == ["b", "c", "d", "e"])
      #expect(throws: DatastoreError.self) { try store.document(withID: "a") }
      try store.read { transaction throws in
        #expect(try transaction.documentCount() == 4)
        #expect(try transaction.allDocuments().count == 4)
        #expect(try transaction.documents(withIDs: ["a", "b"]).map(\.id) == ["b"])
        #expect(try transaction.changes().documents.map(\.id) == ["b", "c", "d", "e"])
        #expect(try transaction.changeCount(since: 0) == 4)
        #expect(try transaction.tree(ofDocument: "a") == nil)
        #expect(try transaction.entry(ofDocument: "a") == nil)
        #expect(
          try transaction.documentEntries(in: DocumentRange(), limit: 9).map(\.id) == ["b", "c", "d", "e"])
        #expect(try transaction.lastSequence() == 5)
      }
      #expect(try store.changes().documents.count == 4)
      for selector in [["n": ["$lt": 3]], ["$or": [["n": 1], ["n": 2]]], ["_id": ["$lt": "c"]]]
        as [JSONObject]
      {
        #expect(try store.find(selector).map(\.id) == ["b"])
        #expect(try store.count(selector) == 1)
      }
      #expect(try store.find(["_id": "a"]).isEmpty)
      #expect(try store.group(by: [], .count(), .sum("n", as: "sum")) == [["count": 4, "sum": 14]])
      #expect(try store.distinct("n") == [2, 3, 4, 5])
      clock.now = 1_110.5
      #expect(try ids() == ["c", "d", "e"])
      #expect(try store.count([:]) == 3)
    }
  }

  @Test func `without work in the background, what has expired is left out and not deleted`() throws {
    try withTemporaryDirectory { directory in
      var options = DatastoreOptions()
      options.worksInBackground = false
      let manager = try DatastoreManager(directory: directory, options: options)
      defer { manager.close() }
      let store = try manager.datastore(named: "store")
      try Self.put("a", ["at": 1_000], in: store)
      try store.ensureIndexed(["at"], .expiring(after: .seconds(100)))
      #expect(try store.read { try $0.documentCount() } == 0)
      try store.indexManager().worker.waitUntilIdle()
      #expect(try store.read { try $0.lastSequence() } == 1)
    }
  }

  @Test func `a transaction knows a rule that was made elsewhere, and the next read after it`() throws {
    try withTemporaryDirectory { directory in
      var options = DatastoreOptions()
      options.worksInBackground = false
      let managers = try (0..<2).map { _ in try DatastoreManager(directory: directory, options: options) }
      let store = try managers[0].datastore(named: "store")
      try Self.put("a", ["at": 1_000], in: store)
      #expect(try store.document(withID: "a").body["at"] == 1_000)
      try managers[1].datastore(named: "store").ensureIndexed(["at"], .expiring(after: .zero))
      #expect(try store.read { try $0.allDocumentIDs() } == [])
      #expect(#expect(throws: DatastoreError.self) { try store.document(withID: "a") }?.code == .notFound)
      for manager in managers { manager.close() }
    }
  }

  @Test func `milliseconds are those of an option`() throws {
    try withTemporaryDatastore { store in
      let clock = TestClock()
      try store.indexManager().expiry.setClock { clock.now }
      try Self.put("a", ["at": 900_000], in: store)
      try Self.put("b", ["at": 1_000_000.5], in: store)
      try store.ensureIndexed(["at"], .expiring(after: .seconds(50), milliseconds: true))
      #expect(try store.find([:]).map(\.id) == ["b"])
      #expect(try store.documentsThatNeverExpire() == [])
      #expect(throws: QueryError.self) { try store.ensureIndexed(["n"], IndexOptions(milliseconds: true)) }
      let again = #expect(throws: QueryError.self) {
        try store.ensureIndexed(["at"], .expiring(after: .seconds(50)))
      }
      #expect(again?.code == .indexConflict)
    }
  }

  @Test func `a document that has expired is changed as if it were deleted`() throws {
    try Self.withStore { store, clock in
      let (a, b) = (try store.document(withID: "a"), try store.document(withID: "b"))
      try Self.hold(store)
      clock.now = 2_000
      var changed = a
      changed.body["n"] = 7
      #expect(throws: DatastoreError.self) { try store.updateDocument(from: changed) }
      #expect(throws: DatastoreError.self) { try store.deleteDocument(from: a) }
      #expect(throws: DatastoreError.self) { try store.deleteDocument(withID: "a") }
      try store.write { transaction in
        #expect(throws: DatastoreError.self) { try transaction.document(withID: "b") }
        let made = try transaction.createDocument(from: DocumentDraft(id: "b", body: ["at": 2_000, "n": 8]))
        #expect(made.revisionID.generation == 3)
        #expect(try transaction.document(withID: "b").body["n"] == 8)
        #expect(try transaction.count(Query(["n": ["$gt": 0]])) == 4)
      }
      #expect(try store.document(withID: "b").body["n"] == 8)
      #expect(b.revisionID.generation == 1)
    }
  }

  @Test func `documents that have expired are deleted as revisions`() throws {
    try Self.withStore { store, clock in
      clock.now = 2_000
      try store.updateIndexes()
      let changes = try store.changes(since: 5).documents
      #expect(changes.map(\.id) == ["a", "b"])
      #expect(changes.allSatisfy { $0.isDeleted && $0.revisionID.generation == 2 })
      // A clock that is set back brings nothing back.
      clock.now = 0
      #expect(throws: DatastoreError.self) { try store.document(withID: "a") }
      #expect(try store.read { try $0.documentCount() } == 3)
      #expect(try store.checkIndexes() == [])
    }
  }

  @Test func `a revision that a replication brings is left out if it has expired, then deleted`() throws {
    try Self.withStore { store, clock in
      try Self.hold(store)
      let revision = try #require(RevisionID("1-a"))
      try store.write { transaction in
        try transaction.forceInsert(DocumentRevision(id: "old", revisionID: revision, body: ["at": 1]))
      }
      #expect(throws: DatastoreError.self) { try store.document(withID: "old") }
      #expect(try store.read { try $0.missingRevisions(of: "old", among: [revision]) } == [])
      try store.updateIndexes()
      #expect(try store.changes(since: 6).documents.map(\.isDeleted) == [true])
    }
  }

  @Test func `an edit can postpone the time, and a rule that is gone hides nothing`() throws {
    try Self.withStore { store, clock in
      try Self.hold(store)
      try store.updateDocument(withID: "a") { $0.body["at"] = 5_000 }
      clock.now = 2_000
      #expect(try store.document(withID: "a").body["n"] == 1)
      #expect(throws: DatastoreError.self) { try store.document(withID: "b") }
      try store.deleteIndex(named: "expire_at")
      #expect(try store.document(withID: "b").body["n"] == 2)
    }
  }

  @Test func `writes that the index has missed expire, too`() throws {
    try Self.withStore { store, clock in
      try Self.hold(store)
      try writeMissingIndexes(of: store) { transaction in
        try transaction.createDocument(from: DocumentDraft(id: "f", body: ["at": 900]))
        try transaction.updateDocument(withID: "b") { $0.body["at"] = 9_000 }
      }
      clock.now = 2_000
      #expect(try store.read { try $0.allDocumentIDs() } == ["b", "c", "d", "e"])
    }
  }

  @Test func `a filter says which documents expire`() throws {
    try withTemporaryDatastore { store in
      try Self.put("a", ["at": 0, "kind": "log"], in: store)
      try Self.put("b", ["at": 0, "kind": "note"], in: store)
      try store.ensureIndexed(["at"], IndexOptions(where: ["kind": "log"], expireAfter: .seconds(1)))
      try store.updateIndexes()
      #expect(try store.read { try $0.allDocumentIDs() } == ["b"])
    }
  }

  @Test(.timeLimit(.usual)) func `documents are deleted in the background when they expire`()
    async throws
  {
    try await withTemporaryDatastore { store in
      try await store.ensureIndexed(["at"], .expiring(after: .seconds(0)))
      let now = try store.indexManager().expiry.now
      for number in 0..<30 {
        try Self.put("d\(number)", ["at": .double(now + 0.2 + Double(number) / 100)], in: store)
      }
      var deleted = 0
      for try await changes in store.liveChanges() {
        deleted += changes.documents.count { $0.isDeleted }
        if deleted == 30 { break }
      }
      #expect(try await store.read { try $0.documentCount() } == 0)
    }
  }

  @Test(.timeLimit(.usual)) func `a live query loses a document when it expires`() async throws {
    try await withTemporaryDatastore { store in
      try await store.ensureIndexed(["at"], .expiring(after: .seconds(0)))
      let now = try store.indexManager().expiry.now
      try Self.put("a", ["at": .double(now + 0.3)], in: store)
      for try await results in store.live(try Query([:])) where results.results.isEmpty { break }
      #expect(throws: DatastoreError.self) { try store.document(withID: "a") }
    }
  }

  @Test(.timeLimit(.usual)) func `a live query loses what has expired before it is deleted`()
    async throws
  {
    try await withTemporaryDatastore { store in
      let clock = TestClock()
      try store.indexManager().expiry.setClock { clock.now }
      // Documents of the highest generation can't be deleted.
      let high = try #require(RevisionID("\(Int.max - 1)-f"))
      func put(_ id: String, _ body: JSONObject) async throws {
        try await store.write { transaction in
          try transaction.forceInsert(DocumentRevision(id: id, revisionID: high, body: [:]))
          try transaction.updateDocument(withID: id) { $0.body = body }
        }
      }
      try await put("a", ["at": 1_000.1])
      try await put("kept", [:])
      try await store.ensureIndexed(["at"], .expiring(after: .seconds(0)))
      var seen: [[String]] = []
      for try await results in store.live(try Query([:])) {
        seen.append(results.results.map { $0.id })
        switch seen.count {
        case 1: clock.now = 1_000.1
        case 2: try await put("b", ["at": 1_000.2])
        case 3: clock.now = 1_000.2
        default: break
        }
        if seen.count == 4 { break }
      }
      #expect(seen == [["a", "kept"], ["kept"], ["b", "kept"], ["kept"]])
      try store.indexManager().expiry.setClock { 0 }
      #expect(try await store.read { try $0.documentCount() } == 3)
    }
  }

  @Test func `a document written while the clock is set back leaves live results with the time`() async throws
  {
    try await withTemporaryDatastore { store in
      let clock = TestClock()
      let manager = try store.indexManager()
      manager.expiry.setClock { clock.now }
      try Self.hold(store)
      try await store.ensureIndexed(["at"], .expiring(after: .seconds(0)))
      func put(_ id: String, at time: Int64) async throws {
        try await store.write { transaction in
          _ = try transaction.createDocument(from: DocumentDraft(id: id, body: ["at": .int(time)]))
        }
        try store.liveQueries().update(store)
      }
      clock.now = 10
      try await put("early", at: 5)
      var live = store.live(try Query([:])).makeAsyncIterator()
      #expect(try await live.take()?.results.map(\.id) == [])
      clock.now = 0
      try await put("b", at: 7)
      clock.now = 10
      try store.queryExtension().expired.remove(deletes: false)
      #expect(try await live.take()?.results.isEmpty ?? true)
      clock.now = 6
      try await put("c", at: 8)
      #expect(try await live.take()?.results.map(\.id) == ["b", "c"])
    }
  }

  @Test(arguments: 1...4) func `live results are those of find, whatever the clock does`(_ round: Int)
    async throws
  {
    var random = SeededGenerator(seed: testSeed(UInt64(round)))
    try await withTemporaryDatastore { store in
      let clock = TestClock()
      let manager = try store.indexManager()
      manager.expiry.setClock { clock.now }
      try Self.hold(store)
      let queries = try [
        Query([:], sort: ["_id"]), Query(["n": ["$gt": 2]], limit: 3, sort: ["n"]),
        Query(["$text": ["$search": "word"]], sort: ["_id"]),
      ]
      try await store.ensureIndexed(["text"], .text)
      try await store.ensureIndexed(["at"], .expiring(after: .seconds(0)))
      var live = queries.map { store.live($0).makeAsyncIterator() }
      var shown: [[String]] = queries.map { _ in [] }
      for step in 0..<60 {
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1: clock.now = Double(Int.random(in: 0..<20, using: &random))
        case 2 where step > 30: try await store.ensureIndexed(["other"], .expiring(after: .seconds(1)))
        case 3:
          try writeMissingIndexes(of: store) { transaction in
            let body = Self.randomBody(&random)
            _ = try transaction.createDocument(from: DocumentDraft(id: "missed\(step)", body: body))
          }
        default:
          let id = "d\(Int.random(in: 0..<12, using: &random))"
          let body = Self.randomBody(&random)
          try await store.write { transaction in
            if let known = try? transaction.document(withID: id) {
              try transaction.deleteDocument(from: known)
            }
            try transaction.createDocument(from: DocumentDraft(id: id, body: body))
          }
        }
        try store.liveQueries().update(store)
        try store.queryExtension().expired.remove(deletes: false)
        for (number, query) in queries.enumerated() {
          while let update = try await live[number].take() { shown[number] = update.results.map { $0.id } }
          let found = try await store.read { try $0.find(query) }.map { $0.id }
          #expect(shown[number] == found, "step \(step), query \(number), at \(clock.now)")
        }
      }
      let runs = try store.liveQueries().counts.runs
      for _ in 0..<20 {
        try store.queryExtension().expired.remove(deletes: false)
        for number in queries.indices { #expect(try await live[number].take() == nil) }
      }
      #expect(try store.liveQueries().counts.runs <= runs + queries.count)
    }
  }

  private static func randomBody(_ random: inout SeededGenerator) -> JSONObject {
    var body: JSONObject = ["n": .int(.random(in: 0..<6, using: &random)), "text": "a word"]
    for field in ["at", "other"] where Bool.random(using: &random) {
      body[field] = .int(.random(in: 0..<20, using: &random))
    }
    return body
  }

  @Test func `a document that can't be deleted does not keep others from being deleted`() throws {
    try Self.withStore { store, clock in
      try Self.hold(store)
      try store.ensureIndexed(["email"], .unique)
      try Self.put("ann", ["email": "a@x"], in: store)
      let highest = try #require(RevisionID("\(Int.max - 1)-f"))
      try store.write { transaction in
        for (revision, body) in [("1-a", ["email": "a@x"]), ("1-b", ["at": 1_000])] as [(String, JSONObject)]
        {
          let id = try #require(RevisionID(revision))
          try transaction.forceInsert(DocumentRevision(id: "bob", revisionID: id, body: body))
        }
        try transaction.forceInsert(DocumentRevision(id: "last", revisionID: highest, body: ["at": 5_000]))
        try transaction.updateDocument(withID: "last") { $0.body["at"] = 1_000 }
      }
      for number in 0..<20 { try Self.put("d\(number)", ["at": 1_000], in: store) }
      clock.now = 2_000
      try store.updateIndexes()
      let deleted = try store.changes().documents.filter(\.isDeleted).map(\.id)
      #expect(Set(deleted) == Set((0..<20).map { "d\($0)" } + ["a", "b"]))
      #expect(throws: DatastoreError.self) { try store.document(withID: "bob") }
      #expect(try store.uniqueViolations() == [])
      // With another key, the revision that becomes the winner can have it.
      try store.updateDocument(withID: "ann") { $0.body["email"] = "b@x" }
      try store.updateIndexes()
      #expect(try store.document(withID: "bob").revisionID == RevisionID("1-a"))
      #expect(throws: DatastoreError.self) { try store.document(withID: "last") }
    }
  }

  @Test(.timeLimit(.usual)) func `documents that a replication brings expired are deleted in the background`()
    async throws
  {
    try await withTemporaryDatastore { store in
      try await store.ensureIndexed(["at"], .expiring(after: .seconds(0)))
      try store.indexManager().worker.waitUntilIdle()
      let id = try #require(RevisionID("1-a"))
      try await store.write { transaction in
        try transaction.forceInsert(DocumentRevision(id: "old", revisionID: id, body: ["at": 1]))
      }
      for try await changes in store.liveChanges() where changes.documents.contains(where: \.isDeleted) {
        break
      }
      #expect(try await store.changes().documents.map(\.isDeleted) == [true])
    }
  }

  @Test(.timeLimit(.usual)) func `a rule that a replication brings deletes in the background`()
    async throws
  {
    try await withTemporaryDatastore { store in
      _ = try store.listIndexes()
      try Self.put("old", ["at": 1], in: store)
      let id = try #require(RevisionID("1-a"))
      let view: JSONValue = [
        "map": ["fields": ["at": "asc"], "expireAfter": 0], "reduce": "_count",
        "options": ["def": ["fields": ["at"]]],
      ]
      try await store.write { transaction in
        let body: JSONObject = ["language": "query", "views": ["expire": view]]
        try transaction.forceInsert(DocumentRevision(id: "_design/rules", revisionID: id, body: body))
      }
      for try await changes in store.liveChanges() where changes.documents.contains(where: \.isDeleted) {
        break
      }
      #expect(try await store.changes().documents.filter(\.isDeleted).map(\.id) == ["old"])
    }
  }

  @Test func `a write without documents keeps the rules after a write that was rolled back`() throws {
    struct Failure: Error {}
    try Self.withStore { store, clock in
      try Self.hold(store)
      try Self.put("f", ["n": 6], in: store)
      #expect(throws: Failure.self) {
        try store.write { transaction in
          try transaction.createDocument(from: DocumentDraft(id: "g", body: [:]))
          throw Failure()
        }
      }
      try store.write { try $0.setLocalDocument(["n": 1], withID: "checkpoint") }
      clock.now = 2_000
      #expect(throws: DatastoreError.self) { try store.document(withID: "a") }
    }
  }

  @Test func `a write has one instant`() throws {
    try Self.withStore { store, clock in
      try Self.hold(store)
      let a = try store.document(withID: "a")
      try store.write { transaction in
        #expect(try transaction.documentCount() == 5)
        clock.now = 2_000
        try transaction.deleteDocument(from: a)
        try transaction.updateDocument(withID: "b") { $0.body["n"] = 7 }
      }
      #expect(throws: DatastoreError.self) { try store.document(withID: "b") }
    }
  }

  @Test func `every leaf that has expired is deleted before a change, and one that has not is shown`() throws
  {
    try Self.withStore { store, clock in
      try Self.hold(store)
      let a = try store.document(withID: "a")
      let ids = ["1-a", "1-b", "2-c"].compactMap { RevisionID($0) }
      clock.now = 2_000
      try store.write { transaction in
        for id in ids.prefix(2) {
          try transaction.forceInsert(DocumentRevision(id: "twice", revisionID: id, body: ["at": 1]))
        }
        try transaction.createDocument(from: DocumentDraft(id: "twice", body: ["n": 1]))
        #expect(try transaction.currentRevisions(ofDocument: "twice").count == 1)
        #expect(throws: DatastoreError.self) { try transaction.document(withID: "a") }
        let child = DocumentRevision(id: "a", revisionID: ids[2], body: ["at": 5_000])
        try transaction.forceInsert(child, history: [ids[2], a.revisionID])
        #expect(try transaction.document(withID: "a").body == ["at": 5_000])
        #expect(try transaction.allDocumentIDs() == ["a", "c", "d", "e", "twice"])
      }
    }
  }

  @Test func `the clock can be read any number of times`() {
    let expiry = ExpirySchedule()
    for _ in 0..<300_000 { _ = expiry.now }
  }

  @Test func `another index can't expire documents`() throws {
    let cases: [(() throws -> IndexDefinition, String)] = [
      ({ try IndexDefinition(fields: ["a", "b"], .expiring(after: .seconds(1))) }, "neither"),
      (
        { try IndexDefinition(fields: ["a"], IndexOptions(text: .simple, expireAfter: .seconds(1))) },
        "neither"
      ),
      (
        { try IndexDefinition(fields: ["a"], IndexOptions(unique: true, expireAfter: .seconds(1))) },
        "neither"
      ),
      ({ try IndexDefinition(fields: ["a"], .expiring(after: .seconds(-1))) }, "not -1"),
      ({ try IndexDefinition(json: ["fields": ["a"], "expireAfter": 1e300]) }, "seconds"),
    ]
    for (make, message) in cases {
      let error = #expect(throws: QueryError.self) { try make() }
      #expect(error?.path == "expireAfter")
      #expect(error?.message.contains(message) == true)
    }
  }
}
