import CDTDatastore
import CDTSQLite
import CDTTestSupport
import FoundationEssentials
import Testing

@Suite struct DamagedFileTests {
  /// Runs `body` with the directory of a closed store of one document.
  private func withClosedStore(
    documents: Int = 1, _ body: (_ directory: String, _ file: String) throws -> Void
  ) throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      try store.write { transaction in
        for number in 0..<documents {
          try transaction.createDocument(
            from: DocumentDraft(id: "doc\(number)", body: ["n": .int(Int64(number)), "s": ["a", nil]]))
        }
      }
      try manager.closeDatastore(named: "store")
      try body(directory, "\(directory)/store/db.sync")
    }
  }

  private func openError(_ directory: String) throws -> DatastoreError? {
    let manager = try DatastoreManager(directory: directory)
    return datastoreError { try manager.datastore(named: "store") }
  }

  private func bytes(_ path: String) -> Data? { FileManager.default.contents(atPath: path) }

  @Test func `a newer version is refused and left as it is, byte for byte`() throws {
    try withClosedStore { directory, file in
      let connection = try Connection(path: file, mode: .readWrite)
      try connection.execute("PRAGMA user_version = 99")
      connection.setKeepsLogOnClose(true)
      connection.close()
      let (before, log) = (bytes(file), bytes("\(file)-wal"))
      #expect(log?.isEmpty == false)
      let error = try openError(directory)
      #expect(error?.code == .newerFormat)
      #expect(
        error?.message
          == "\(file) has format 99, but this version supports formats up to 8; use the version that wrote it "
          + "or a later one")
      #expect(bytes(file) == before)
      #expect(bytes("\(file)-wal") == log)
    }
  }

  @Test func `a version below any is damage`() throws {
    try withClosedStore { directory, file in
      try withDatabase(of: "store", in: directory) { try $0.execute("PRAGMA user_version = -3") }
      #expect(
        try openError(directory)?.message
          == "\(file) is damaged: it has format -3; restore it from a backup, or save what can be read with \"cdtquery recover\""
      )
    }
  }

  @Test func `someone else's database is refused and left as it is`() throws {
    try withTemporaryDirectory { directory in
      let file = "\(directory)/store/db.sync"
      try FileManager.default.createDirectory(
        atPath: "\(directory)/store", withIntermediateDirectories: true)
      let connection = try Connection(path: file, mode: .readWriteCreate)
      try connection.execute("CREATE TABLE theirs (x)")
      connection.close()
      let before = bytes(file)
      let error = try openError(directory)
      #expect(error?.code == .corrupt)
      #expect(error?.message == "\(file) is an SQLite database but not a datastore; move it elsewhere")
      #expect(bytes(file) == before)
    }
  }

  @Test func `a file other than a database is corrupt and left as it is`() throws {
    try withClosedStore { directory, file in
      let text = Data(String(repeating: "no database at all ", count: 500).utf8)
      try text.write(to: URL(filePath: file))
      let error = try openError(directory)
      #expect(error?.code == .corrupt)
      #expect(error?.message.hasPrefix("\(file) is damaged: ") == true)
      #expect(
        error?.message.hasSuffix(
          "; restore it from a backup, or save what can be read with \"cdtquery recover\"") == true)
      #expect(bytes(file) == text)
    }
  }

  @Test func `an empty file becomes a store`() throws {
    try withClosedStore { directory, file in
      try Data().write(to: URL(filePath: file))
      let store = DatastoreHolder(try DatastoreManager(directory: directory))
      #expect(try store.datastore().read { try $0.documentCount() } == 0)
    }
  }

  @Test(arguments: ["meta", "documents"]) func `a store without its tables is corrupt`(_ table: String) throws
  {
    try withClosedStore { directory, _ in
      try withDatabase(of: "store", in: directory) { try $0.execute("DROP TABLE \(table)") }
      let manager = try DatastoreManager(directory: directory)
      let error = datastoreError { try manager.datastore(named: "store").read { try $0.documentCount() } }
      #expect(error?.code == .corrupt)
      #expect(error?.message.contains("no such table: \(table)") == true)
    }
  }

  @Test func `a store without its id is corrupt`() throws {
    try withClosedStore { directory, _ in
      try withDatabase(of: "store", in: directory) { try $0.execute("DELETE FROM meta") }
      #expect(try openError(directory)?.code == .corrupt)
    }
  }

  @Test(arguments: ["", "[1]", "7", "{\"a\":1", "nonsense", String(repeating: "[", count: 100_000)])
  func `a body other than an object is an error`(_ body: String) throws {
    try withClosedStore { directory, _ in
      try withDatabase(of: "store", in: directory) { connection in
        let statement = try connection.statement("UPDATE documents SET text = ?1")
        try statement.bind(body, at: 1)
        try statement.run()
      }
      let store = DatastoreHolder(try DatastoreManager(directory: directory))
      let error = datastoreError { try store.datastore().document(withID: "doc0") }
      #expect(error?.code == .corrupt)
      #expect(
        error?.message
          == #"the store is damaged: the body of document "doc0" is not a JSON object; restore it from a backup, or save what can be read with "cdtquery recover""#
      )
      #expect(datastoreError { try store.datastore().read { try $0.allDocuments() } }?.code == .corrupt)
    }
  }

  @Test func `nesting without end in a stored body does not exhaust the stack`() throws {
    try withClosedStore { directory, _ in
      try withDatabase(of: "store", in: directory) { connection in
        let statement = try connection.statement("UPDATE documents SET text = ?1")
        let depth = 20_000
        try statement.bind(
          #"{"_id":"doc0","_rev":"1-a","a":"# + String(repeating: "[", count: depth)
            + String(repeating: "]", count: depth) + "}", at: 1
        )
        try statement.run()
      }
      let store = DatastoreHolder(try DatastoreManager(directory: directory))
      _ = try? store.datastore().document(withID: "doc0")
      #expect(try store.datastore().read { try $0.documentCount() } == 1)
    }
  }

  @Test func `a malformed stored revision id is corrupt`() throws {
    try withClosedStore { directory, _ in
      try withDatabase(of: "store", in: directory) {
        try $0.execute("UPDATE documents SET text = replace(text, substr(text, 23, 34), '0-x')")
      }
      let store = DatastoreHolder(try DatastoreManager(directory: directory))
      for use: (Datastore) throws -> Any in [
        { try $0.document(withID: "doc0") }, { try $0.read { try $0.allDocuments() } }, { try $0.changes() },
        { try $0.deleteDocument(withID: "doc0") },
      ] {
        let error = datastoreError { try use(try store.datastore()) }
        #expect(error?.code == .corrupt)
        #expect(
          error?.message
            == #"the store is damaged: "0-x" is not a revision id; restore it from a backup, or save what can be read with "cdtquery recover""#
        )
      }
    }
  }

  @Test func `the highest generation has no child`() throws {
    try withClosedStore { directory, _ in
      try withDatabase(of: "store", in: directory) {
        try $0.execute(
          "UPDATE documents SET text = replace(text, substr(text, 23, 34), '9223372036854775807-a')")
      }
      let store = DatastoreHolder(try DatastoreManager(directory: directory))
      let error = datastoreError { try store.datastore().deleteDocument(withID: "doc0") }
      #expect(error?.code == .invalidRevision)
      #expect(
        error?.message
          == "revision 9223372036854775807-a has the highest possible generation; copy the document to a new id"
      )
    }
  }

  @Test func `the highest sequence has no successor`() throws {
    try withClosedStore { directory, _ in
      try withDatabase(of: "store", in: directory) {
        try $0.execute("UPDATE documents SET sequence = 9223372036854775807")
      }
      let store = DatastoreHolder(try DatastoreManager(directory: directory))
      datastoreError { try store.datastore().createDocument(from: DocumentDraft(body: [:])) }
      #expect(try store.datastore().read { try $0.documentCount() } == 1)
    }
  }

  @Test func `parents that go round in a circle end the history`() throws {
    try withClosedStore { directory, _ in
      try withDatabase(of: "store", in: directory) {
        try $0.execute("UPDATE documents SET parent = substr(text, 23, 34)")
      }
      let store = DatastoreHolder(try DatastoreManager(directory: directory))
      let document = try store.datastore().document(withID: "doc0")
      #expect(try store.datastore().read { try $0.revisionHistory(of: document) }.count == 1)
    }
  }

  @Test func `a damaged file gives typed errors or documents, never a crash`() throws {
    let seed = testSeed(1)
    var random = SeededGenerator(seed: seed)
    try withClosedStore(documents: 300) { directory, file in
      let sound = try #require(bytes(file))
      for round in 0..<60 {
        var damaged = sound
        if Int.random(in: 0..<4, using: &random) == 0 {
          damaged = Data(damaged.prefix(Int.random(in: 0..<damaged.count, using: &random)))
        } else {
          for _ in 0..<Int.random(in: 1..<200, using: &random) {
            damaged[Int.random(in: 0..<damaged.count, using: &random)] = UInt8.random(
              in: 0...255, using: &random)
          }
        }
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file + suffix) }
        try damaged.write(to: URL(filePath: file))
        let manager = try DatastoreManager(directory: directory)
        for use: (Datastore) throws -> Any in [
          { try $0.read { try $0.documentCount() } }, { try $0.read { try $0.allDocuments() } },
          { try $0.read { try $0.allDocumentIDs() } },
          { try $0.changes() }, { try $0.document(withID: "doc7") },
          { try $0.read { try $0.revisionHistory(of: try $0.document(withID: "doc9")) } },
          { try $0.deleteDocument(withID: "doc3") },
          { try $0.createDocument(from: DocumentDraft(id: "new", body: ["a": 1])) },
          { try $0.updateDocument(from: try $0.document(withID: "doc5")) },
        ] {
          do {
            _ = try use(try manager.datastore(named: "store"))
          } catch is DatastoreError {
          } catch {
            Issue.record("seed \(seed), round \(round): \(error)")
          }
        }
      }
    }
  }
}

/// Opens the datastore of a manager.
struct DatastoreHolder {
  let manager: DatastoreManager

  init(_ manager: DatastoreManager) {
    self.manager = manager
  }

  func datastore() throws -> Datastore { try manager.datastore(named: "store") }
}
