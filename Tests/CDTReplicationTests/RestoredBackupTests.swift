import CDTDatastore
import CDTReplication
import CDTServerTestSupport
import CDTTestSupport
import Foundation
import Testing

/// A server's store is replaced by an older copy of itself, with the checkpoints of that time.
@Suite struct RestoredBackupTests {
  private static func write(_ ids: ClosedRange<Int>, to store: Datastore, _ prefix: String) async throws {
    for number in ids {
      try await store.createDocument(from: DocumentDraft(id: "\(prefix)\(number)", body: [:]))
    }
  }

  @Test func `documents that the backup lacks are sent again, and later writes arrive`() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let manager = try DatastoreManager(directory: "\(directory)/local")
      let local = try await manager.datastore(named: "local")
      let (served, backup) = ("\(directory)/served", "\(directory)/backup")

      /// Serves the store, lets `change` write to it, and replicates.
      func serve(_ change: (Datastore) async throws -> Void) async throws -> ReplicationResult {
        let manager = try DatastoreManager(directory: served)
        let remote = try await manager.datastore(named: "db")
        try await change(remote)
        let result = try await withServer(of: manager) { server in
          try await Replicator(
            Replication(.both, with: RemoteDatabase("\(server.url)/db")), of: local
          ).replicate()
        }
        try await manager.closeDatastore(named: "db")
        return result
      }

      try await Self.write(1...5, to: local, "ours")
      _ = try await serve { try await Self.write(1...5, to: $0, "theirs") }
      try FileManager.default.copyItem(atPath: served, toPath: backup)
      try await Self.write(6...9, to: local, "ours")
      _ = try await serve { try await Self.write(6...9, to: $0, "theirs") }
      #expect(try await local.read { try $0.documentCount() } == 18)

      try FileManager.default.removeItem(atPath: served)
      try FileManager.default.moveItem(atPath: backup, toPath: served)
      let result = try await serve { try await Self.write(21...22, to: $0, "theirs") }
      #expect(result.pushed.revisionsWritten == 8, "four of each side")
      #expect(result.pulled.revisionsWritten == 2)
      #expect(try await local.read { try $0.documentCount() } == 20)
      let again = try await serve { store in
        let count = try await store.read { try $0.documentCount() }
        #expect(count == 20)
      }
      #expect(again.pushed.revisionsWritten + again.pulled.revisionsWritten == 0)
    }
  }
}
