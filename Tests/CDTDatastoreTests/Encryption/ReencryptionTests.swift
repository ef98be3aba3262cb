import CDTDatastore
import CDTPlatform
import CDTQuery
import CDTTestSupport
import Testing

/// That a kill at any moment leaves one of the two forms is in `CommandKillTests`.
@Suite(.timeLimit(.usual)) struct ReencryptionTests {
  private static let secret = "Confidential"
  private static let key = Encryption.key((0..<32).map { UInt8($0) })
  private static let passphrase = Encryption.passphrase("correct horse")

  private func manager(_ directory: String, _ encryption: Encryption?) throws -> DatastoreManager {
    var options = DatastoreOptions(encryption: encryption)
    options.busyTimeout = .milliseconds(200)
    // All transactions are larger than SQLite's caches then.
    options.memoryBudget = 0
    return try DatastoreManager(directory: directory, options: options)
  }

  /// Opens the store of a test.
  private func withStore<R>(
    _ directory: String, _ encryption: Encryption?, _ body: (Datastore) throws -> R
  ) throws -> R {
    let manager = try manager(directory, encryption)
    defer { try? manager.closeDatastore(named: "store") }
    return try body(manager.datastore(named: "store"))
  }

  private func makeStore(_ directory: String, _ encryption: Encryption?) throws {
    try withStore(directory, encryption) { store in
      try store.ensureIndexed(["n"], name: "by_n")
      try store.write { transaction in
        for number in 0..<2_500 {
          var draft = DocumentDraft(
            id: "\(number)", body: ["n": JSONValue(number), "text": .string("\(Self.secret) \(number)")])
          if number % 100 == 0 {
            draft.attachments["file"] = DocumentAttachment(
              data: Data(String(repeating: "\(Self.secret) \(number)", count: 6_000).utf8), name: "file",
              contentType: "text/plain")
          }
          try transaction.createDocument(from: draft)
        }
        try transaction.setLocalDocument(["checkpoint": 7], withID: "local")
      }
      try store.updateDocument(withID: "3") { $0.body["n"] = -3 }
      try store.deleteDocument(withID: "4")
      try store.write { transaction in
        for suffix in ["a", "b"] {
          let revision = RevisionID(generation: 1, suffix: String(repeating: suffix, count: 32))
          try transaction.forceInsert(
            DocumentRevision(id: "conflict", revisionID: revision, body: ["side": .string(suffix)]))
        }
      }
    }
  }

  /// All that a datastore has, as text, with its sequences and its identity.
  private func content(_ directory: String, _ encryption: Encryption?) throws -> [String] {
    try withStore(directory, encryption) { store in
      #expect(try store.checkIntegrity() == [])
      try store.updateIndexes()
      #expect(try store.checkIndexes() == [])
      #expect(try store.find(["n": -3]).map(\.id) == ["3"])
      return try store.read { transaction in
        var lines = [
          "\(store.storeID) \(try transaction.lastSequence()) \(try store.listIndexes().map(\.name))"
        ]
        lines.append("\(try transaction.session(of: transaction.lastSequence()) ?? "")")
        lines.append("\(try transaction.localDocument(withID: "local")?.text ?? "")")
        for change in try transaction.changes().documents {
          lines.append("\(change)")
          for leaf in try transaction.tree(ofDocument: change.id)?.leaves ?? [] {
            let revision = try transaction.document(withID: change.id, revisionID: leaf.id)
            let data = try revision.attachments.map { try $0.data().count }
            lines.append(
              "\(revision.revisionID) \(String(decoding: revision.bodyText, as: UTF8.self)) \(data)")
          }
        }
        return lines
      }
    }
  }

  private func hasSecret(_ directory: String) throws -> Bool {
    for name in try FileManager.default.subpathsOfDirectory(atPath: directory) {
      let path = "\(directory)/\(name)"
      guard try Files.kind(of: path) == .file else { continue }
      if try Data(contentsOf: URL(filePath: path)).range(of: Data(Self.secret.utf8)) != nil { return true }
    }
    return false
  }

  private func code(_ body: () throws -> Void) -> DatastoreError.Code? {
    #expect(throws: DatastoreError.self) { try body() }?.code
  }

  @Test func `a datastore is encrypted, gets another data key, and is plain again`() throws {
    try withTemporaryDirectory { directory in
      try makeStore(directory, nil)
      let before = try content(directory, nil)
      var secret: Encryption?
      var keyFiles = Set<Data>()
      for next in [Self.key, Self.passphrase, Self.passphrase, nil] as [Encryption?] {
        var shown: [(done: Int, total: Int)] = []
        try manager(directory, secret).reencryptDatastore(named: "store", with: next) {
          shown.append(($0, $1))
        }
        #expect(shown.last?.done == shown.last?.total)
        #expect(shown.last?.total == 2_501 + 25)
        #expect(try Files.names(in: directory) == ["store"])
        #expect(try content(directory, next) == before)
        #expect(try hasSecret(directory) == (next == nil))
        if secret != next { #expect(code { try self.withStore(directory, secret) { _ in } } == .wrongKey) }
        if next != nil {
          keyFiles.insert(try Data(contentsOf: URL(filePath: "\(directory)/store/encryption.json")))
        }
        secret = next
      }
      #expect(keyFiles.count == 3)
      #expect(try !Files.exists("\(directory)/store/encryption.json"))
    }
  }

  @Test func `a datastore that is in use, or has another key, stays as it is`() throws {
    try withTemporaryDirectory { directory in
      try makeStore(directory, Self.key)
      let before = try content(directory, Self.key)
      let keyed = try manager(directory, Self.key)
      let open = try manager(directory, Self.key)
      let store = try open.datastore(named: "store")
      #expect(code { try keyed.reencryptDatastore(named: "store", with: Self.passphrase) } == .busy)
      try store.createDocument(from: DocumentDraft(id: "more", body: [:]))
      try store.deleteDocument(withID: "more")
      try open.closeDatastore(named: "store")
      #expect(
        code { try self.manager(directory, nil).reencryptDatastore(named: "store", with: Self.passphrase) }
          == .wrongKey)
      #expect(code { try keyed.reencryptDatastore(named: "store", with: .key([1])) } == .wrongKey)
      #expect(code { try keyed.reencryptDatastore(named: "other", with: nil) } == .notFound)
      #expect(try content(directory, Self.key).count > before.count)
      try keyed.reencryptDatastore(named: "store", with: Self.passphrase)
      #expect(try Files.names(in: directory) == ["store"])
      // Neither has a key.
      try manager(directory, Self.passphrase).reencryptDatastore(named: "store", with: nil)
      #expect(
        code { try self.manager(directory, nil).reencryptDatastore(named: "store", with: nil) } == .wrongKey)
    }
  }

  /// Makes a run fail at an attachment, the last one of a datastore that is not encrypted.
  private func interrupt(_ directory: String, _ old: Encryption?, _ new: Encryption?) throws {
    let attachments = "\(directory)/store/attachments"
    let last = "\(attachments)/\(try Files.names(in: attachments).max() ?? "")"
    try Files.rename(last, to: "\(directory)/aside")
    #expect(
      code { try self.manager(directory, old).reencryptDatastore(named: "store", with: new) } == .notFound)
    try Files.rename("\(directory)/aside", to: last)
  }

  @Test func `an interrupted run is continued, with what the datastore has by then`() throws {
    try withTemporaryDirectory { directory in
      try makeStore(directory, nil)
      try interrupt(directory, nil, Self.key)
      func identities(_ directory: String) throws -> [String: FileIdentity?] {
        let directory = "\(directory)/attachments"
        return Dictionary(
          uniqueKeysWithValues: try Files.names(in: directory).map {
            ($0, FileIdentity("\(directory)/\($0)"))
          })
      }
      let kept = try identities("\(directory)/.store.rekeying/store")
      #expect(kept.count == 24)
      try withStore(directory, nil) { store in
        try store.deleteDocument(withID: "0")
        try store.compact()
        var draft = DocumentDraft(id: "late", body: [:])
        draft.attachments["late"] = DocumentAttachment(
          data: Data("late".utf8), name: "late", contentType: "text/plain")
        try store.createDocument(from: draft)
      }
      let before = try content(directory, nil)
      try manager(directory, nil).reencryptDatastore(named: "store", with: Self.key)
      #expect(try content(directory, Self.key) == before)
      let now = try identities("\(directory)/store")
      #expect(now.count == 25)
      #expect(kept.count { now[$0.key] == $0.value } >= 23)
      #expect(try Files.names(in: directory) == ["store"])
    }
  }

  @Test func `files of an interrupted run are not used for another secret or store`() throws {
    try withTemporaryDirectory { directory in
      try makeStore(directory, nil)
      try interrupt(directory, nil, Self.key)
      try manager(directory, nil).reencryptDatastore(named: "store", with: Self.passphrase)
      #expect(try content(directory, Self.passphrase).count > 2_000)
      #expect(code { try self.withStore(directory, Self.key) { _ in } } == .wrongKey)
      try interrupt(directory, Self.passphrase, nil)
      #expect(try Files.names(in: directory).sorted() == [".store.rekeying", "store"])
      try manager(directory, Self.passphrase).deleteDatastore(named: "store")
      #expect(try Files.names(in: directory) == [])
    }
  }

  @Test func `the asynchronous forms do the same`() async throws {
    try await withTemporaryDirectory { directory in
      try makeStore(directory, nil)
      try await manager(directory, nil).reencryptDatastore(named: "store", with: Self.key)
      try manager(directory, Self.key).changeEncryption(ofDatastoreNamed: "store", to: Self.passphrase)
      #expect(try content(directory, Self.passphrase).count > 2_000)
      let task = Task {
        try await manager(directory, Self.passphrase).reencryptDatastore(named: "store", with: nil)
      }
      task.cancel()
      _ = await task.result
      let isPlain = try !Files.exists("\(directory)/store/encryption.json")
      #expect(try content(directory, isPlain ? nil : Self.passphrase).count > 2_000)
    }
  }

  @Test func `the same call again does nothing, and removes the former files`() throws {
    try withTemporaryDirectory { directory in
      try makeStore(directory, nil)
      let former = "\(directory)/former"
      try FileManager.default.copyItem(atPath: "\(directory)/store", toPath: former)
      try manager(directory, nil).reencryptDatastore(named: "store", with: Self.key)
      let keyFile = try Data(contentsOf: URL(filePath: "\(directory)/store/encryption.json"))
      // As a kill after the exchange leaves them.
      let work = "\(directory)/.store.rekeying"
      let id = try #require(JSONValue(parsing: Array(keyFile))["id"]?.stringValue)
      try Files.makeDirectory(work)
      try Files.rename(former, to: "\(work)/store")
      try Files.replace("\(work)/store/mine.txt", with: [1])
      try Files.replace(
        "\(work)/state.json", with: Array(#"{"store":"x","old":null,"new":"\#(id)"}"#.utf8))
      // A manager that was there before does it, too.
      try manager(directory, nil).reencryptDatastore(named: "store", with: Self.key)
      #expect(try Files.names(in: directory) == ["store"])
      #expect(try Files.exists("\(directory)/store/mine.txt"))
      #expect(try Data(contentsOf: URL(filePath: "\(directory)/store/encryption.json")) == keyFile)
    }
  }

  @Test func `files of other extensions and of the user stay with the datastore`() throws {
    try withTemporaryDirectory { directory in
      try makeStore(directory, nil)
      let path = try withStore(directory, nil) { try $0.extensionDirectory(named: "org.example.more") }
      try Files.makeDirectory("\(path)/inner")
      try Files.replace("\(path)/inner/file", with: Array("content".utf8))
      try Files.replace("\(directory)/store/notes.txt", with: Array("notes".utf8))
      try manager(directory, nil).reencryptDatastore(named: "store", with: Self.key)
      #expect(
        try Data(contentsOf: URL(filePath: "\(path)/inner/file")) == Data("content".utf8))
      #expect(
        try Data(contentsOf: URL(filePath: "\(directory)/store/notes.txt")) == Data("notes".utf8))
      try Files.remove("\(path)/inner/file")
      try FileManager.default.createSymbolicLink(
        atPath: "\(path)/inner/file", withDestinationPath: "/etc/hosts")
      #expect(
        code { try self.manager(directory, Self.key).reencryptDatastore(named: "store", with: nil) } == .io)
      #expect(try content(directory, Self.key).count > 2_000)
    }
  }
}
