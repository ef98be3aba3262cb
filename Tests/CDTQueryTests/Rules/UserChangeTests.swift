import CDTTestSupport
import Synchronization
import Testing

@testable import CDTDatastore
@testable import CDTQuery

/// The user of a manager, who logs in and out while its datastores are open.
@Suite(.timeLimit(.usual)) struct UserChangeTests {
  private static let (anna, bob) = (UserContext(name: "anna"), UserContext(name: "bob"))

  /// Runs `body` with a manager for anna, and a datastore in which each user sees what is theirs.
  private static func withStore<R>(_ body: (DatastoreManager, Datastore) async throws -> R) async throws -> R
  {
    try await withTemporaryDirectory(inMemory: true) { directory in
      var options = DatastoreOptions()
      options.rules = .enforced(as: anna)
      let manager = try DatastoreManager(directory: directory, options: options)
      let store = try await manager.datastore(named: "store")
      try await store.write { transaction in
        transaction.ignoreRules()
        try transaction.setRules([
          "read": [["roles": ["*"], "selector": ["owner": ["$data": "userCtx.name"]]]],
          "validate_doc_update": ["newDoc.owner": ["$data": "userCtx.name"]],
        ])
        for (id, owner) in [("a1", "anna"), ("b1", "bob"), ("a2", "anna")] {
          try transaction.createDocument(from: DocumentDraft(id: id, body: ["owner": .string(owner)]))
        }
      }
      return try await body(manager, store)
    }
  }

  private static func ids(_ store: Datastore) throws -> [String] {
    try store.find([:], sort: ["_id"]).map(\.id)
  }

  @Test func `options have the user as any other property, in any order and with encryption`() throws {
    var first = DatastoreOptions()
    first.rules = .enforced(as: Self.anna)
    first.encryption = .passphrase("secret")
    first.durability = .normal
    var second = DatastoreOptions(encryption: .passphrase("secret"))
    second.durability = .normal
    second.rules = .enforced(as: Self.anna)
    var third = DatastoreOptions(rules: .enforced(as: Self.bob), encryption: .passphrase("secret"))
    #expect(first == second && first != third)
    (third.durability, third.rules) = (.normal, first.rules)
    #expect(first == third)
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory, options: first)
      let store = try manager.datastore(named: "store")
      try store.createDocument(from: DocumentDraft(id: "a", body: [:]))
      let error = #expect(throws: RuleViolation.self) { try store.setRules([:]) }
      #expect(error?.documentID == "_design/rules")
    }
    first.rules = .notEnforced
    second = DatastoreOptions(encryption: .passphrase("secret"))
    second.durability = .normal
    #expect(first == second)
  }

  @Test func `if nobody is logged in, the rules are those for a user without a name`() async throws {
    try await Self.withStore { manager, store in
      manager.rules = .enforced(as: .anonymous)
      #expect(try Self.ids(store) == [])
      let draft = DocumentDraft(id: "a3", body: ["owner": "anna"])
      await #expect(throws: RuleViolation.self) { try await store.createDocument(from: draft) }
      manager.rules = .notEnforced
      #expect(try Self.ids(store) == ["a1", "a2", "b1"])
      try await store.createDocument(from: draft)
    }
  }

  @Test func `a transaction keeps the user with whom it began`() async throws {
    try await Self.withStore { manager, store in
      let (earlier, new) = try await store.read { state in
        manager.rules = .enforced(as: Self.bob)
        return (try state.find(Query([:], sort: ["_id"])).map(\.id), try Self.ids(store))
      }
      #expect(earlier == ["a1", "a2"] && new == ["b1"])
      try await store.write { transaction in
        manager.rules = .enforced(as: Self.anna)
        try transaction.createDocument(from: DocumentDraft(id: "b2", body: ["owner": "bob"]))
      }
      #expect(try Self.ids(store) == ["a1", "a2"])
    }
  }

  @Test func `all datastores of a manager change, also those that it opens later, and no other manager`()
    async throws
  {
    try await Self.withStore { manager, store in
      let other = try DatastoreManager(
        directory: manager.directory, options: DatastoreOptions(rules: .enforced(as: Self.anna)))
      let same = try await other.datastore(named: "store")
      try await manager.closeDatastore(named: "store")
      manager.rules = .enforced(as: Self.bob)
      let reopened = try await manager.datastore(named: "store")
      #expect(try Self.ids(reopened) == ["b1"])
      #expect(try Self.ids(same) == ["a1", "a2"])
    }
  }

  @Test func `live queries run again as the new user`() async throws {
    try await Self.withStore { manager, store in
      var live = try store.live([:]).makeAsyncIterator()
      #expect(try await live.next()?.results.map(\.id) == ["a1", "a2"])
      manager.rules = .enforced(as: Self.bob)
      let update = try #require(try await live.next())
      #expect(update.results.map(\.id) == ["b1"] && update.difference.removals == [0, 1])
      // From here on, those are followed that bob sees.
      try await store.write { transaction in
        transaction.ignoreRules()
        try transaction.createDocument(from: DocumentDraft(id: "a3", body: ["owner": "anna"]))
        try transaction.createDocument(from: DocumentDraft(id: "b2", body: ["owner": "bob"]))
      }
      #expect(try await live.next()?.results.map(\.id) == ["b1", "b2"])
      manager.rules = .notEnforced
      #expect(try await live.next()?.results.map(\.id) == ["a1", "a2", "a3", "b1", "b2"])
    }
  }

  @Test func `a live query that runs while the user changes ends with the results of the last one`()
    async throws
  {
    try await Self.withStore { manager, store in
      for round in 0..<50 {
        let last = round % 2 == 0 ? Self.bob : Self.anna
        let changes = Task.detached {
          for number in 0..<20 { manager.rules = .enforced(as: number % 2 == 0 ? Self.anna : Self.bob) }
          manager.rules = .enforced(as: last)
        }
        var live = try store.live([:]).makeAsyncIterator()
        var results = try await live.next()?.results.map(\.id)
        await changes.value
        while results != (last == Self.bob ? ["b1"] : ["a1", "a2"]) {
          results = try #require(try await live.next()).results.map(\.id)
        }
      }
    }
  }

  @Test func `a document for a view is that of the new user`() async throws {
    try await Self.withStore { manager, store in try await Self.view(manager, store) }
  }

  private struct Owned: DocumentModel {
    var id: String
    var revision: RevisionID?
    var owner: String
  }

  @MainActor private static func view(_ manager: DatastoreManager, _ store: Datastore) async throws {
    let document = LiveDocument(Owned.self, id: "a1", in: store)
    #expect(document.value?.owner == "anna")
    manager.rules = .enforced(as: bob)
    await observe { document.value == nil }
    manager.rules = .enforced(as: anna)
    await observe { document.value?.owner == "anna" }
  }

  @Test func `changes end with an error, also for a listener that waits`() async throws {
    try await Self.withStore { manager, store in
      let seen = Mutex<[String]>([])
      let listener = Task {
        for try await changes in store.liveChanges() {
          seen.withLock { $0 += changes.documents.map(\.id) }
        }
      }
      try await eventually("the changes are listed") { seen.withLock(\.count) == 2 }
      manager.rules = .enforced(as: Self.bob)
      let error = await #expect(throws: DatastoreError.self) { try await listener.value }
      #expect(error?.code == .userChanged)
      #expect(
        error?.message == #""store" has another user since this began; begin again: changes from 0, "#
          + "a replication with the credentials of the user")
      var again = store.liveChanges().makeAsyncIterator()
      #expect(try await again.next()?.documents.map(\.id) == ["b1"])
    }
  }
}
