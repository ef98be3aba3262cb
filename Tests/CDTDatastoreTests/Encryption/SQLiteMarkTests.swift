import CDTPlatform
import CDTQuery
import CDTTestSupport
import Foundation
import Testing

@testable import CDTDatastore

/// The files of an encrypted datastore begin as a database of SQLite in WAL mode, for iOS, and other programs can't open them.
@Suite(.timeLimit(.usual)) struct SQLiteMarkTests {
  private static let key = Encryption.key((0..<32).map { UInt8($0) })
  private static let databases = ["db.sync", "extensions/com.cloudant.sync.query/indexes.sqlite"]

  private static func manager(
    _ directory: String, _ encryption: Encryption? = key
  ) throws -> DatastoreManager {
    var options = DatastoreOptions(encryption: encryption)
    options.worksInBackground = false
    return try DatastoreManager(directory: directory, options: options)
  }

  private static func fill(_ store: Datastore) throws {
    try store.ensureIndexed(["n"])
    try store.write { transaction in
      for number in 0..<200 {
        try transaction.createDocument(
          from: DocumentDraft(
            id: "\(number)", body: ["n": JSONValue(number), "t": .string(String(repeating: "t", count: 500))])
        )
      }
    }
  }

  private static func header(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(filePath: path)).prefix(24))
  }

  private static func isOfSQLite(_ header: [UInt8]) -> Bool {
    header.starts(with: "SQLite format 3\0".utf8) && header[18...19].elementsEqual([2, 2])
  }

  /// The files with their content, without the index of the log, in which each reader has its place.
  private static func content(_ directory: String) throws -> [String: Data?] {
    var found: [String: Data?] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: directory) where !name.hasSuffix("-shm") {
      found[name] = .some(FileManager.default.contents(atPath: "\(directory)/\(name)"))
    }
    return found
  }

  @Test func `the files begin as those of SQLite in WAL mode`() throws {
    try withTemporaryDirectory { directory in
      do {
        let manager = try Self.manager(directory)
        try Self.fill(manager.datastore(named: "store"))
        try manager.closeDatastore(named: "store")
        for file in Self.databases { #expect(try Self.isOfSQLite(Self.header("\(directory)/store/\(file)"))) }
        let indexes = "\(directory)/store/extensions/com.cloudant.sync.query"
        let names = try FileManager.default.contentsOfDirectory(atPath: indexes)
        #expect(
          names.contains("indexes.sqlite-wal") && !names.contains { $0.hasPrefix("indexes.sqlite.new") })
        try manager.reencryptDatastore(named: "store", with: nil)
        try manager.deleteDatastore(named: "store")
      }
      let plain = try Self.manager(directory, nil)
      try Self.fill(plain.datastore(named: "store"))
      try plain.closeDatastore(named: "store")
      try plain.reencryptDatastore(named: "store", with: Self.key)
      #expect(try Self.isOfSQLite(Self.header("\(directory)/store/db.sync")))
      let store = try Self.manager(directory).datastore(named: "store")
      #expect(try store.find(["n": 7]).map(\.id) == ["7"])
      #expect(try store.checkIntegrity() == [])
    }
  }

  @Test(arguments: [true, false])
  func `another program can neither read nor change them`(isOpen: Bool) throws {
    try withTemporaryDirectory { directory in
      let manager = try Self.manager(directory)
      let store = try manager.datastore(named: "store")
      try Self.fill(store)
      if !isOpen { try manager.closeDatastore(named: "store") }
      let before = try Self.content(directory)
      for file in Self.databases {
        for sql in [
          "SELECT * FROM sqlite_schema", ".recover", "CREATE TABLE t (x)", "PRAGMA user_version = 5",
          "VACUUM",
          "PRAGMA journal_mode = DELETE", "PRAGMA wal_checkpoint(TRUNCATE)",
          "PRAGMA locking_mode = EXCLUSIVE; SELECT * FROM sqlite_schema",
        ] {
          let output = "\(directory).output"
          defer { try? FileManager.default.removeItem(atPath: output) }
          let program = try SpawnedProcess(
            "/usr/bin/sqlite3", ["\(directory)/store/\(file)", sql], in: directory, environment: [:],
            input: .file("/dev/null"), output: .file(output), errors: .file("/dev/null"))
          #expect(program.wait() != 0 || sql == ".recover", "\(sql)")
          let found = try String(contentsOfFile: output, encoding: .utf8)
          #expect(!found.contains("CREATE TABLE") && !found.contains("INSERT"), "\(sql): \(found)")
        }
      }
      #expect(try Self.content(directory) == before)
      let again = try isOpen ? store : manager.datastore(named: "store")
      try again.createDocument(from: DocumentDraft(id: "new", body: ["n": 200]))
      #expect(try again.find(["n": ["$gte": 199]]).count == 2)
      #expect(try again.checkIntegrity() == [] && again.checkIndexes() == [])
    }
  }

  @Test func `a program that has a database open does not hide what a killed process has left in the log`()
    throws
  {
    try withTemporaryDirectory { directory in
      let manager = try Self.manager("\(directory)/running")
      try Self.fill(manager.datastore(named: "store"))
      try FileManager.default.copyItem(atPath: "\(directory)/running", toPath: "\(directory)/killed")
      try manager.closeDatastore(named: "store")
      let file = "\(directory)/killed/store/db.sync"
      try? FileManager.default.removeItem(atPath: "\(file)-shm")
      let output = "\(directory)/output"
      // It keeps its connection after the first error.
      let script =
        ".bail off\n.output \(output)\n.open \(file)\nSELECT * FROM sqlite_schema;\n.print ready\n.system cat \(directory)/pipe\n"
      try script.write(toFile: "\(directory)/script", atomically: true, encoding: .utf8)
      #expect(mkfifo("\(directory)/pipe", 0o600) == 0)
      let program = try SpawnedProcess(
        "/usr/bin/sqlite3", [], in: directory, environment: ["PATH": "/usr/bin:/bin"],
        input: .file("\(directory)/script"), output: .file("/dev/null"), errors: .file("/dev/null"))
      // Opening it waits until the program has come to its last line.
      let pipe = try FileHandle(forWritingTo: URL(filePath: "\(directory)/pipe"))
      let store = try Self.manager("\(directory)/killed").datastore(named: "store")
      #expect(try store.read { try $0.documentCount() } == 200)
      try store.createDocument(from: DocumentDraft(id: "new", body: [:]))
      try pipe.close()
      _ = program.wait()
      #expect(try store.read { try $0.documentCount() } == 201)
      #expect(try store.checkIntegrity() == [])
    }
  }

  @Test func `refuses a log of another program beside an encrypted database`() throws {
    try withTemporaryDirectory { directory in
      do { try Self.fill(Self.manager(directory).datastore(named: "store")) }
      let log = "\(directory)/store/db.sync-wal"
      try Files.removeDirectory(log)
      try Files.makeFile(log)
      let error = datastoreError { try Self.manager(directory).datastore(named: "store") }
      #expect(error?.code == .busy)
      #expect(
        error?.message
          == "\(log) was made by another program, which has opened the encrypted database; end that program, and remove the file"
      )
      try Files.remove(log)
      let store = try Self.manager(directory).datastore(named: "store")
      #expect(try store.read { try $0.documentCount() } == 200)
      #expect(try Files.kind(of: log) == .directory)
    }
  }

  @Test func `a directory in place of the log of a database that is not encrypted is refused`() throws {
    try withTemporaryDirectory { directory in
      do { _ = try Self.manager(directory, nil).datastore(named: "store") }
      try Files.makeDirectory("\(directory)/store/db.sync-wal")
      let error = datastoreError { try Self.manager(directory, nil).datastore(named: "store") }
      #expect(error?.code == .io && error?.message.contains("db.sync-wal is not a regular file") == true)
    }
  }

  @Test func `a file of an earlier version keeps its mark until it gets another data key`() throws {
    try withTemporaryDirectory { directory in
      do { try Self.fill(Self.manager(directory).datastore(named: "store")) }
      let former = Array("CDT encrypted 1\0".utf8)
      for file in Self.databases {
        let path = "\(directory)/store/\(file)"
        let handle = try FileHandle(forUpdating: URL(filePath: path))
        try handle.write(contentsOf: Data(former))
        try handle.seek(toOffset: 20)
        try handle.write(contentsOf: Data([28, 64, 32, 32]))
        try handle.close()
        try Files.removeDirectory("\(path)-wal")
      }
      do {
        let manager = try Self.manager(directory)
        let store = try manager.datastore(named: "store")
        #expect(try store.find(["n": 7]).map(\.id) == ["7"])
        try store.createDocument(from: DocumentDraft(id: "new", body: ["n": 200]))
        try store.compact()
        #expect(try store.checkIntegrity() == [] && store.checkIndexes() == [])
        try manager.closeDatastore(named: "store")
        for file in Self.databases {
          let path = "\(directory)/store/\(file)"
          #expect(try Self.header(path).starts(with: former))
          #expect(try Files.kind(of: "\(path)-wal") == nil)
        }
        try manager.reencryptDatastore(named: "store", with: .passphrase("another passphrase"))
      }
      let store = try Self.manager(directory, .passphrase("another passphrase")).datastore(named: "store")
      try store.updateIndexes()
      #expect(try store.find(["n": ["$gte": 199]]).count == 2)
      for file in Self.databases { #expect(try Self.isOfSQLite(Self.header("\(directory)/store/\(file)"))) }
    }
  }
}
