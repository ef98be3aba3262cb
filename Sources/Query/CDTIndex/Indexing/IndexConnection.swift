import CDTDatastore
import CDTJSON
import CDTPlatform
import CDTSQLite

/// A connection that writes the index file, with the documents attached read-only.
///
/// It sees the documents as last committed. The write lock of the index file orders all its writers, in all processes:
/// the updates by writes (``IndexTransaction``), the steps of builds (``IndexBuilder``), and changes of the catalog.
final class IndexConnection {
  let connection: Connection
  /// The opened file. Another process may replace it.
  let identity: FileIdentity?
  private let memory: MemoryShare?
  private let databasePath: String

  /// The schema name of the attached documents.
  static let documents = "docs"

  /// Opens the file, which must exist.
  ///
  /// - Parameter isWriter: Whether the connection is the one that updates the indexes with each write.
  /// - Throws: ``IndexDamage``, or a corrupt ``SQLiteError``, if the file was not written by this version for the
  ///   store.
  init(path: String, of store: Datastore, isWriter: Bool = false) throws {
    let lock = try store.stayInPlace()
    defer { _ = lock }
    identity = FileIdentity(path)
    try IndexFile.checkKind(path)
    let access = try store.access.isReadOnly ? FileAccess.of(path) : .readWrite
    // An index file that could be written to is only read beside documents that can only be read.
    let mode = store.access.isReadOnly && !access.isReadOnly ? .readOnly : access.mode
    connection = try Connection(
      path: path, mode: mode, busyTimeout: store.busyTimeout, in: store.directory, cipher: store.keys?.indexes
    )
    let share: Int
    if isWriter {
      share = store.memory.indexShare
      memory = nil
    } else {
      let borrowed = store.memory.borrow(store.memory.indexShare / 2)
      share = borrowed.bytes
      memory = consume borrowed
    }
    databasePath = store.databasePath
    do {
      try connection.join(store.suspension)
      // A lost file is rebuilt, so a commit does not wait for the disk.
      try connection.execute("PRAGMA synchronous = NORMAL")
      try connection.countLog()
      try connection.setCacheSize(share / 2)
      try readingDocuments {
        try connection.attach(
          path: store.databasePath, as: Self.documents, isImmutable: store.access.isImmutable,
          cipher: store.keys?.documents)
      }
      try connection.setCacheSize(share / 4, of: Self.documents)
      try connection.transaction(.deferred) {
        try IndexState(reading: connection, schema: "main", storeID: store.storeID)
          .checkHistory(of: Self.documents, on: connection, lastSequence: lastSequence())
      }
    } catch {
      close()
      throw error
    }
  }

  func close() {
    connection.close()
  }

  deinit {
    close()
  }

  /// Creates the file with empty indexes. It is renamed last, so that an incomplete file is never opened.
  static func createFile(_ path: String, of store: Datastore, indexes definitions: [IndexDefinition]) throws {
    let draft = "\(path).new"
    try discardFile(draft, of: store)
    let connection = try Connection(path: draft, mode: .readWriteCreate, cipher: store.keys?.indexes)
    defer { connection.close() }
    try connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
    try connection.transaction(.immediate) {
      try connection.execute(IndexFile.creation)
      let statement = try connection.statement("INSERT INTO state VALUES (?1, 0, 0, NULL)")
      try statement.bind(store.storeID, at: 1)
      try statement.run()
      for definition in definitions { try insert(definition, on: connection) }
      try connection.execute("PRAGMA user_version = \(IndexFile.version)")
    }
    connection.close()
    try store.exclusive {
      // SQLite would apply the log of a previous file to the new one.
      try discardFile(path, of: store)
      do throws(SystemError) {
        // The file itself is last, also after a power failure: without it, what is beside it is removed.
        if store.keys != nil {
          try Files.rename(draft + LogFile.sealsSuffix, to: path + LogFile.sealsSuffix)
          try Files.synchronizeDirectory(of: path)
        }
        try Files.rename(draft, to: path)
        try LogFile.remove(draft + LogFile.suffix)
      } catch {
        throw DatastoreError(error, "create", path)
      }
    }
  }

  /// Removes an unusable file and its logs.
  private static func discardFile(_ path: String, of store: Datastore) throws {
    for suffix in [""] + LogFile.suffixes {
      do throws(SystemError) {
        // Without encryption, a directory is somebody else's.
        if store.keys == nil { try Files.remove(path + suffix) } else { try LogFile.remove(path + suffix) }
      } catch {
        throw DatastoreError(error, "remove", path + suffix)
      }
    }
  }

  // MARK: Reading

  func state() throws -> IndexState { try IndexState(reading: connection, schema: "main") }

  func catalog(known: IndexCatalog = .empty) throws -> IndexCatalog {
    try IndexCatalog(reading: connection, schema: "main", known: known)
  }

  /// The newest sequence of any document.
  func lastSequence() throws -> Int64 {
    try readingDocuments { try connection.scalar("SELECT max(sequence) FROM \(Self.documents).documents") }
  }

  /// Runs `body`, which only reads documents: their errors are not damage of the index file.
  func readingDocuments<R>(_ body: () throws -> R) throws -> R {
    try FileSystem.reading(databasePath, body)
  }

  // MARK: Changing

  /// Runs `body` as a transaction with the write lock of the index file.
  func writing<R>(_ body: () throws -> R) throws -> R {
    try beginWriting()
    do {
      let result = try body()
      try commit()
      return result
    } catch {
      connection.rollBack()
      throw error
    }
  }

