import CDTPlatform
import CDTTestSupport
import FoundationEssentials
import Testing

@testable import CDTDatastore

/// Datastores whose files are gone when nobody holds them or their manager.
@Suite struct TemporaryStoreTests {
  static let kinds: [@Sendable () throws -> DatastoreManager] = [
    { try DatastoreManager.inMemory() }, { try DatastoreManager.temporary() },
  ]

  @Test(arguments: kinds.indices)
  func `the files of a datastore are gone when nobody holds it or its manager`(kind: Int) throws {
    var manager: DatastoreManager? = try Self.kinds[kind]()
    let directory = try #require(manager?.directory)
    var store = try manager?.datastore(named: "store")
    var draft = DocumentDraft(id: "a", body: ["n": 1])
    draft.attachments["x"] = DocumentAttachment(data: Data("abc".utf8), name: "x", contentType: "text/plain")
    try store?.createDocument(from: draft)
    #expect(try store?.checkIntegrity() == [])
    #expect(try FileManager.default.attributesOfItem(atPath: directory)[.posixPermissions] as? Int == 0o700)
    manager = nil
    #expect(try store?.document(withID: "a").attachments["x"]?.data() == Data("abc".utf8))
    store = nil
    #expect(!FileManager.default.fileExists(atPath: directory))
  }

  @Test(arguments: kinds.indices) func `two managers have nothing in common`(kind: Int) throws {
    let managers = try [Self.kinds[kind](), Self.kinds[kind]()]
    try managers[0].datastore(named: "store").createDocument(from: DocumentDraft(id: "a", body: [:]))
    #expect(try managers[1].datastoreNames() == [])
    #expect(try managers[0].datastoreNames() == ["store"])
  }

  @Test func `files of a killed process are removed by the next process`() throws {
    let manager = try DatastoreManager.temporary()
    let parent = URL(filePath: manager.directory).deletingLastPathComponent()
    let (left, shared) = (
      parent.appending(path: "cdtdatastore-left"), parent.appending(path: "cdtdatastore-shared")
    )
    defer { try? FileManager.default.removeItem(at: shared) }
    for (directory, permissions) in [(left, 0o700), (shared, 0o755)] {
      try? FileManager.default.removeItem(at: directory)
      try FileManager.default.createDirectory(
        at: directory.appending(path: "store"), withIntermediateDirectories: true)
      try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: directory.path)
    }
    let other = try DatastoreManager.temporary()
    #expect(!FileManager.default.fileExists(atPath: left.path))
    // Others could have put a link in it.
    #expect(FileManager.default.fileExists(atPath: shared.path))
    #expect(try manager.datastore(named: "store").read { try $0.documentCount() } == 0)
    _ = other
  }

  @Test func `SQLite's name for a database in memory is not a directory`() throws {
    let error = datastoreError { try DatastoreManager(directory: ":memory:") }
    #expect(error?.code == .io)
    #expect(error?.message.contains("inMemory()") == true)
    #expect(!FileManager.default.fileExists(atPath: ":memory:"))
  }
}
