import CDTBackup
import CDTQuery
import CDTTestSupport
import Testing

/// The examples of `docs/backup.md`, each as it stands there.
@Suite struct BackupGuideTests {
  @Test
  func `a backup is restored and opened at a sequence, read with its passphrase, verified and compared`()
    throws
  {
    try withTemporaryDirectory(inMemory: true) { directory in
      let backup = "\(directory)/backup"
      let stores = try DatastoreManager(directory: "\(directory)/stores")
      let store = try stores.datastore(named: "store")
      try store.createDocument(from: DocumentDraft(id: "a", body: ["n": 1]))

      let report = try store.backup(to: backup)
      print(report.documents, "documents up to sequence", report.increment.sequence)
      #expect(report.documents == 1)
      #expect(try store.read { try $0.lastSequence() } == report.increment.sequence)

      let manager = try DatastoreManager.temporary()
      let restored = try manager.datastore(named: "restored")
      try restored.restore(from: Backup(directory: backup), at: .sequence(report.increment.sequence))

      let sealed = try DatastoreManager(
        directory: "\(directory)/sealed",
        options: DatastoreOptions(encryption: .passphrase("correct horse battery staple")))
      do {
        let (store, backup) = (try sealed.datastore(named: "store"), "\(directory)/other")
        try store.backup(to: backup)

        let opened = Backup(directory: backup, encryption: .passphrase("correct horse battery staple"))
        print(try opened.increments().map(\.time))
        #expect(try opened.increments().count == 1)
        #expect(throws: (any Error).self) {
          try Backup(directory: backup, encryption: .passphrase("another")).increments()
        }

        try sealed.closeDatastore(named: "store")
      }

      let findings = try Backup(directory: backup).verify()
      #expect(findings.isEmpty)

      try store.compare(with: restored) { difference in
        print(difference)
      }
      let (before, _) = try Backup(directory: backup).datastore(at: .sequence(report.increment.sequence))
      print(try before.find(["n": ["$lt": 5]]).count)
      try before.compare(with: store) { difference in
        for field in difference.fields {
          print(difference.documentID, field.path, field.old ?? .null, field.new ?? .null)
        }
      }
      #expect(try before.document(withID: "a") == store.document(withID: "a"))

      func differences() throws -> Int {
        var count = 0
        try store.compare(with: restored) { _ in count += 1 }
        return count
      }
      #expect(try differences() == 0)
      try store.updateDocument(withID: "a") { $0.body["n"] = 2 }
      #expect(try differences() > 0)
      #expect(try restored.document(withID: "a").body["n"] == 1)
      try stores.closeDatastore(named: "store")
    }
  }

  @Test func `every example of the page and of the comments is code of this file`() throws {
    try expectExamples(of: "backup.md", in: #filePath, atLeast: 5)
    try expectExamples(ofComments: "Care/CDTBackup/StoreComparison.swift", in: #filePath)
    try expectExamples(ofComments: "Care/CDTBackup/Backup+State.swift", in: #filePath)
  }
}