  /// Commits, and checkpoints the log when it is long.
  func commit() throws(SQLiteError) {
    try connection.commit()
    try connection.shortenLog()
  }

  /// Begins a transaction with the write lock of the index file. The caller ends it.
  ///
  /// `BEGIN IMMEDIATE` would lock the documents too. A write statement locks only the file that it writes.
  func beginWriting() throws(SQLiteError) {
    try connection.begin(.deferred)
    do throws(SQLiteError) {
      try connection.statement("UPDATE main.state SET revision = revision WHERE false").run()
    } catch {
      connection.rollBack()
      throw error
    }
  }

  /// Runs a change of the catalog as one transaction, after which readers reload the catalog.
  ///
  /// Unlike index rows, the catalog is on disk when the call returns: an index that was created is there after a power
  /// failure.
  func changeCatalog<R>(_ body: () throws -> R) throws -> R {
    try connection.execute("PRAGMA synchronous = FULL")
    defer { try? connection.execute("PRAGMA synchronous = NORMAL") }
    return try writing {
      try countRevision()
      return try body()
    }
  }

  /// Tells readers to reload the catalog.
  func countRevision() throws(SQLiteError) {
    try connection.statement("UPDATE state SET revision = revision + 1").run()
  }

  func create(_ definition: IndexDefinition) throws {
    try changeCatalog { try Self.insert(definition, on: connection) }
  }

  private static func insert(_ definition: IndexDefinition, on connection: Connection) throws(SQLiteError) {
    let insert = try connection.statement(
      """
      INSERT INTO indexes (name, type, fields, settings, options, watermark, stale_rows, multiple, overflow)
      VALUES (?1, ?2, ?3, ?4, ?5, 0, 0, 0, 0)
      """)
    try insert.bind(definition.name, at: 1)
    try insert.bind(definition.type.rawValue, at: 2)
    try insert.bind(definition.fieldsJSON.text, at: 3)
    try insert.bind(definition.settings.text, at: 4)
    try insert.bind(definition.otherOptions.text, at: 5)
    try insert.run()
    try connection.execute(IndexFile.tableCreation(number: connection.lastInsertRowID, definition))
  }

  func delete(_ entry: IndexCatalog.Entry) throws {
    try removeContent(of: entry, "DELETE FROM indexes WHERE number = \(entry.number)")
  }

  /// Recreates an index's table, because a table with damaged pages can't be emptied.
  func empty(_ entry: IndexCatalog.Entry) throws {
    try removeContent(
      of: entry,
      """
      \(IndexFile.tableCreation(number: entry.number, entry.definition));
      UPDATE indexes SET watermark = 0, stale_rows = 0, multiple = 0, overflow = 0 WHERE number = \(entry.number)
      """)
  }

  private func removeContent(of entry: IndexCatalog.Entry, _ then: String) throws {
    // A table can't be removed without FTS5. The file that replaces this one is made from the definitions.
    guard entry.definition.isUsable else { throw IndexDamage.unreadable(IndexDefinition.unusableReason) }
    try changeCatalog {
      // Another process may have deleted the index since the catalog was read.
      guard try connection.scalar("SELECT count(*) FROM indexes WHERE number = \(entry.number)") > 0 else {
        throw QueryError.indexGone(entry.definition.name)
      }
      try connection.execute(
        """
        \(IndexFile.tableRemoval(entry));
        DELETE FROM overflow WHERE index_number = \(entry.number);
        DELETE FROM statistics WHERE index_number = \(entry.number);
        \(then)
        """)
    }
  }

  /// Records that documents were written without the indexes, by a process that was killed between the two commits or
  /// one that does not use indexes. Call it in a transaction with the write lock.
  ///
  /// Index rows of documents that changed in these writes are now stale.
  ///
  /// - Parameter state: The state recorded in the file.
  /// - Parameter sequence: The newest committed sequence of the documents.
  func noteMissedWrites(after state: IndexState, upTo sequence: Int64) throws {
    guard sequence >= state.sequence else { throw IndexDamage.foreignHistory }
    let haveChanged = try connection.scalar(
      """
      SELECT EXISTS (SELECT 1 FROM \(Self.documents).documents
                      WHERE sequence > \(state.sequence) AND number <= \(state.sequence))
      """)
    try connection.execute(
      """
      UPDATE indexes SET watermark = \(state.sequence) WHERE watermark IS NULL;
      UPDATE indexes SET stale_rows = stale_rows + \(haveChanged)
       WHERE type IN ('\(IndexType.json.rawValue)', '\(IndexType.place.rawValue)')
      """)
    try setSequence(sequence, session: WriterSession.token(of: sequence, in: Self.documents, on: connection))
    try countRevision()
  }

  /// Records that the writes after a state are not in the text indexes, for a process that has FTS5 to add them.
  func leaveOutTexts(after state: IndexState) throws {
    try connection.execute(
      """
      UPDATE indexes SET watermark = \(state.sequence)
       WHERE watermark IS NULL AND type = '\(IndexType.text.rawValue)'
      """)
    if connection.changes > 0 { try countRevision() }
  }

  /// Records the sequence up to which every write has updated the indexes.
  func setSequence(_ sequence: Int64, session: String?) throws(SQLiteError) {
    let statement = try connection.statement("UPDATE state SET sequence = ?1, session = ?2")
    try statement.bind(sequence, at: 1)
    if let session { try statement.bind(session, at: 2) }
    try statement.run()
  }
}
