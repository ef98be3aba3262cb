import CDTQuery
import CDTTestSupport
import Foundation
import Testing

@testable import CDTDatastore

/// Who can access the files of a datastore.
@Suite struct FilePermissionTests {
  @Test func `only the user can access what a datastore makes`() throws {
    try withoutUmask {
      try withTemporaryDirectory { directory in
        let manager = try DatastoreManager(directory: "\(directory)/stores")
        defer { manager.close() }
        let store = try manager.datastore(named: "store")
        let attachment = DocumentAttachment(data: Data("cat".utf8), name: "cat", contentType: "text/plain")
        try store.createDocument(
          from: DocumentDraft(id: "a", body: ["name": "mike"], attachments: [attachment]))
        try store.ensureIndexed(["name"])
        try store.ensureIndexed(["name"], .text, name: "words")
        _ = try store.extensionDirectory(named: "other")
        let staged = try store.attachmentFiles.stage { _ in }
        defer { withExtendedLifetime(staged) {} }
        let held = try store.holdState(stop: nil)
        defer { withExtendedLifetime(held) {} }
        let names = try FileManager.default.subpathsOfDirectory(atPath: store.directory)
        let query = "extensions/com.cloudant.sync.query"
        for name in [
          "db.sync", "db.sync-wal", "db.sync-shm", "attachments", "extensions/other", "\(query)/indexes.json",
          "\(query)/indexes.sqlite", "\(query)/indexes.sqlite-wal", "\(query)/indexes.sqlite-shm",
          "\(query)/build.lock",
        ] {
          #expect(names.contains(name), "\(name)")
        }
        // One that is saved, one that is not saved yet, and the lock of the latter.
        #expect(names.count { $0.hasPrefix("attachments/") } == 3)
        for path in names.map({ "\(store.directory)/\($0)" }) + [store.directory, "\(store.directory)/.."] {
          #expect(try permissions(of: path) == (isDirectory(path) ? 0o700 : 0o600), "\(path)")
        }
      }
    }
  }

  @Test func `the umask decides who can access a file that the user asks for`() throws {
    try withTemporaryDatastore { store in
      let attachment = DocumentAttachment(data: Data("cat".utf8), name: "cat", contentType: "text/plain")
      let path = "\(store.directory)/copy"
      try attachment.write(toFile: path)
      let reference = "\(store.directory)/reference"
      #expect(FileManager.default.createFile(atPath: reference, contents: nil))
      #expect(try permissions(of: path) & 0o066 == permissions(of: reference) & 0o066)
    }
  }

  /// The umask is the process's, so only one test may change it.
  private func withoutUmask(_ body: () throws -> Void) rethrows {
    let usual = umask(0)
    defer { umask(usual) }
    try body()
  }

  private func permissions(of path: String) throws -> Int {
    try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
  }

  private func isDirectory(_ path: String) throws -> Bool {
    try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType == .typeDirectory
  }
}
