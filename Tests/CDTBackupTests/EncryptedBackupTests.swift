import CDTBackup
import CDTPlatform
import CDTQuery
import CDTTestSupport
import FoundationEssentials
import Testing

/// The backup of an encrypted datastore is encrypted. That it is what the datastore was, is in ``BackupTests``.
@Suite struct EncryptedBackupTests {
  private let one = Encryption.passphrase("one"), two = Encryption.passphrase("two")

  /// What all words of a test begin with.
  private static let secret = "Confidential"

  /// Opens the store of a test.
  private func withStore(
    in directory: String, _ encryption: Encryption?, _ body: (Datastore) throws -> Void
  ) throws {
    let manager = try DatastoreManager(
      directory: "\(directory)/stores", options: DatastoreOptions(encryption: encryption))
    try body(manager.datastore(named: "store"))
    try manager.closeDatastore(named: "store")
  }

  private func add(_ id: String, to store: Datastore) throws {
    var draft = DocumentDraft(id: "\(Self.secret)-\(id)", body: ["\(Self.secret)Field": .string(Self.secret)])
    draft.attachments[Self.secret] = DocumentAttachment(
      data: Data("\(Self.secret) \(id)".utf8), name: Self.secret, contentType: "text/\(Self.secret)")
    try store.createDocument(from: draft)
  }

  private func code<R>(_ body: () throws -> R) -> DatastoreError.Code? {
    #expect(throws: DatastoreError.self) { _ = try body() }?.code
  }

  @Test func `no word, name or digest is in any file of the backup`() throws {
    try withTemporaryDirectory(inMemory: true) { directory in
      let backup = "\(directory)/backup"
      var digests: [String] = []
      try withStore(in: directory, one) { store in
        try store.ensureIndexed([SortField("\(Self.secret)Field")], name: "\(Self.secret)Index")
        try store.write { try $0.setLocalDocument(["a": .string(Self.secret)], withID: Self.secret) }
        for id in ["a", "b"] {
          try add(id, to: store)
          try store.backup(to: backup)
          let document = try store.document(withID: "\(Self.secret)-\(id)")
          digests += document.attachments.compactMap(\.digest)
        }
      }
      let files = try FileManager.default.subpathsOfDirectory(atPath: backup)
      #expect(files.count == 6)
      #expect(digests.count == 2)
      for name in files {
        #expect(!digests.contains { name.contains($0) }, "\(name)")
        guard try Files.kind(of: "\(backup)/\(name)") == .file else { continue }
        let content = try Data(contentsOf: URL(filePath: "\(backup)/\(name)"))
        #expect(content.range(of: Data(Self.secret.utf8)) == nil, "\(name)")
        #expect(content.range(of: Data("sha256".utf8)) == nil, "\(name)")
      }
    }
  }

  @Test func `another secret, none, and one too many are told`() throws {
    try withTemporaryDirectory(inMemory: true) { directory in
      let backup = "\(directory)/backup"
      try withStore(in: directory, one) { store in
        try add("a", to: store)
        try store.backup(to: backup)
      }
      for encryption in [nil, two, .key([UInt8](repeating: 1, count: 32))] {
        let opened = Backup(directory: backup, encryption: encryption)
        #expect(code { try opened.increments() } == .wrongKey)
        #expect(code { try opened.verify() } == .wrongKey)
      }
      let manager = try DatastoreManager.inMemory()
      let plain = try manager.datastore(named: "plain")
      #expect(code { try plain.restore(from: Backup(directory: backup)) } == .wrongKey)
      #expect(code { try plain.backup(to: backup) } == .wrongKey)
      try plain.restore(from: Backup(directory: backup, encryption: one))
      #expect(try plain.read { try $0.documentCount() } == 1)
      // The other way around.
      try plain.backup(to: "\(directory)/plain")
      #expect(
        code { try Backup(directory: "\(directory)/plain", encryption: one).increments() } == .wrongKey)
      try withStore(in: directory, one) { store in
        #expect(code { try store.backup(to: "\(directory)/plain") } == .wrongKey)
        let report = try store.backup(to: backup)
        #expect(report.bytes == 0)
      }
      try manager.closeDatastore(named: "plain")
      try Files.remove("\(backup)/encryption.json")
      #expect(code { try Backup(directory: backup, encryption: one).verify() } == .corrupt)
      #expect(code { try Backup(directory: backup).verify() } == .corrupt)
    }
  }

  @Test func `a new passphrase is the backup's from the next increment on`() throws {
    try withTemporaryDirectory(inMemory: true) { directory in
      let backup = "\(directory)/backup"
      try withStore(in: directory, one) { store in
        try add("a", to: store)
        try store.backup(to: backup)
      }
      try DatastoreManager(directory: "\(directory)/stores", options: DatastoreOptions(encryption: one))
        .changeEncryption(ofDatastoreNamed: "store", to: two)
      #expect(try Backup(directory: backup, encryption: one).verify() == [])
      // Also if there is nothing to save.
      try withStore(in: directory, two) { store in
        let report = try store.backup(to: backup)
        #expect(report.bytes == 0)
      }
      #expect(code { try Backup(directory: backup, encryption: one).verify() } == .wrongKey)
      #expect(try Backup(directory: backup, encryption: two).verify() == [])
      try withStore(in: directory, two) { store in
        try add("b", to: store)
        try store.backup(to: backup)
      }
      try BackupTests.restored(backup, at: .sequence(1), two) { restored throws in
        #expect(try restored.read { try $0.documentCount() } == 1)
      }
    }
  }

  /// The first run may be killed when there is only the file with the key, and be repeated with another one.
  @Test func `a run that has only begun binds a backup to no key`() throws {
    try withTemporaryDirectory(inMemory: true) { directory in
      let backup = "\(directory)/backup"
      try Files.makeDirectory(backup)
      try Files.replace("\(backup)/encryption.json", with: Array("{}".utf8))
      try Files.replace("\(backup)/encryption.json.new", with: [])
      try withStore(in: directory, one) { store in
        try add("a", to: store)
        try store.backup(to: backup)
      }
      #expect(try Backup(directory: backup, encryption: one).verify() == [])
    }
  }
}
