import CDTDatastore
import CDTImport
import Foundation
import Testing

/// A manager in asynchronous code, in a directory given by a URL.
@Suite struct AsyncManagerTests {
  @Test func `its datastores are opened, closed and deleted by awaiting`() async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "cdt manager \(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    let manager = try await DatastoreManager(directory: directory)
    #expect(manager.directory == directory.path)
    let store = try await manager.datastore(named: "store")
    #expect(try await manager.datastore(named: "store") === store)
    #expect(try await manager.existingDatastore(named: "store") === store)
    try await store.createDocument(from: DocumentDraft(id: "a", body: ["n": 1]))
    #expect(try await store.run { try $0.sizeOnDisk() } > 0)
    #expect(try await manager.run { try $0.datastoreNames() } == ["store"])
    try await manager.closeDatastore(named: "store")
    let closed = await #expect(throws: DatastoreError.self) {
      try await store.read { try $0.documentCount() }
    }
    #expect(closed?.code == .closed)
    #expect(try await manager.datastore(named: "store").read { try $0.documentCount() } == 1)
    try await manager.run { try $0.deleteDatastore(named: "store") }
    let missing = await #expect(throws: DatastoreError.self) {
      try await manager.existingDatastore(named: "store")
    }
    #expect(missing?.code == .notFound)
    let refused = await #expect(throws: DatastoreError.self) { try await manager.datastore(named: "../x") }
    #expect(refused?.code == .invalidName)
  }

  @Test func `files are given and written as URLs`() async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "cdt files \(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    let manager = try await DatastoreManager(directory: directory)
    let store = try await manager.datastore(named: "store")
    let (picture, documents) = (
      directory.appending(path: "a picture.png"), directory.appending(path: "docs.jsonl")
    )
    try Data([1, 2, 3]).write(to: picture)
    try Data(#"{"_id":"b"}"#.utf8).write(to: documents)
    let saved = try await store.createDocument(
      from: DocumentDraft(
        id: "a", body: [:],
        attachments: [DocumentAttachment(file: picture, name: "p", contentType: "image/png")]))
    let attachment = try #require(saved.attachments["p"])
    #expect(try await attachment.data() == Data([1, 2, 3]))
    try await attachment.write(to: directory.appending(path: "copy"))
    #expect(try Data(contentsOf: directory.appending(path: "copy")) == Data([1, 2, 3]))
    #expect(try await DocumentImporter(into: store).run([documents]).imported == 1)
    #expect(try await store.read { try $0.allDocumentIDs() } == ["a", "b"])
  }
}
