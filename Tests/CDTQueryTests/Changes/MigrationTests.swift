import CDTQuery
import CDTTestSupport
import Foundation
import Synchronization
import Testing

/// Migrations: changes of documents that a store remembers.
@Suite(.timeLimit(.usual)) struct MigrationTests {
  private struct Stopped: Error {}

  private static let matching: JSONObject = ["name": ["$type": "string"]]

  private static func split(_ document: inout DocumentRevision) {
    let name = document.body["name"]?.stringValue ?? ""
    document.body["name"] = ["first": .string(name), "count": 1]
  }

  private static func fill(_ store: Datastore, _ count: Int) throws {
    try store.write { transaction in
      for number in 0..<count {
        let id = "p\(String(number + 10_000).dropFirst())"
        try transaction.createDocument(from: DocumentDraft(id: id, body: ["name": .string("n\(number)")]))
      }
      try transaction.createDocument(from: DocumentDraft(id: "other", body: ["title": "x"]))
      try transaction.createDocument(from: DocumentDraft(id: "_design/x", body: ["name": "d"]))
    }
  }

  /// Every document of `fill` was changed exactly once.
  private static func expectChangedOnce(_ store: Datastore, _ count: Int) throws {
    let bodies = try store.find(["name": ["$exists": true]]).map(\.body["name"])
    #expect(bodies.count == count && bodies.allSatisfy { $0?["count"] == 1 })
    let generations = try store.find(["name": ["$exists": true]]).map(\.revisionID.generation)
    #expect(Set(generations) == [2])
    #expect(try store.document(withID: "other").revisionID.generation == 1)
    #expect(try store.document(withID: "_design/x").revisionID.generation == 1)
  }

  private func withStores(_ count: Int, _ body: ([Datastore]) throws -> Void) throws {
    try withTemporaryDirectory { directory in
      let managers = try (0..<count).map { _ in try DatastoreManager(directory: directory) }
      defer { for manager in managers { manager.close() } }
      try body(managers.map { try $0.datastore(named: "store") })
    }
  }

  @Test func `a migration runs once`() throws {
    try withStores(1) { stores in
      let store = stores[0]
      try Self.fill(store, 25)
      var seen: [String] = []
      let saved = try store.migrate(
        "split", matching: Self.matching, batch: 10, progress: { seen.append("\($0)/\($1)") }
      ) {
        Self.split(&$0)
      }
      #expect(saved == 25 && seen == ["10/25", "20/25", "25/25"])
      try Self.expectChangedOnce(store, 25)
      try store.createDocument(from: DocumentDraft(id: "late", body: ["name": "late"]))
      #expect(try store.migrate("split", matching: Self.matching) { _ in throw Stopped() } == 0)
      #expect(try store.migrate("other", matching: Self.matching) { Self.split(&$0) } == 1)
    }
  }

  @Test func `a migration of documents that all stay the same ends, too`() throws {
    try withStores(1) { stores in
      try Self.fill(stores[0], 20)
      #expect(try stores[0].migrate("none", matching: [:], batch: 10) { _ in } == 0)
      #expect(try stores[0].migrate("none", matching: [:]) { _ in throw Stopped() } == 0)
    }
  }

  @Test func `a migration goes on where an error stopped it`() throws {
    try withStores(2) { stores in
      try Self.fill(stores[0], 3_000)
      var calls = 0
      #expect(throws: Stopped.self) {
        try stores[0].migrate("split", matching: Self.matching, batch: 100) { document in
          calls += 1
          if calls == 1_234 { throw Stopped() }
          Self.split(&document)
        }
      }
      #expect(try stores[0].count(Self.matching) == 3_000 - 1_200)
      // Another connection goes on.
      var progress: [Int] = []
      let saved = try stores[1].migrate(
        "split", matching: Self.matching, batch: 600, progress: { progress += [$0, $1] }
      ) {
        Self.split(&$0)
      }
      #expect(saved == 1_800 && progress == [1_800, 3_000, 2_400, 3_000, 3_000, 3_000, 3_000, 3_000])
      try Self.expectChangedOnce(stores[0], 3_000)
    }
  }

  @Test func `two connections share a migration`() async throws {
    try withStores(2) { stores in
      try Self.fill(stores[0], 4_000)
      let saved = Mutex([Int]())
      let errors = Mutex([any Error]())
      DispatchQueue.concurrentPerform(iterations: 4) { number in
        do {
          let count = try stores[number % 2].migrate("split", matching: Self.matching, batch: 50) {
            Self.split(&$0)
          }
          saved.withLock { $0.append(count) }
        } catch {
          errors.withLock { $0.append(error) }
        }
      }
      #expect(errors.withLock { $0.isEmpty } && saved.withLock { $0.reduce(0, +) } == 4_000)
      try Self.expectChangedOnce(stores[1], 4_000)
    }
  }

  @Test func `a cancelled migration keeps its batches`() async throws {
    try await withTemporaryDatastore { store in
      try Self.fill(store, 1_000)
      let task = Mutex<Task<Int, any Error>?>(nil)
      let isKnown = DispatchSemaphore(value: 0)
      let started = Task {
        try await store.migrate(
          "split", matching: Self.matching, batch: 100,
          progress: { done, _ in if done == 300 { task.withLock { $0?.cancel() } } }
        ) { document in
          isKnown.wait()
          isKnown.signal()
          Self.split(&document)
        }
      }
      task.withLock { $0 = started }
      isKnown.signal()
      await #expect(throws: CancellationError.self) { try await started.value }
      #expect(try await store.count(Self.matching) == 700)
      let saved = try await store.migrate("split", matching: Self.matching) { Self.split(&$0) }
      #expect(saved == 700)
      try Self.expectChangedOnce(store, 1_000)
    }
  }

  @Test func `a migration that was killed goes on`() async throws {
    let directory = try temporaryDirectory()
    defer { removeDirectory(directory) }
    let manager = try DatastoreManager(directory: directory)
    defer { manager.close() }
    let store = try await manager.datastore(named: "store")
    try Self.fill(store, 2_000)
    for round in 1...2 {
      let (status, _) = try await BuiltProgram("cdt-store-worker", ["migrate", directory, "450"]).ended()
      #expect(status != 0)
      #expect(try await store.count(Self.matching) == 2_000 - round * 400)
    }
    #expect(
      try await store.migrate("split", matching: Self.matching, batch: 100) { Self.split(&$0) } == 1_200)
    try Self.expectChangedOnce(store, 2_000)
  }

  @Test func `every version of a conflict that matches is changed`() throws {
    try withTemporaryDatastore { store in
      try store.createDocument(from: DocumentDraft(id: "a", body: ["name": "x"]))
      let first = try store.document(withID: "a").revisionID
      let rival = try #require(RevisionID("2-0"))
      try store.updateDocument(withID: "a") { $0.body["name"] = "y" }
      try store.write {
        try $0.forceInsert(
          DocumentRevision(id: "a", revisionID: rival, body: ["name": "z"]), history: [rival, first])
      }
      #expect(try store.migrate("split", matching: Self.matching) { Self.split(&$0) } == 2)
      let names = try store.read { try $0.currentRevisions(ofDocument: "a") }.compactMap {
        $0.body["name"]?["first"]
      }
      #expect(Set(names) == ["y", "z"])
    }
  }

  @Test func `two devices that migrate the same document do not make a conflict`() throws {
    var revisions: [RevisionID] = []
    for _ in 0..<2 {
      try withTemporaryDatastore { store in
        try Self.fill(store, 1)
        try store.migrate("split", matching: Self.matching) { Self.split(&$0) }
        revisions.append(try store.document(withID: "p0000").revisionID)
      }
    }
    #expect(revisions[0] == revisions[1])
  }

  @Test func `a rule stops a migration, and an attachment stays`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      try Self.fill(store, 30)
      try store.updateDocument(withID: "p0003") { document in
        document.attachments["n"] = DocumentAttachment(
          data: Data("x".utf8), name: "n", contentType: "text/plain")
      }
      try store.setRules(["validate_doc_update": ["newDoc": ["_id": ["$ne": "p0015"]]]])
      manager.close()
      let other = try DatastoreManager(
        directory: directory, options: DatastoreOptions(rules: .enforced(as: UserContext(name: "ann"))))
      defer { other.close() }
      let mine = try other.datastore(named: "store")
      #expect(throws: RuleViolation.self) {
        try mine.migrate("split", matching: Self.matching, batch: 10) { Self.split(&$0) }
      }
      #expect(try mine.count(Self.matching) == 20)
      #expect(try mine.document(withID: "p0003").attachments["n"]?.data() == Data("x".utf8))
    }
  }

  @Test func `an invalid selector is refused before anything is remembered`() throws {
    try withTemporaryDatastore { store in
      #expect(throws: QueryError.self) { try store.migrate("x", matching: ["a": ["$gtt": 1]]) { _ in } }
      let remembered = try store.read { try $0.localDocumentIDs() }
      #expect(remembered.isEmpty)
    }
  }
}
