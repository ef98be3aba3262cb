import CDTDatastore
import CDTReplication
import CDTTestSupport
import Testing

/// The code of docs/replication.md.
@Suite struct ReplicationGuideTests {
  private static func replicate(_ store: Datastore, with url: String, _ password: String) async throws {
    let database = try RemoteDatabase(url, credentials: .session("ana", password))
    let replicator = Replicator(Replication(.both, with: database), of: store)
    for try await status in replicator.run() { print(status.done, "of", status.total) }
  }

  @MainActor private static func show(_ replicator: Replicator) async {
    let sync = LiveReplication(replicator)
    sync.start()
    await observe { sync.status.state == .stopped && sync.lastSynced != nil }
  }

  @Test func `a run for a view`() async throws {
    try await withStores { left, right in
      let replicator = Replicator(Replication(.both, with: right), of: left)
      await Self.show(replicator)
    }
  }

  @Test func `the page's code is here`() throws {
    try expectExamples(of: "replication.md", in: #filePath, atLeast: 2)
  }

  @Test func `a server without users takes no session`() async throws {
    try await withServedStore { served in
      let error = await #expect(throws: ReplicationError.self) {
        try await Self.replicate(served.local, with: served.url, "password")
      }
      #expect(error?.code == .unauthorized)
    }
  }
}
