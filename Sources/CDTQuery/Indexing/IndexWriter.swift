import CDTDatastore
import Glibc
import JSON
import SQLite

/// The one connection that writes a datastore's index file, with the documents attached for reading.
package final class IndexWriter: @unchecked Sendable {
  // Sendable without a lock of its own: IndexManager keeps it under its Mutex.

  private let connection: Connection
  private let updater: IndexUpdater
  /// The file that was opened. Another process may replace it.
  let identity: FileIdentity?

  /// Opens the file, which has to be there.
  ///
  /// - Throws: ``IndexDamage`` or a corrupt ``SQLiteError`` when the file is not one that this version wrote.
  package init(path: String, datastore: DatastoreAccess) throws {
    connection = try Connection(path: path, mode: .readWrite)
    updater = IndexUpdater(connection)
    identity = FileIdentity(path)
    do {
      try connection.execute(Self.settings)
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

  /// A file that is lost is made again, so a commit doesn't wait for the disk. The log is copied as seldom as that of the
  /// documents.
  private static let settings = """
    PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536;
    PRAGMA wal_autocheckpoint = 4000
    """

  /// Makes the file where there is none. It gets its name when it is laid out: nobody meets it half made.
  static func make(path: String, storeID: String) throws {
    let draft = "\(path).new"
    try discard(path: draft)
    let connection = try Connection(path: draft, mode: .readWriteCreate)
    defer { connection.close() }
    try connection.execute(settings)
    try connection.transaction(.immediate) {
      try connection.execute(IndexFile.creation)
      let statement = try connection.statement("INSERT INTO state VALUES (?1, 0)")
      try statement.bind(storeID, at: 1)
      try statement.run()
      try connection.execute("PRAGMA user_version = \(IndexFile.version)")
    }
    connection.close()
    // The log of a file that was here before would be taken for the new one's.
    try discard(path: path)
    guard rename(draft, path) == 0 else {
      throw QueryError.failed("the index file \(path) can't be made: \(String(cString: strerror(errno)))")
    }
  }

  /// An index of another store, or one that knows more than the documents do, says nothing about these documents.
  private func check(storeID: String) throws {
    let statement = try connection.statement("SELECT store FROM state")
    defer { statement.reset() }
    defer { statement.reset() }
    guard try statement.step(), statement.text(0) == storeID else { throw IndexDamage.foreignStore }
    try catalog().check(
      against: "docs", on: connection,
      lastSequence: connection.scalar("SELECT max(sequence) FROM docs.documents"))
  }

  /// Removes a file that can't be used, with its logs.
  static func discard(path: String) throws {
    for suffix in ["", "-wal", "-shm", "-journal"] where unlink(path + suffix) != 0 && errno != ENOENT {
      throw QueryError.failed(
        "the index file \(path) can't be removed: \(String(cString: strerror(errno)))")
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
        INSERT INTO indexes (name, type, fields, settings, watermark, multiple, apart)
        VALUES (?1, ?2, ?3, ?4, 0, 0, 0)
        """)
      try insert.bind(definition.name, at: 1)
      try insert.bind(definition.type.rawValue, at: 2)
      try insert.bind(definition.fieldsJSON.text, at: 3)
      try insert.bind(definition.settings.text, at: 4)
      try insert.run()
      try connection.execute(IndexFile.tableCreation(number: connection.lastInsertRowID, definition))
    }
  }

  package func delete(_ entry: IndexCatalog.Entry) throws {
    try change {
      try connection.execute(
        """
        DROP TABLE \(IndexFile.table(entry));
        DELETE FROM apart WHERE index_number = \(entry.number);
        DELETE FROM statistics WHERE index_number = \(entry.number);
        DELETE FROM indexes WHERE number = \(entry.number)
        """)
    }
  }

  /// Makes an index's table anew, as one whose pages are damaged can't be emptied.
  package func empty(_ entry: IndexCatalog.Entry) throws {
    try change {
      try connection.execute(
        """
        DROP TABLE \(IndexFile.table(entry));
        \(IndexFile.tableCreation(number: entry.number, entry.definition));
        DELETE FROM apart WHERE index_number = \(entry.number);
        DELETE FROM statistics WHERE index_number = \(entry.number);
        UPDATE indexes SET watermark = 0, session = NULL, multiple = 0, apart = 0 WHERE number = \(entry.number)
        """)
    }
  }

  /// Brings every index up to the newest document, in transactions of a bounded size.
  ///
  /// - Parameter limit: How many documents a transaction takes in at most.
  /// - Returns: The sequence up to which the indexes are complete.
  package func catchUp(inStepsOf limit: Int = .max) throws -> Int64 {
    while true {
      let step = try step(atMost: limit)
      if step.isComplete { return step.watermark }
    }
  }

  /// Catches up unless another process is writing to the file.
  func catchUpUnlessBusy(inStepsOf limit: Int) throws -> Int64 {
    let patience = try connection.scalar("PRAGMA busy_timeout")
    try connection.execute("PRAGMA busy_timeout = 0")
    defer { try? connection.execute("PRAGMA busy_timeout = \(patience)") }
    return try catchUp(inStepsOf: limit)
  }

  /// Takes in the next documents, in one transaction.
  func step(
    atMost limit: Int = .max, goesOn: (_ met: Int) -> Bool = { _ in true }
  ) throws -> IndexUpdater.Step {
    try change {
      let catalog = try catalog()
      let step = try updater.step(catalog: catalog, atMost: limit, goesOn: goesOn)
      if step.isComplete { try measure(catalog, watermark: step.watermark) }
      return step
    }
  }

  /// Measures the indexes that have changed much, for the planner.
  private func measure(_ catalog: IndexCatalog, watermark: Int64) throws {
    let due = catalog.entries.filter { StatisticsTable.isDue($0, watermark: watermark) }
    try StatisticsTable(connection).measure(due, watermark: watermark)
  }

  /// How many documents are above the lowest watermark of an index.
  func documentsAhead() throws -> Int {
    try connection.transaction(.deferred) {
      guard let watermark = try catalog().entries.map(\.watermark).min() else { return 0 }
      return Int(try connection.scalar("SELECT count(*) FROM docs.documents WHERE sequence > \(watermark)"))
    }
  }

  package func listIndexes() throws -> [IndexInfo] {
    // One snapshot, as another process may delete an index meanwhile.
    try connection.transaction(.deferred) {
      try catalog().entries.map { entry in
        let table = IndexFile.table(entry)
        return IndexInfo(
          definition: entry.definition,
          entries: Int(try connection.scalar("SELECT count(*) FROM \(table)")),
          bytes: Int(
            try connection.scalar(
              "SELECT sum(pgsize) FROM dbstat WHERE name = '\(table)' OR name GLOB '\(table)_*'")),
          upToSequence: entry.watermark)
      }
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
