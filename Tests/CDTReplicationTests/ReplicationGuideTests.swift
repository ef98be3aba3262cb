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

  @Test func `the page's code is here`() throws {
    try expectExamples(of: "replication.md", in: #filePath, atLeast: 1)
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
