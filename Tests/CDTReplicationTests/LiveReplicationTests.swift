import CDTReplication
import CDTTestSupport
import Testing

@testable import CDTDatastore

/// A replication for a view.
@Suite(.timeLimit(.usual)) struct LiveReplicationTests {
  @Test func `a view sees the progress, the end and the time of a run`() async throws {
    try await withStores { left, right in try await Self.run(left, right) }
  }

  @MainActor private static func run(_ left: Datastore, _ right: Datastore) async throws {
    for id in ["a", "b"] { try await left.createDocument(from: DocumentDraft(id: id, body: [:])) }
    let sync = LiveReplication(Replicator(Replication(.push, with: right), of: left))
    #expect(sync.status.state == .stopped && sync.error == nil && sync.lastSynced == nil)
    sync.start()
    sync.start()
    #expect(sync.status.state == .running)
    await observe { sync.status.state == .stopped }
    #expect(sync.status.result.pushed.revisionsWritten == 2 && sync.status.done == 2)
    let first = try #require(sync.lastSynced)
    // What was synchronized is remembered by the next run.
    sync.start()
    #expect(sync.lastSynced == first && sync.status.done == 0)
    await observe { sync.status.state == .stopped }
    #expect(sync.status.result.pushed.revisionsWritten == 0)
    #expect(try #require(sync.lastSynced) >= first)
  }

  @Test func `a continuous run follows changes until it is stopped`() async throws {
    try await withStores { left, right in try await Self.follow(left, right) }
  }

  @MainActor private static func follow(_ left: Datastore, _ right: Datastore) async throws {
    var replication = Replication(.push, with: right)
    replication.isContinuous = true
    let replicator = Replicator(replication, of: left)
    let sync = LiveReplication(replicator)
    sync.start()
    await observe { sync.status.state == .idle }
    try await left.createDocument(from: DocumentDraft(id: "a", body: [:]))
    await observe { sync.status.state == .idle && sync.status.result.pushed.revisionsWritten == 1 }
    replicator.stop()
    await observe { sync.status.state == .stopped }
    #expect(sync.error == nil && sync.lastSynced != nil)
  }

  @Test func `an error ends a run, and is gone with the next one`() async throws {
    try await withServedStore { served in try await Self.fail(served) }
  }

  @MainActor private static func fail(_ served: ServedStore) async throws {
    let database = try RemoteDatabase("\(served.server.url)/missing")
    let sync = LiveReplication(Replicator(Replication(.push, with: database), of: served.local))
    sync.start()
    await observe { sync.error != nil && sync.status.state == .stopped }
    #expect((sync.error as? ReplicationError)?.code == .notFound && sync.lastSynced == nil)
    sync.start()
    #expect(sync.error == nil && sync.status.state == .running)
    await observe { sync.status.state == .stopped }
  }

  @Test func `a run ends with the object`() async throws {
    try await withStores { left, right in
      var replication = Replication(.push, with: right)
      replication.isContinuous = true
      let replicator = Replicator(replication, of: left)
      try await Self.runBriefly(replicator)
      try await eventually("nothing follows the changes") { left.changeListeners.count == 0 }
    }
  }

  @MainActor private static func runBriefly(_ replicator: Replicator) async throws {
    let sync = LiveReplication(replicator)
    sync.start()
    await observe { sync.status.state == .idle }
  }
}
