import CDTPlatform
import FoundationEssentials
import JSON
import SQLite

/// The layout of `db.sync`, and how it is opened.
///
/// `docs/file-format.md` tells what every table and column holds; a test compares it with what is laid here.
package enum DatabaseFile {
  package static let name = "db.sync"

  /// The version of the layout, in `user_version`.
  static let version: Int64 = 4

  /// What marks the file as a datastore's, in `application_id`: "CDTd".
  static let applicationID: Int64 = 0x4344_5464

  /// Every revision that is not its document's winner. Rows are in the order in which they were written, so that an update
  /// adds its own to the last page; by documents, each would go to a page of its own.
  private static let revisions = """
    CREATE TABLE revisions (
      document INTEGER NOT NULL,
      generation INTEGER NOT NULL,
      revision TEXT NOT NULL,
      parent TEXT,
      sequence INTEGER NOT NULL,
      leaf INTEGER NOT NULL,
      deleted INTEGER NOT NULL,
      attachments INTEGER NOT NULL,
      body TEXT,
      PRIMARY KEY (document, generation, revision)
    );
    CREATE INDEX losing_leaves ON revisions (document) WHERE leaf;
    """

  /// A row stays where it was inserted, so that an index entry can name it by its number, whatever becomes of the
  /// document.
  private static let documents = """
    CREATE TABLE documents (
      number INTEGER PRIMARY KEY,
      sequence INTEGER NOT NULL UNIQUE,
      id TEXT NOT NULL UNIQUE,
      revision TEXT NOT NULL,
      parent TEXT,
      written INTEGER,
      leaves INTEGER NOT NULL,
      deleted INTEGER NOT NULL,
      attachments INTEGER NOT NULL,
      body TEXT NOT NULL
    );
    CREATE INDEX tombstones ON documents (number) WHERE deleted;
    CREATE INDEX conflicts ON documents (number) WHERE leaves > 1;
    """

  static let layout = """
    \(documents)
    \(revisions)
    CREATE TABLE attachments (
      document INTEGER NOT NULL,
      revision TEXT NOT NULL,
      name TEXT NOT NULL,
      key BLOB NOT NULL,
      type TEXT NOT NULL,
      length INTEGER NOT NULL,
      revpos INTEGER NOT NULL,
      PRIMARY KEY (document, revision, name)
    ) WITHOUT ROWID;
    CREATE INDEX attachment_keys ON attachments (key);
    CREATE TABLE local_documents (
      id TEXT PRIMARY KEY,
      body TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE sessions (
      start INTEGER PRIMARY KEY,
      token TEXT NOT NULL
    );
    CREATE TABLE meta (
      key TEXT PRIMARY KEY,
      value NOT NULL
    ) WITHOUT ROWID;
    """

  /// What takes each version to the next one, from 1 on.
  private static let upgrades = [
    """
    CREATE INDEX conflicts ON documents (sequence) WHERE leaves > 1;
    CREATE INDEX losing_leaves ON revisions (document) WHERE leaf;
    """,
    // Revisions were in the order of their documents.
    """
    DROP INDEX losing_leaves;
    ALTER TABLE revisions RENAME TO earlier_revisions;
    \(revisions)
    INSERT INTO revisions SELECT * FROM earlier_revisions;
    DROP TABLE earlier_revisions;
    """,
    // Documents were in the order of their sequences.
    """
    DROP INDEX tombstones;
    DROP INDEX conflicts;
    ALTER TABLE documents RENAME TO earlier_documents;
    \(documents)
    INSERT INTO documents
      SELECT number, sequence, id, revision, parent, written, leaves, deleted, attachments, body
        FROM earlier_documents ORDER BY number;
    DROP TABLE earlier_documents;
    """,
  ]

  /// Opens the file, laid out first when it is new, and brought up to date when it is older.
  ///
  /// - Returns: The connection, and what tells the store from every other.
  /// - Throws: ``DatastoreError``; a file of a later version, or of someone else, is left as it is.
  static func openFirst(
    _ path: String, options: DatastoreOptions
  ) throws -> (connection: Connection, storeID: String) {
    // SQLite waits for a lock, but not where two connections would wait for each other, as when both turn a new file
    // to a write-ahead log.
    let deadline = ContinuousClock.now + options.busyTimeout
    return try mapping(path) {
      while true {
        do {
          return try tryOpenFirst(path, options: options)
        } catch let error as SQLiteError where error.isBusy && ContinuousClock.now < deadline {
          Pause.microseconds(5_000)
        }
      }
    }
  }

  private static func tryOpenFirst(
    _ path: String, options: DatastoreOptions
  ) throws -> (connection: Connection, storeID: String) {
    let connection = try Connection(path: path, mode: .readWriteCreate, busyTimeout: options.busyTimeout)
    do {
      // A file that is refused keeps its log as well.
      connection.setKeepsLogOnClose(true)
      let found = try connection.transaction(.deferred) { try check(connection, path) }
      connection.setKeepsLogOnClose(false)
      // A new file has to be told how it gives pages back before its first table. An old one is not told again: that would
      // be a write, which waits for other writers and for the disk.
      if found == 0 { try connection.execute("PRAGMA auto_vacuum = INCREMENTAL") }
      try connection.execute("PRAGMA journal_mode = WAL")
      try configure(connection, options)
      if found < version { try connection.transaction(.immediate) { try bringUpToDate(connection) } }
      return (connection, try storeID(connection, path))
    } catch {
      connection.close()
      throw error
    }
  }

  /// Opens the file once more.
  static func open(_ path: String, options: DatastoreOptions) throws -> Connection {
    try mapping(path) {
      let connection = try Connection(path: path, mode: .readWrite, busyTimeout: options.busyTimeout)
      try configure(connection, options)
      return connection
    }
  }

  private static func storeID(_ connection: Connection, _ path: String) throws -> String {
    let statement = try connection.statement("SELECT value FROM meta WHERE key = 'store'")
    defer { statement.reset() }
    guard try statement.step() else { throw DatastoreError.damaged(path, "the store's id is missing") }
    return statement.text(0)
  }

  /// Lays a new file out, or takes an older one to this version, within the transaction of the caller.
  private static func bringUpToDate(_ connection: Connection) throws {
    let found = try connection.scalar("PRAGMA user_version")
    if found == 0 { return try lay(connection) }
    guard found < version else { return }
    for step in upgrades[Int(found - 1)...] { try connection.execute(step) }
    try connection.execute("PRAGMA user_version = \(version)")
  }

  private static func lay(_ connection: Connection) throws {
    try connection.execute(layout)
    let statement = try connection.statement("INSERT INTO meta VALUES ('store', ?1)")
    try statement.bind(UUID().uuidString.lowercased(), at: 1)
    try statement.run()
    try connection.execute("PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version)")
  }

  /// How many pages the write-ahead log has before they are copied into the file. Writes all over the store change the
  /// same pages again and again, which are then copied once; more pages would take the unlucky write longer.
  private static let logPages = 2_000

  private static func configure(_ connection: Connection, _ options: DatastoreOptions) throws {
    let synchronous = options.durability == .full ? "FULL" : "NORMAL"
    try connection.execute(
      """
      PRAGMA synchronous = \(synchronous); PRAGMA wal_autocheckpoint = \(logPages)
      """)
  }

  /// - Returns: The version that was found; 0 is a new file.
  private static func check(_ connection: Connection, _ path: String) throws -> Int64 {
    let found = try connection.scalar("PRAGMA user_version")
    guard found >= 0 else { throw DatastoreError.damaged(path, "it has format \(found)") }
    guard found <= version else { throw DatastoreError.newerFormat(path, version: found, known: version) }
    let application = try connection.scalar("PRAGMA application_id")
    let tables = try connection.scalar("SELECT count(*) FROM sqlite_schema")
    guard application == applicationID || (application == 0 && found == 0 && tables == 0) else {
      throw DatastoreError.foreignFile(path)
    }
    return found
  }

  private static func mapping<R>(_ path: String, _ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let error as SQLiteError {
      throw DatastoreError(error, path: path)
    }
  }
}
