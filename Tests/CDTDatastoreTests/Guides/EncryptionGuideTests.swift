import CDTDatastore
import CDTTestSupport
import Testing

/// The examples of `docs/encryption.md`, each as it stands there.
@Suite struct EncryptionGuideTests {
  @Test func examples() throws {
    try withTemporaryDirectory { directory in
      let options = DatastoreOptions(encryption: .passphrase("correct horse battery staple"))
      let manager = try DatastoreManager(directory: directory, options: options)
      let store = try manager.datastore(named: "contacts")
      try store.createDocument(from: DocumentDraft(id: "mike", body: ["age": 36]))

      try manager.closeDatastore(named: "contacts")
      try manager.changeEncryption(ofDatastoreNamed: "contacts", to: .passphrase("another passphrase"))

      let former = try DatastoreManager(
        directory: directory, options: DatastoreOptions(encryption: .passphrase("another passphrase")))
      try former.reencryptDatastore(named: "contacts", with: .passphrase("a third one")) { done, total in
        print("\(done) of \(total)")
      }

      let error = #expect(throws: DatastoreError.self) { try manager.datastore(named: "contacts") }
      #expect(error?.code == .wrongKey)
    }
  }

  @Test func `every example of the page is code of this file`() throws {
    try expectExamples(of: "encryption.md", in: #filePath, atLeast: 3)
  }
}
