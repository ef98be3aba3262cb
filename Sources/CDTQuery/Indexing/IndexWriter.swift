import CDTDatastore
import Glibc
import JSON
import SQLite

/// The one connection that writes a datastore's index file, with the documents attached for reading.
package final class IndexWriter: @unchecked Sendable {
  // Sendable without a lock of its own: IndexManager keeps it under its Mutex.

  private let connection: Connection
  private let updater: IndexUpdater
  private let identity: FileIdentity?

  /// Opens the file, made new when it is missing.
  ///
  /// - Throws: ``IndexDamage`` or a corrupt ``SQLiteError`` when the file is not one that this version wrote.
  package init(path: String, datastore: DatastoreAccess) throws {
    let isNew = access(path, F_OK) != 0
    connection = try Connection(path: path, mode: .readWriteCreate)
    updater = IndexUpdater(connection)
    identity = FileIdentity(path)
    do {
      try connection.execute(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536")
      if isNew { try Self.lay(connection, storeID: datastore.storeID) }
      guard try connection.scalar("PRAGMA user_version") == IndexFile.version else {
        throw IndexDamage.unreadable("another version")
      }
      try connection.attach(path: datastore.databasePath, as: "docs")
      try connection.execute("PRAGMA docs.cache_size = -65536")
      try check(storeID: datastore.storeID)
    } catch {
      connection.close()
      throw error
    }
  }

  private static func lay(_ connection: Connection, storeID: String) throws {
    try connection.transaction(.immediate) {
      try connection.execute(IndexFile.creation)
      let statement = try connection.statement(
        "INSERT INTO state SELECT ?1, 0 WHERE NOT EXISTS (SELECT 1 FROM state)")
      try statement.bind(storeID, at: 1)
      try statement.run()
      try connection.execute("PRAGMA user_version = \(IndexFile.version)")
    }
  }

  /// An index of another store, or one that knows more than the documents do, says nothing about these documents.
  private func check(storeID: String) throws {
    let statement = try connection.statement("SELECT store FROM state")
    defer { statement.reset() }
    guard try statement.step(), statement.text(0) == storeID else { throw IndexDamage.foreignStore }
    try catalog().check(
      against: "docs", on: connection,
      lastSequence: connection.scalar("SELECT max(sequence) FROM docs.documents"))
  }

  /// Removes a file that can't be used.
  static func discard(path: String) throws {
    for suffix in ["", "-wal", "-shm"] where unlink(path + suffix) != 0 && errno != ENOENT {
      throw QueryError.failed(
        "the damaged index file \(path) can't be removed: \(String(cString: strerror(errno)))")
    }
  }

  /// Whether the file at the path is still the one that was opened.
  func hasFile(_ path: String) -> Bool {
    FileIdentity(path) == identity
  }

  package func close() {
    connection.close()
  }

  package func catalog() throws -> IndexCatalog {
    try IndexCatalog(reading: connection, schema: "main")
  }

  package func create(_ definition: IndexDefinition) throws {
    try change {
      let insert = try connection.statement(
        """
        INSERT INTO indexes (name, type, fields, watermark, multiple, apart) VALUES (?1, ?2, ?3, 0, 0, 0)
        """)
      try insert.bind(definition.name, at: 1)
      try insert.bind(definition.type.rawValue, at: 2)
      try insert.bind(definition.fieldsJSON.text, at: 3)
      try insert.run()
      try connection.execute(
        IndexFile.tableCreation(number: connection.lastInsertRowID, fields: definition.fields))
    }
  }

  package func delete(_ entry: IndexCatalog.Entry) throws {
    try change {
      try connection.execute(
        """
        DROP TABLE \(IndexFile.table(entry.number));
        DELETE FROM apart WHERE index_number = \(entry.number);
        DELETE FROM indexes WHERE number = \(entry.number)
        """)
    }
  }

  package func empty(_ entry: IndexCatalog.Entry) throws {
    try change {
      try connection.execute(
        """
        DELETE FROM \(IndexFile.table(entry.number));
        DELETE FROM apart WHERE index_number = \(entry.number);
        UPDATE indexes SET watermark = 0, session = NULL, multiple = 0, apart = 0 WHERE number = \(entry.number)
        """)
    }
  }

  /// Brings every index up to the newest document, in transactions of a bounded size.
  ///
  /// - Returns: The sequence up to which the indexes are complete.
  package func catchUp() throws -> Int64 {
    while true {
      let step = try change { try updater.step(catalog: try catalog()) }
      if step.isComplete { return step.watermark }
    }
  }

  package func listIndexes() throws -> [IndexInfo] {
    try catalog().entries.map { entry in
      let table = IndexFile.table(entry.number)
      return IndexInfo(
        definition: entry.definition,
        entries: Int(try connection.scalar("SELECT count(*) FROM \(table)")),
        bytes: Int(try connection.scalar("SELECT sum(pgsize) FROM dbstat WHERE name = '\(table)'")),
        upToSequence: entry.watermark)
    }
  }

  /// A transaction on the index file. Counting the revision up first takes the file's write lock and its snapshot
  /// before the documents' snapshot is taken, and tells readers that the catalog may have changed.
  private func change<R>(_ body: () throws -> R) throws -> R {
    try connection.transaction(.deferred) {
      try connection.execute("UPDATE state SET revision = revision + 1")
      return try body()
    }
  }
}
