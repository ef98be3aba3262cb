import CDTJSON
import CDTTestSupport
import Testing

@testable import CDTDatastore
@testable import CDTQuery

/// A datastore that is opened for a user.
@Suite(.timeLimit(.usual)) struct UserReadingTests {
  static func rule(_ field: String) -> JSONObject {
    ["read": [["roles": ["*"], "selector": [field: ["$data": "userCtx.name"]]]]]
  }

  /// Runs `body` with a datastore opened for anna, who sees the documents whose owner she is.
  private static func withStore(_ body: (Datastore) async throws -> Void) async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let options = DatastoreOptions(rules: .enforced(as: UserContext(name: "anna")))
      let manager = try DatastoreManager(directory: directory, options: options)
      let store = try await manager.datastore(named: "store")
      try await store.write { transaction in
        transaction.ignoreRules()
        try transaction.setRules(rule("owner"))
        for (number, owner) in ["anna", "bob", "anna", "bob"].enumerated() {
          let body: JSONObject = ["owner": .string(owner), "reader": "anna", "n": .int(Int64(number))]
          try transaction.createDocument(from: DocumentDraft(id: "d\(number)", body: body))
        }
      }
      try await body(store)
      manager.close()
    }
  }

  @Test func `a live query follows what the user sees`() async throws {
    try await Self.withStore { store in
      var live = try store.live([:], limit: 10).makeAsyncIterator()
      #expect(try await live.next()?.results.map(\.id) == ["d0", "d2"])
      try await store.write { transaction in
        transaction.ignoreRules()
        try transaction.updateDocument(withID: "d1") { $0.body["owner"] = "anna" }
        try transaction.updateDocument(withID: "d0") { $0.body["owner"] = "bob" }
      }
      #expect(try await live.next()?.results.map(\.id) == ["d1", "d2"])
      // A changed rule changes no document.
      try await store.write { transaction in
        transaction.ignoreRules()
        try transaction.setRules(Self.rule("reader"))
      }
      #expect(try await live.next()?.results.map(\.id) == ["d0", "d1", "d2", "d3"])
      try await store.write { _ = try $0.purge("d1") }
      #expect(try await live.next()?.results.map(\.id) == ["d0", "d2", "d3"])
    }
  }

  @Test func `a conflict is resolved although the user does not see the common ancestor`() async throws {
    try await Self.withStore { store in
      let base = try await store.write { transaction in
        transaction.ignoreRules()
        let base = try transaction.document(withID: "d1")
        for (suffix, n) in [("b", 2), ("c", 3)] as [(String, Int64)] {
          let revision = RevisionID(generation: base.revisionID.generation + 1, suffix: suffix)
          let leaf = DocumentRevision(id: "d1", revisionID: revision, body: ["owner": "anna", "n": .int(n)])
          try transaction.forceInsert(leaf, history: [revision, base.revisionID])
        }
        return base
      }
      let result = try await store.write { try $0.resolveConflicts(for: "d1", by: .fields) }
      #expect(result?.hasAncestor == false && result?.conflicts.map(\.path) == ["n"])
      #expect(result?.conflicts[0].base == nil)
      let kept = try await store.write { transaction in
        try transaction.resolveConflicts(for: "d1") { _, leaves, known in
          #expect(known == nil)
          return leaves.last
        }
      }
      #expect(kept?.body["n"] == 2 && kept?.revisionID != base.revisionID)
    }
  }

  @Test func `documents that the user does not see are not included`() async throws {
    try await Self.withStore { store in
      try await store.write { transaction in
        transaction.ignoreRules()
        try transaction.updateDocument(withID: "d0") { $0.body["to"] = ["d1", "d2", "d3"] }
      }
      let query = try Query(["_id": "d0"], include: ["to": "to[]"])
      #expect(try await store.page(query).included["to"]?.map(\.id) == ["d2"])
      var live = store.live(query).makeAsyncIterator()
      #expect(try await live.next()?.included["to"]?.map(\.id) == ["d2"])
      try await store.write { transaction in
        transaction.ignoreRules()
        try transaction.updateDocument(withID: "d1") { $0.body["owner"] = "anna" }
        try transaction.updateDocument(withID: "d2") { $0.body["owner"] = "bob" }
      }
      #expect(try await live.next()?.included["to"]?.map(\.id) == ["d1"])
      #expect(try await store.page(query).included["to"]?.map(\.id) == ["d1"])
    }
  }

  @Test func `live changes are those of documents that the user sees`() async throws {
    try await Self.withStore { store in
      var changes = store.liveChanges().makeAsyncIterator()
      #expect(try await changes.next()?.documents.map(\.id) == ["d0", "d2"])
      try await store.write { transaction in
        transaction.ignoreRules()
        for id in ["d1", "d2"] { try transaction.updateDocument(withID: id) { $0.body["n"] = 9 } }
      }
      #expect(try await changes.next()?.documents.map(\.id) == ["d2"])
    }
  }

  @Test func `a unique index does not name a document that the user does not see`() async throws {
    try await Self.withStore { store in
      try await store.ensureIndexed(["n"], .unique)
      for (n, ids) in [(1, ["new"]), (2, ["new", "d2"])] as [(Int64, [String])] {
        let violation = await #expect(throws: UniqueViolation.self) {
          try await store.createDocument(
            from: DocumentDraft(id: "new", body: ["owner": "anna", "n": .int(n)]))
        }
        #expect(violation?.documentIDs == ids && violation?.key == [.int(n)])
        #expect(violation?.description.contains("d1") == false)
      }
      try await store.write { transaction in
        transaction.ignoreRules()
        for (id, owner) in [("x", "anna"), ("y", "bob"), ("z", "anna")] {
          let body: JSONObject = ["owner": .string(owner), "n": id == "z" ? 2 : 1]
          let revision = RevisionID(generation: 1, suffix: id)
          try transaction.forceInsert(DocumentRevision(id: id, revisionID: revision, body: body))
        }
      }
      #expect(try store.uniqueViolations().map(\.documentIDs) == [["d2", "z"]])
    }
  }

  @Test func `plans and indexes do not count documents that the user does not see`() async throws {
    try await Self.withStore { store in
      try await store.ensureIndexed(["n"])
      let index = try #require(try store.listIndexes().first)
      #expect(index.entries == 0 && index.bytes == 0 && index.statistics == nil)
      #expect(index.json["entries"] == nil && index.name == "n")
      let measured = try await store.read { transaction in
        try QueryEngine(transaction).cursor(Query(["n": ["$gte": 0]])).explanation(measuring: true).json
      }["measured"]
      #expect(measured?["results"] == 2 && measured?["matched"] == 2)
      for name in ["source", "candidates", "unindexed", "keys_examined", "docs_examined"] {
        #expect(measured?[name] == nil)
      }
      #expect(try store.explain(Query(["n": 1])).json["measured"] == nil)
    }
  }

  @Test func `attachments are those of documents that the user sees`() async throws {
    try await Self.withStore { store in
      try await store.write { transaction in
        transaction.ignoreRules()
        for id in ["d0", "d1"] {
          try transaction.updateDocument(withID: id) {
            $0.attachments["a"] = DocumentAttachment(
              data: .init(id.utf8), name: "a", contentType: "text/plain")
          }
        }
      }
      #expect(try await store.read { try $0.attachmentCount() } == 1)
      #expect(try await store.document(withID: "d0").attachments["a"]?.data() == .init("d0".utf8))
      #expect(throws: DatastoreError.self) { try store.document(withID: "d1") }
    }
  }

  private struct Note: DocumentModel {
    var id: String
    var revision: RevisionID?
    var owner: String
  }

  @Test func `documents that the user does not see can't be changed`() async throws {
    try await Self.withStore { store in
      await #expect(throws: RuleViolation.self) { try await store.save(Note(id: "d1", owner: "anna")) }
      let violation = #expect(throws: RuleViolation.self) {
        try store.setRules(Self.rule("reader"))
      }
      #expect(violation?.reason == "you may not change this document")
    }
  }

  @Test func `a write can read documents while it reads others`() async throws {
    try await Self.withStore { store in
      let owners = try store.write { transaction in
        var owners: [JSONValue?] = []
        try transaction.forEachJSON(Query([:])) { _ in
          owners.append(try transaction.document(withID: "d0").body["owner"])
        }
        return owners
      }
      #expect(owners == ["anna", "anna"])
    }
  }
}
