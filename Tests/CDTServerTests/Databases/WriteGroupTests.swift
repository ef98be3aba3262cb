import CDTDatastore
import CDTTestSupport
import Testing

@testable import CDTServer

/// The writes of concurrent requests, which share commits.
@Suite struct WriteGroupTests {
  @Test func `keeps what a write has changed before its error`() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let manager = try DatastoreManager(directory: directory)
      let database = try await OpenDatabase(manager.datastore(named: "db"))
      await #expect(throws: CancellationError.self) {
        try await database.writes.writeWithoutRollback(under: database.rulesOfServer) {
          try $0.createDocument(from: DocumentDraft(id: "a", body: [:]))
          throw CancellationError()
        }
      }
      #expect(try await database.store.read { try $0.documentCount() } == 1)
      try await manager.closeDatastore(named: "db")
    }
  }
}
