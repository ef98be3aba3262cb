import CDTDatastore
import CDTReplication
import CDTTestSupport
import Testing

/// Whether the current revision of a document is at the other end.
@Suite(.timeLimit(.usual)) struct PushedTests {
  private static func pushed(
    _ replication: Replication, _ ids: [String] = ["a", "b", "c"], of store: Datastore
  ) async throws -> [String] {
    // Each time another replicator, as after a restart.
    var pushed: [String] = []
    for id in ids where try await Replicator(replication, of: store).hasPushed(id) { pushed.append(id) }
    return pushed
  }

  private static func fill(_ store: Datastore) throws {
    for (number, id) in ["a", "b", "c"].enumerated() {
      try store.createDocument(from: DocumentDraft(id: id, body: ["n": .int(Int64(number))]))
    }
  }

  @Test func `a document is pushed until it is edited, and again after the next run`() async throws {
    try await withServedStore { served in
      let push = Replication(.push, with: try served.database())
      try Self.fill(served.local)
      #expect(try await Self.pushed(push, of: served.local) == [])
      try await served.replicate(.push)
      #expect(try await Self.pushed(push, ["a", "b", "c", "d"], of: served.local) == ["a", "b", "c"])
      try await served.local.updateDocument(withID: "a") { $0.body["n"] = 5 }
      try await served.local.deleteDocument(withID: "b")
      try await served.local.createDocument(from: DocumentDraft(id: "d", body: [:]))
      #expect(try await Self.pushed(push, ["a", "b", "c", "d"], of: served.local) == ["c"])
      try await served.replicate(.both)
      #expect(try await Self.pushed(push, ["a", "b", "c", "d"], of: served.local) == ["a", "b", "c", "d"])
      // It is the checkpoint of these two ends.
      let pull = Replication(.pull, with: try served.database())
      let other = Replication(.push, with: try RemoteDatabase("\(served.url)x"))
      #expect(try await Self.pushed(pull, of: served.local) == [])
      #expect(try await Self.pushed(other, of: served.local) == [])
    }
  }

  @Test func `it is known after a restart, and when the server is gone`() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let target = try await DatastoreManager(directory: "\(directory)/target").datastore(named: "target")
      var manager = try DatastoreManager(directory: "\(directory)/local")
      var store = try await manager.datastore(named: "store")
      try Self.fill(store)
      let push = Replication(.push, with: target)
      try await Replicator(push, of: store).replicate()
      try await manager.closeDatastore(named: "store")
      manager = try DatastoreManager(directory: "\(directory)/local")
      store = try await manager.datastore(named: "store")
      #expect(try await Self.pushed(push, of: store) == ["a", "b", "c"])
      try await store.updateDocument(withID: "c") { $0.body["n"] = 5 }
      #expect(try await Self.pushed(push, of: store) == ["a", "b"])
    }
  }

  @Test func `a document that the filter leaves out is not pushed`() async throws {
    try await withServedStore { served in
      try Self.fill(served.local)
      let filters: [ReplicationFilter] = [
        .selector(["n": ["$gte": 1]]), .documentIDs(["b", "c"]),
        .closure(named: "big") { ($0.body["n"]?.intValue ?? 0) >= 1 },
      ]
      for filter in filters {
        let push = Replication(.push, with: try served.database(), filter: filter)
        try await served.replicate(.push, filter: filter)
        #expect(try await Self.pushed(push, of: served.local) == ["b", "c"])
      }
      let design = Replication(.push, with: try served.database(), filter: .designDocument("a/b"))
      let error = await #expect(throws: ReplicationError.self) {
        try await Replicator(design, of: served.local).hasPushed("b")
      }
      #expect(error?.code == .invalidRequest)
    }
  }

  @Test func `a document that the server has refused is not pushed until it is accepted`() async throws {
    try await withServedStore { served in
      try Self.fill(served.local)
      try served.remote.setRules(["validate_doc_update": ["newDoc.n": ["$lt": 2]]])
      let push = Replication(.push, with: try served.database())
      try await served.replicate(.push)
      #expect(try await Self.pushed(push, of: served.local) == ["a", "b"])
      try served.remote.setRules(["validate_doc_update": ["newDoc.n": ["$lt": 3]]])
      try await served.replicate(.push)
      #expect(try await Self.pushed(push, of: served.local) == ["a", "b", "c"])
    }
  }

  @Test func `a document that was removed, or that was pulled, is not said to be pushed before the next run`()
    async throws
  {
    try await withServedStore { served in
      try Self.fill(served.remote)
      let both = Replication(.both, with: try served.database())
      try await served.replicate(.pull)
      #expect(try await Self.pushed(both, of: served.local) == [])
      try await served.replicate(.push)
      #expect(try await Self.pushed(both, of: served.local) == ["a", "b", "c"])
      try await served.local.write { _ = try $0.purge("a") }
      try await served.replicate(.push)
      #expect(try await Self.pushed(both, of: served.local) == ["b", "c"])
    }
  }
}
