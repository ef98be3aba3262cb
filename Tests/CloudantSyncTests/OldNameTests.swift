import CDTTestSupport
import CloudantSync
import Foundation
import Testing

/// CDTDatastore's names that its guide to documents does not show.
@Suite struct OldNameTests {
  private func withStore(_ body: (Datastore) throws -> Void) throws {
    try withManager { try body(try $0.datastore(named: "store")) }
  }

  private func withManager(_ body: (DatastoreManager) throws -> Void) throws {
    let directory = try temporaryDirectory()
    defer { removeDirectory(directory) }
    let manager = try DatastoreManager(directory: directory)
    defer { try? manager.closeDatastore(named: "store") }
    try body(manager)
  }

  @available(*, deprecated) @Test func `reading documents`() throws {
    try withStore { store in
      let datastore = store
      var saved: [CDTDocumentRevision] = []
      for id in ["a", "b", "c"] {
        var rev = CDTMutableDocumentRevision(docId: id)
        rev.body = ["id": id]
        saved.append(try datastore.createDocumentFromRevision(rev))
      }
      #expect(datastore.getAllDocumentIds() == ["a", "b", "c"])
      #expect(datastore.getAllDocumentsOffset(1, limit: 1, descending: true) == [saved[1]])
      #expect(datastore.getDocumentsWithIds(["c", "x", "a"]) == [saved[2], saved[0]])
      let changed = saved[0].mutableCopy()
      changed.body["more"] = true
      let updated = try datastore.updateDocumentFromRevision(changed)
      #expect(saved[0].copy().body["more"] == nil)
      let first = try #require(saved[0].revId)
      #expect(try datastore.getDocumentWithId("a", rev: first).body == saved[0].body)
      #expect(throws: DatastoreError.self) { try datastore.getDocumentWithId("a", rev: "first") }
      #expect(datastore.getRevisionHistory(updated).map(\.revId) == [updated.revId, first])
      try datastore.compactWithError()
      #expect(throws: DatastoreError.self) { try datastore.getDocumentWithId("a", rev: first) }
      #expect(try datastore.extensionDataFolder("mine").hasSuffix("/store/extensions/mine"))
    }
  }

  @available(*, deprecated) struct OwnProvider: CDTEncryptionKeyProvider {
    func encryptionKey() -> CDTEncryptionKey? { CDTEncryptionKey(data: Data(repeating: 7, count: 32)) }
  }

  @available(*, deprecated) @Test func `encrypted datastores`() throws {
    try withManager { manager in
      let simple = try #require(CDTEncryptionKeySimpleProvider(key: Data(repeating: 7, count: 32)))
      let password = CDTEncryptionKeychainProvider(password: "a password", forIdentifier: "user")
      let providers: [any CDTEncryptionKeyProvider] = [simple, password, CDTEncryptionKeyNilProvider()]
      for (number, provider) in providers.enumerated() {
        let name = "store\(number)"
        var rev = CDTDocumentRevision(docId: "a")
        rev.body = ["n": number]
        try manager.datastoreNamed(name, withEncryptionKeyProvider: provider).createDocument(from: rev)
        manager.closeDatastoreNamed(name)
        let again = try manager.datastoreNamed(name, withEncryptionKeyProvider: provider)
        #expect(try again.getDocument(withId: "a").body["n"] as? Int == number)
        manager.closeDatastoreNamed(name)
        let other = providers[(number + 1) % providers.count]
        let error = #expect(throws: DatastoreError.self) {
          try manager.datastoreNamed(name, withEncryptionKeyProvider: other)
        }
        #expect(error?.code == .wrongKey)
      }
      _ = try manager.datastoreNamed("store0", withEncryptionKeyProvider: OwnProvider())
      manager.closeDatastoreNamed("store0")
      #expect(CDTEncryptionKeySimpleProvider(key: Data([1, 2])) == nil)
      #expect(simple.encryptionKey()?.data == Data(repeating: 7, count: 32))
    }
  }

  @available(*, deprecated) struct PickLowest: CDTConflictResolver {
    func resolve(_ docId: String, conflicts: [CDTDocumentRevision]) -> CDTDocumentRevision? {
      docId == "doc" ? conflicts.last : nil
    }
  }

  @available(*, deprecated) @Test func `resolving conflicts`() throws {
    try withStore { datastore in
      for rev in ["1-a", "1-b"] {
        let revision = try #require(RevisionID(rev))
        try datastore.write {
          try $0.forceInsert(
            DocumentRevision(id: "doc", revisionID: revision, body: ["rev": .string(rev)]))
        }
      }
      #expect(datastore.getConflictedDocumentIds() == ["doc"])
      try datastore.resolveConflictsForDocument("doc", resolver: PickLowest())
      #expect(datastore.getConflictedDocumentIds() == [])
      #expect(try datastore.getDocumentWithId("doc").revId == "1-a")
    }
  }

  @available(*, deprecated) @Test func `indexes and queries`() throws {
    try withStore { datastore in
      for name in ["ann", "bob", "cid"] {
        try datastore.createDocument(from: DocumentDraft(id: name, body: ["name": .string(name)]))
      }
      let name = try datastore.ensureIndexed(["name"], withName: "by_name")
      #expect(name == "by_name")
      try datastore.updateIndexes()
      let result: CDTQResultSet = try datastore.find(["name": ["$gt": "a"]], sort: [["name": "asc"]])
      #expect(result.documentIds == ["ann", "bob", "cid"])
      var seen: [String] = []
      result.enumerateObjectsUsingBlock { rev, index, stop in
        seen.append("\(index) \(rev.docId ?? "")")
        stop.pointee = index == 1
      }
      #expect(seen == ["0 ann", "1 bob"])
      try datastore.deleteIndexNamed("by_name")
      #expect(try datastore.listIndexes().isEmpty)
    }
  }

  @available(*, deprecated) @Test func `a closed datastore gives nothing where nothing could be thrown`()
    throws
  {
    try withManager { manager in
      let datastore = try manager.datastoreNamed("store")
      let rev = try datastore.createDocument(from: DocumentDraft(id: "a", body: [:]))
      let attachment = CDTUnsavedFileAttachment(path: "/nowhere", name: "x", type: "y")
      #expect(attachment.dataFromAttachmentContent() == nil)
      manager.closeDatastoreNamed("store")
      #expect(datastore.getAllDocuments() == [] && datastore.getAllDocumentIds() == [])
      #expect(
        datastore.getDocumentsWithIds(["a"]) == []
          && datastore.getRevisionHistory(CDTDocumentRevision(rev)) == [])
      #expect(datastore.getConflictedDocumentIds() == [] && datastore.getDocumentForId("a") == nil)
    }
  }
}
