import CDTDatastore
import CDTPlatform
import JSON
import SQLite

/// A connection that writes the index file, with the documents attached for reading.
///
/// The documents are seen as they were last committed; the write lock of the index file orders everybody who writes there,
/// in this process and in others: the turns of writes (``IndexTurn``), the steps of builds (``IndexBuilder``), and changes
/// of the catalog.
final class IndexConnection {
  let connection: Connection
  /// The file that was opened. Another process may replace it.
  let identity: FileIdentity?
  private let memory: MemoryShare?
  private let databasePath: String

  /// The name under which the documents are attached.
  static let documents = "docs"

  /// Opens the file, which has to be there.
  ///
  /// - Parameter isOfTurn: Whether it is the one that keeps the indexes up to date.
  /// - Throws: ``IndexDamage``, or a corrupt ``SQLiteError``, when the file is not one that this version wrote for the
  ///   store.
  init(path: String, of store: Datastore, isOfTurn: Bool = false) throws {
    identity = FileIdentity(path)
    connection = try Connection(path: path, mode: .readWrite, busyTimeout: store.busyTimeout)
    let share: Int
    if isOfTurn {
      share = store.memory.writerShare
      memory = nil
    } else {
      let borrowed = store.memory.borrow()
      share = borrowed.bytes
      memory = consume borrowed
    }
    databasePath = store.databasePath
    do {
      // A file that is lost is made again, so a commit does not wait for the disk.
      try connection.execute("PRAGMA synchronous = NORMAL")
      try connection.setCacheSize(share / 2)
      guard try connection.scalar("PRAGMA user_version") == IndexFile.version else {
        throw IndexDamage.unreadable("another version")
      }
      try connection.attach(path: store.databasePath, as: Self.documents)
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

  /// Creates the file with empty indexes. It gets its name last, so nobody finds it half made.
  static func createFile(_ path: String, storeID: String, indexes definitions: [IndexDefinition]) throws {
    let draft = "\(path).new"
    try discardFile(draft)
    let connection = try Connection(path: draft, mode: .readWriteCreate)
    defer { connection.close() }
    try connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
    try connection.transaction(.immediate) {
      try connection.execute(IndexFile.creation)
      let statement = try connection.statement("INSERT INTO state VALUES (?1, 0, 0, NULL)")
      try statement.bind(storeID, at: 1)
      try statement.run()
      for definition in definitions { try insert(definition, on: connection) }
      try connection.execute("PRAGMA user_version = \(IndexFile.version)")
    }
    connection.close()
    // The log of a file that was here before would be taken for the new one's.
    try discardFile(path)
    do throws(SystemError) {
      try Files.rename(draft, to: path)
    } catch {
      throw DatastoreError(error, "create", path)
    }
  }

  /// Removes a file that can't be used, with its logs.
  static func discardFile(_ path: String) throws {
    for suffix in ["", "-wal", "-shm", "-journal"] {
      do throws(SystemError) {
        try Files.remove(path + suffix)
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

  /// Runs `body`, which reads documents alone: what is wrong with them is not the index file's damage.
  func readingDocuments<R>(_ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let error as SQLiteError {
      throw DatastoreError(error, path: databasePath)
    }
  }

  // MARK: Changing

  /// Runs `body` as one transaction that has the write lock of the index file.
  func writing<R>(_ body: () throws -> R) throws -> R {
    try beginWriting()
    do {
      let result = try body()
      try connection.commit()
      return result
    } catch {
      connection.rollBack()
      throw error
    }
  }

  /// Begins a transaction that has the write lock of the index file, which the caller ends.
  ///
  /// `BEGIN IMMEDIATE` would lock the documents too. A statement that writes locks the file alone to which it writes.
  func beginWriting() throws(SQLiteError) {
    try connection.begin(.deferred)
    do throws(SQLiteError) {
      try connection.statement("UPDATE main.state SET revision = revision WHERE false").run()
    } catch {
      connection.rollBack()
      throw error
    }
  }

  /// Runs a change of the catalog as one transaction; readers will read the catalog anew.
  func changeCatalog<R>(_ body: () throws -> R) throws -> R {
    try writing {
      try countRevision()
      return try body()
    }
  }

  /// Tells readers that the catalog has changed.
  func countRevision() throws(SQLiteError) {
    try connection.statement("UPDATE state SET revision = revision + 1").run()
  }

  func create(_ definition: IndexDefinition) throws {
    try changeCatalog { try Self.insert(definition, on: connection) }
  }

  private static func insert(_ definition: IndexDefinition, on connection: Connection) throws(SQLiteError) {
    let insert = try connection.statement(
      """
      INSERT INTO indexes (name, type, fields, settings, watermark, strays, multiple, apart)
      VALUES (?1, ?2, ?3, ?4, 0, 0, 0, 0)
      """)
    try insert.bind(definition.name, at: 1)
    try insert.bind(definition.type.rawValue, at: 2)
    try insert.bind(definition.fieldsJSON.text, at: 3)
    try insert.bind(definition.settings.text, at: 4)
    try insert.run()
    try connection.execute(IndexFile.tableCreation(number: connection.lastInsertRowID, definition))
  }

  func delete(_ entry: IndexCatalog.Entry) throws {
    try changeCatalog {
      try checkPresence(of: entry)
      try connection.execute(
        """
        DROP TABLE \(IndexFile.table(entry));
        DELETE FROM apart WHERE index_number = \(entry.number);
        DELETE FROM statistics WHERE index_number = \(entry.number);
        DELETE FROM indexes WHERE number = \(entry.number)
        """)
    }
  }

  /// Another process may have deleted the index since the catalog was read.
  private func checkPresence(of entry: IndexCatalog.Entry) throws {
    guard try connection.scalar("SELECT count(*) FROM indexes WHERE number = \(entry.number)") > 0 else {
      throw QueryError.indexGone(entry.definition.name)
    }
  }

  /// Makes an index's table anew, as one whose pages are damaged can't be emptied.
  func empty(_ entry: IndexCatalog.Entry) throws {
    try changeCatalog {
      try checkPresence(of: entry)
      try connection.execute(
        """
        DROP TABLE \(IndexFile.table(entry));
        \(IndexFile.tableCreation(number: entry.number, entry.definition));
        DELETE FROM apart WHERE index_number = \(entry.number);
        DELETE FROM statistics WHERE index_number = \(entry.number);
        UPDATE indexes SET watermark = 0, strays = 0, multiple = 0, apart = 0 WHERE number = \(entry.number)
        """)
    }
  }

  /// Takes note that documents were written without the indexes: by a process that was killed between the two commits, or
  /// by one that does not use indexes. To be called within a transaction that has the write lock.
  ///
  /// What the indexes have of documents that were there before and have changed since is now stray.
  ///
  /// - Parameter state: What the file says of itself.
  /// - Parameter sequence: The newest sequence of the documents that are committed.
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
      UPDATE indexes SET strays = strays + \(haveChanged) WHERE type = '\(IndexType.json.rawValue)'
      """)
    try setSequence(sequence, session: IndexState.session(of: sequence, in: Self.documents, on: connection))
    try countRevision()
  }

  /// Says up to which sequence every write has brought the indexes up to date.
  func setSequence(_ sequence: Int64, session: String?) throws(SQLiteError) {
    let statement = try connection.statement("UPDATE state SET sequence = ?1, session = ?2")
    try statement.bind(sequence, at: 1)
    if let session { try statement.bind(session, at: 2) }
    try statement.run()
  }
}
