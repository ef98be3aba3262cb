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

  private struct Errand: DocumentModel {
    var id: String
    var revision: RevisionID?
  }

  private static func isSaved(_ errand: Errand, by replicator: Replicator) async throws -> Bool {
    let isSaved = try await replicator.hasPushed(errand.id)
    return isSaved
  }

  @MainActor private static func show(_ replicator: Replicator) async {
    let sync = LiveReplication(replicator)
    sync.start()
    await observe { sync.status.state == .stopped && sync.lastSynced != nil }
  }

  @Test func `a run for a view, and a document that has arrived`() async throws {
    try await withStores { left, right in
      let milk = try await left.save(Errand(id: "milk"))
      let replicator = Replicator(Replication(.both, with: right), of: left)
      #expect(try await !Self.isSaved(milk, by: replicator))
      await Self.show(replicator)
      #expect(try await Self.isSaved(milk, by: replicator))
    }
  }

  @Test func `the page's code is here`() throws {
    try expectExamples(of: "replication.md", in: #filePath, atLeast: 3)
    try expectExamples(ofComments: "Sync/CDTReplication/Replicator.swift", in: #filePath) {
      $0.contains("hasPushed")
    }
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
