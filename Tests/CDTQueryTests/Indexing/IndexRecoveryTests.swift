import CDTCSQLite
import CDTDatastore
import CDTJSON
import CDTPlatform
import CDTSQLite
import CDTTestSupport
import FoundationEssentials
import Testing

@testable import CDTIndex
@testable import CDTQuery
@testable import CDTSelector

/// Only what is certainly not as the engine wrote it costs an index file.
@Suite struct IndexRecoveryTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let error: any Error
  }

  private static func sqlite(_ name: String, _ code: Int32, _ message: String = "") -> Case {
    Case(testDescription: name, error: SQLiteError(extendedCode: code, message: message))
  }

  static let damages = [
    sqlite("a damaged page", SQLITE_CORRUPT), sqlite("a damaged index", SQLITE_CORRUPT | 3 << 8),
    sqlite("a damaged virtual table", SQLITE_CORRUPT | 1 << 8), sqlite("no database", SQLITE_NOTADB),
    sqlite("a file that is cut short", SQLITE_IOERR | 2 << 8),
    sqlite("a missing table", SQLITE_ERROR, "no such table: query.state"),
    sqlite("a missing column", SQLITE_ERROR, "no such column: e.key"),
    Case(testDescription: "another history", error: IndexDamage.foreignHistory),
    Case(testDescription: "another store", error: IndexDamage.foreignStore),
    Case(testDescription: "another version", error: IndexDamage.unreadable("it has another version")),
  ]

  /// Every result code of SQLite that is none of the above, some of them extended.
  static let others =
    [
      SQLITE_ERROR, SQLITE_INTERNAL, SQLITE_PERM, SQLITE_ABORT, SQLITE_BUSY, SQLITE_LOCKED, SQLITE_NOMEM,
      SQLITE_READONLY, SQLITE_INTERRUPT, SQLITE_IOERR, SQLITE_NOTFOUND, SQLITE_FULL, SQLITE_CANTOPEN,
      SQLITE_PROTOCOL, SQLITE_EMPTY, SQLITE_SCHEMA, SQLITE_TOOBIG, SQLITE_CONSTRAINT, SQLITE_MISMATCH,
      SQLITE_MISUSE, SQLITE_NOLFS, SQLITE_AUTH, SQLITE_FORMAT, SQLITE_RANGE, SQLITE_NOTICE, SQLITE_WARNING,
      // Reading, writing, syncing, memory, locks and shared memory that the system refuses.
      SQLITE_IOERR | 1 << 8, SQLITE_IOERR | 3 << 8, SQLITE_IOERR | 4 << 8, SQLITE_IOERR | 12 << 8,
      SQLITE_IOERR | 15 << 8, SQLITE_IOERR | 18 << 8, SQLITE_IOERR | 21 << 8, SQLITE_BUSY | 1 << 8,
      SQLITE_BUSY | 2 << 8, SQLITE_CANTOPEN | 2 << 8, SQLITE_READONLY | 4 << 8,
    ].map { sqlite("SQLite's code \($0)", $0) } + [
      sqlite("a mistake in SQL", SQLITE_ERROR, #"near "SELEC": syntax error"#),
      sqlite("a message that tells of a table", SQLITE_IOERR, "no such table: query.state"),
      Case(testDescription: "cancellation", error: CancellationError()),
      Case(testDescription: "the system", error: SystemError(24)),
    ]

  @Test(arguments: damages) func `damage is recognized`(_ c: Case) {
    #expect(IndexRecovery.isDamage(c.error))
  }

  @Test(arguments: others) func `other failures are not taken for damage`(_ c: Case) {
    #expect(!IndexRecovery.isDamage(c.error))
  }

  @Test func `indexes are not forgotten if the definitions can't be read`() throws {
    try withTemporaryDirectory { directory in
      let file = DefinitionFile(path: "\(directory)/indexes.json", keys: nil)
      #expect(try file.load() == [])
      let definition = try IndexDefinition(fields: ["a"])
      try file.save([definition])
      #expect(try file.load() == [definition])
      try Data("[{".utf8).write(to: URL(filePath: file.path))
      #expect(try file.load() == [])
      try FileManager.default.removeItem(atPath: file.path)
      try FileManager.default.createDirectory(atPath: file.path, withIntermediateDirectories: false)
      let error = #expect(throws: DatastoreError.self) { try file.load() }
      #expect(error?.code == .io)
      #expect(error?.message.contains(file.path) == true)
    }
  }

  /// The file is attached inside a transaction, and then refused.
  @Test func `a transaction goes on without an index file of another version`() throws {
    let query = try Query(["a": 1])
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      defer { manager.close() }
      var store = try manager.datastore(named: "store")
      try store.ensureIndexed(["a"], name: "a")
      try store.createDocument(from: DocumentDraft(id: "one", body: ["a": 1]))
      let (extensions, aside) = ("\(directory)/store/extensions", "\(directory)/store/aside")
      let indexes = "extensions/\(QueryExtension.extensionName)"
      let path = try store.indexManager().path

      /// Opens the store without indexes; `body` puts them in their place when it wants to.
      func withIndexesAside(_ body: (_ putBack: () throws -> Void) throws -> Void) throws {
        try manager.closeDatastore(named: "store")
        let other = try Connection(path: path, mode: .readWrite)
        try other.execute("PRAGMA user_version = 1")
        other.close()
        try FileManager.default.moveItem(atPath: extensions, toPath: aside)
        store = try manager.datastore(named: "store")
        try body {
          try? FileManager.default.removeItem(atPath: extensions)
          try FileManager.default.moveItem(atPath: aside, toPath: extensions)
        }
        try store.updateIndexes()
        #expect(try store.checkIndexes() == [])
      }

      try withIndexesAside { putBack in
        try store.read { transaction in
          try putBack()
          // Nobody replaces the file meanwhile.
          try IndexLock.whileChanging("\(directory)/store/\(indexes)") { () throws in
            #expect(try transaction.find(query).map(\.id) == ["one"])
          }
        }
      }
      try withIndexesAside { putBack in
        try store.write { transaction in
          try putBack()
          try transaction.createDocument(from: DocumentDraft(id: "two", body: ["a": 1]))
          try IndexLock.whileChanging("\(directory)/store/\(indexes)") { () throws in
            #expect(try transaction.find(query).map(\.id) == ["one", "two"])
          }
        }
      }
      #expect(try store.find(["a": 1]).map(\.id) == ["one", "two"])
    }
  }
}
