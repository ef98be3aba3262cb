import CDTDatastore
import CDTJSON
import CDTQuery
import CDTReplication
import CDTTestSupport
import Testing

/// Revisions that a rule of the target refuses.
@Suite struct RuleReplicationTests {
  private static let rules: JSONObject = [
    "validate_doc_update": [
      "newDoc.n": ["$gte": 0], "$or": [["oldDoc": nil], ["newDoc.owner": ["$data": "oldDoc.owner"]]],
    ]
  ]

  private static func fill(_ store: Datastore) throws {
    for (id, n) in [("a", 1), ("b", -1), ("c", 2)] {
      try store.createDocument(from: DocumentDraft(id: id, body: ["n": .int(Int64(n)), "owner": "anna"]))
    }
  }

  @Test func `a server refuses revisions that are pushed, and the rest goes on`() async throws {
    try await withServedStore { served in
      try served.remote.setRules(Self.rules)
      try Self.fill(served.local)
      let first = try await served.replicate(.push).pushed
      #expect(first.rejectedCount == 1 && first.rejected.map(\.id) == ["b"])
      #expect(first.rejected[0].reason == "forbidden: newDoc.n: expected at least 0")
      #expect(try await served.remote.read { try $0.allDocumentIDs() } == ["_design/rules", "a", "c"])
      // Once it is corrected, it is sent; its history of a refused revision does not matter.
      _ = try await served.local.updateDocument(withID: "b") { $0.body["n"] = 3 }
      #expect(try await served.replicate(.push).pushed.rejected == [])
      // The owner of the ancestor counts, also of a branch that begins elsewhere.
      _ = try await served.local.updateDocument(withID: "a") { $0.body["owner"] = "bob" }
      #expect(try await served.replicate(.push).pushed.rejected.map(\.id) == ["a"])
    }
  }

  enum End: CaseIterable { case server, store }

  @Test(arguments: End.allCases) func `a user pushes what they see`(_ end: End) async throws {
    try await withServedStore { served in
      try await withTemporaryDirectory(inMemory: true) { directory in
        let options = DatastoreOptions(rules: .enforced(as: UserContext(name: "anna")))
        let manager = try DatastoreManager(directory: directory, options: options)
        let store = try await manager.datastore(named: "store")
        try await store.write { transaction in
          transaction.ignoreRules()
          for (id, owner) in [("mine", "anna"), ("given", "anna"), ("theirs", "bob")] {
            try transaction.createDocument(from: DocumentDraft(id: id, body: ["owner": .string(owner)]))
          }
          try transaction.setRules([
            "read": [["roles": ["*"], "selector": ["owner": ["$data": "userCtx.name"]]]]
          ])
        }
        // The change by which a document leaves what its user sees reaches the server.
        try await store.updateDocument(withID: "given") { $0.body["owner"] = "bob" }
        var replication = Replication(.push, with: try served.database())
        if end == .store { replication.peer = .store(served.remote) }
        let pushed = try await Replicator(replication, of: store).replicate().pushed
        #expect(pushed.rejectedCount == 0)
        let ids = try await served.remote.read { try $0.allDocumentIDs() }
        #expect(ids == (end == .server ? ["given", "mine"] : ["mine"]))
        if end == .server {
          #expect(try await served.remote.document(withID: "given").body["owner"] == "bob")
        }
      }
    }
  }

  /// Runs `body` with a manager for anna and its store, in which each user sees what is theirs.
  private static func withUser(_ body: (DatastoreManager, Datastore) async throws -> Void) async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      var options = DatastoreOptions()
      options.rules = .enforced(as: UserContext(name: "anna"))
      let manager = try DatastoreManager(directory: directory, options: options)
      let store = try await manager.datastore(named: "store")
      try await store.write { transaction in
        transaction.ignoreRules()
        for (id, owner) in [("theirs", "bob"), ("mine", "anna")] {
          try transaction.createDocument(from: DocumentDraft(id: id, body: ["owner": .string(owner)]))
        }
        try transaction.setRules([
          "read": [["roles": ["*"], "selector": ["owner": ["$data": "userCtx.name"]]]]
        ])
      }
      try await body(manager, store)
    }
  }

  @Test(arguments: End.allCases) func `another user of a store pushes what they see`(_ end: End) async throws
  {
    try await withServedStore { served in
      try await Self.withUser { manager, store in
        var replication = Replication(.push, with: try served.database())
        if end == .store { replication.peer = .store(served.remote) }
        let replicator = Replicator(replication, of: store)
        #expect(try await replicator.replicate().pushed.revisionsWritten == 1)
        #expect(try await replicator.hasPushed("mine"))
        #expect(try await !replicator.hasPushed("theirs"))
        manager.rules = .enforced(as: UserContext(name: "bob"))
        #expect(try await !replicator.hasPushed("theirs"))
        #expect(try await replicator.replicate().pushed.revisionsWritten == 1)
        #expect(try await replicator.hasPushed("theirs"))
        #expect(try await !replicator.hasPushed("mine"))
        // The first user goes on where they were.
        manager.rules = .enforced(as: UserContext(name: "anna"))
        #expect(try await replicator.replicate().pushed.changes == 0)
        #expect(try await served.remote.read { try $0.allDocumentIDs() } == ["mine", "theirs"])
      }
    }
  }

  @Test(arguments: [Replication.Direction.push, .pull])
  func `a replication ends with its next step when the store has another user`(
    _ direction: Replication.Direction
  ) async throws {
    try await withServedStore { served in
      try await Self.withUser { manager, store in
        var replication = Replication(direction, with: try served.database())
        replication.isContinuous = true
        var error: DatastoreError?
        do {
          var isChanged = false
          for try await status in Replicator(replication, of: store).run() where status.state == .idle {
            if isChanged { continue }
            isChanged = true
            manager.rules = .enforced(as: UserContext(name: "bob"))
            try await served.remote.createDocument(from: DocumentDraft(id: "new", body: ["owner": "anna"]))
          }
        } catch let found as DatastoreError {
          error = found
        }
        #expect(error?.code == .userChanged)
        manager.rules = .notEnforced
        #expect(try await store.documents(withIDs: ["new"]).isEmpty)
      }
    }
  }

  @Test(arguments: End.allCases) func `a store with rules refuses revisions that it pulls`(_ end: End)
    async throws
  {
    try await withServedStore { served in
      try served.remote.setRules(Self.rules, named: "source")
      try Self.fill(served.remote)
      try await withTemporaryDirectory(inMemory: true) { directory in
        for enforces in [true, false] {
          let options = DatastoreOptions(rules: .enforced(as: UserContext(name: "bob")))
          let manager = try DatastoreManager(directory: directory, options: options)
          let store = try await manager.datastore(named: enforces ? "bound" : "free")
          var replication = Replication(.pull, with: try served.database())
          if end == .store { replication.peer = .store(served.remote) }
          replication.enforcesRules = enforces
          let pulled = try await Replicator(replication, of: store).replicate().pulled
          #expect(pulled.rejected.map(\.id) == (enforces ? ["b"] : []))
          let ids = try await store.read { try $0.allDocumentIDs() }
          #expect(ids == ["_design/source", "a"] + (enforces ? ["c"] : ["b", "c"]))
          await #expect(throws: RuleViolation.self) {
            try await store.createDocument(from: DocumentDraft(body: ["n": -5, "owner": "bob"]))
          }
        }
      }
    }
  }
}
