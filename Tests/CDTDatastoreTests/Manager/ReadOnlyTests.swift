import CDTDatastore
import Foundation
import Testing

/// A store where nothing may be written. Permissions don't hold back root, so the file system itself refuses.
@Suite struct ReadOnlyTests {
  @Test(.enabled(if: MountedDisk.isPossible, MountedDisk.reason))
  func `on a read-only file system every way in is refused, and the store is as it was`() throws {
    try withMountedDisk(bytes: 16 << 20) { disk in
      let saved = try withManager(disk) { manager in
        try manager.datastore(named: "store").createDocument(
          from: DocumentRevision(
            id: "a", body: ["n": 1], attachments: [Attachment(data: Data("x".utf8), name: "x", type: "")]))
      }

      try disk.setReadOnly(true)
      try withManager(disk) { manager in
        let names = try manager.datastoreNames()
        #expect(names == ["store"])
        for name in ["store", "new"] {
          let error = datastoreError { try manager.datastore(named: name) }
          #expect(error?.code == .io)
          #expect(error?.message.contains(disk.directory) == true, "\(error?.message ?? "none")")
        }
        #expect(datastoreError { try manager.deleteDatastore(named: "store") }?.code == .io)
      }
      #expect(datastoreError { try DatastoreManager(directory: "\(disk.directory)/new") }?.code == .io)

      try disk.setReadOnly(false)
      try withManager(disk) { manager in
        let store = try manager.datastore(named: "store")
        let read = try store.document(withID: "a")
        #expect(read == saved)
        let findings = try store.checkIntegrity()
        #expect(findings == [])
      }
    }
  }

  /// Runs `body` with a manager whose datastores are closed afterwards.
  private func withManager<R>(_ disk: MountedDisk, _ body: (DatastoreManager) throws -> R) throws -> R {
    let manager = try DatastoreManager(directory: disk.directory)
    defer { for name in ["store", "new"] { manager.closeDatastore(named: name) } }
    return try body(manager)
  }
}
