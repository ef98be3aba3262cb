import CDTJSON
import CDTPlatform
import CDTSQLite

/// The schema of `db.sync`, and how the file is opened.
///
/// `docs/file-format.md` describes every table and column; a test compares it with this schema.
package enum DatabaseFile {
  package static let name = "db.sync"

  static func path(in directory: String) -> String { "\(directory)/\(name)" }

  /// The version of the file, in `user_version`.
  package static let version: Int64 = 8

  /// The version of a file that has this schema, but no checksums in its pages. Compaction adds them.
  package static let versionWithoutChecksums: Int64 = 7

  /// The versions of files that have checksums.
  package static let versionsWithChecksums: Set<Int64> = [6, version]

  /// The application id of a datastore, "CDTd".
  static let applicationID: Int64 = 0x4344_5464

  /// The greatest losing leaf of a document is the first of its index entries.
  private static let losingLeaves = """
    CREATE INDEX losing_leaves ON revisions (document, deleted, generation DESC, revision DESC) WHERE leaf;
    """

  /// Every revision that is not its document's winner. Rows are in the order of writing, so that updates append to the
  /// last page; ordered by document, each update would change another page.
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
    \(losingLeaves)
    """

  /// The columns of `documents`.
  static let documentColumns =
    "number, sequence, id, stored_revision, parent, written, leaves, deleted, attachments, head, text"

  /// A row never moves, so that index entries can refer to it by its number, whatever happens to the document.
  private static let documents = """
    CREATE TABLE documents (
      number INTEGER PRIMARY KEY,
      sequence INTEGER NOT NULL UNIQUE,
      id TEXT NOT NULL UNIQUE,
      stored_revision TEXT,
      parent TEXT,
      written INTEGER,
      leaves INTEGER NOT NULL,
      deleted INTEGER NOT NULL,
      attachments INTEGER NOT NULL,
      head INTEGER NOT NULL,
      text TEXT NOT NULL
    );
    CREATE INDEX tombstones ON documents (number) WHERE deleted;
    CREATE INDEX conflicts ON documents (number) WHERE leaves > 1;
    """

  /// The documents of version 4 to 6.
  private static let documentsWithBodies = """
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

  /// The upgrade of each version to the next, from 1 up to 5.
  private static let upgrades = [
    """
    CREATE INDEX conflicts ON documents (sequence) WHERE leaves > 1;
    CREATE INDEX losing_leaves ON revisions (document) WHERE leaf;
    """,
    // Revisions were ordered by document.
    """
    DROP INDEX losing_leaves;
    ALTER TABLE revisions RENAME TO earlier_revisions;
    \(revisions)
    INSERT INTO revisions SELECT * FROM earlier_revisions;
    DROP TABLE earlier_revisions;
    """,
    // Documents were ordered by sequence.
    """
    DROP INDEX tombstones;
    DROP INDEX conflicts;
    ALTER TABLE documents RENAME TO earlier_documents;
    \(documentsWithBodies)
    INSERT INTO documents
      SELECT number, sequence, id, revision, parent, written, leaves, deleted, attachments, body
        FROM earlier_documents ORDER BY number;
    DROP TABLE earlier_documents;
    """,
    // The index had only the document of each leaf.
    """
    DROP INDEX losing_leaves;
    \(losingLeaves)
    """,
  ]

  /// Opens the file, creating its schema if it is new and upgrading it if it is older. The directory must stay in place
  /// (``StoreDirectory``).
  ///
  /// - Returns: The connection and the unique id of the store.
  /// - Throws: ``DatastoreError``; a file of a later version or of another application is left unchanged.
  static func openFirst(
    in directory: String, options: DatastoreOptions, _ cipher: DatabaseCipher?
  ) throws -> (connection: Connection, storeID: String) {
    // SQLite waits for locks, except where two connections would deadlock, as when both switch a new file to a
    // write-ahead log.
    let deadline = ContinuousClock.now + options.busyTimeout
    return try FileSystem.reading(path(in: directory)) {
      while true {
        do {
          return try tryOpenFirst(in: directory, options: options, cipher)
        } catch let error as SQLiteError where error.isBusy && ContinuousClock.now < deadline {
          Sleep.microseconds(5_000)
        }
      }
    }
  }

  private static func tryOpenFirst(
    in directory: String, options: DatastoreOptions, _ cipher: DatabaseCipher?
  ) throws -> (connection: Connection, storeID: String) {
    let path = path(in: directory)
    try RelaxedDurability.checkLog(of: path, cipher)
    // SQLite would remove the log of a file that is empty.
    if try isEmpty(path) {
      do {
        try MissingContentCheck.check(path, includingLog: true)
      } catch {
        // Another process may have filled it since, and made the other files.
        guard try !isEmpty(path) else { throw error }
      }
    }
    let connection = try Connection(
      path: path, mode: .readWriteCreate, busyTimeout: options.busyTimeout,
      copiedPages: copiedPages(cipher), in: directory, cipher: cipher)
    do {
      // If the file is rejected, its log is kept, too.
      connection.setKeepsLogOnClose(true)
      let found = try connection.transaction(.deferred) { try check(connection, path) }
      if found == 0 { try checkIsNew(connection, path) }
      connection.setKeepsLogOnClose(false)
      // auto_vacuum must be set before the first write. Neither is set again on an existing file: that would be a write,
      // which waits for other writers and for the disk.
      if found == 0 {
        try connection.execute("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA application_id = \(applicationID)")
        // After a power failure there is no log without the file.
        try FileSystem.synchronize(directory)
      }
      try connection.execute("PRAGMA journal_mode = WAL")
      try configure(connection, options)
      if found < version { try bringUpToDate(connection) }
      try WinnerUpgrade(connection).finish()
      return (connection, try storeID(connection, path))
    } catch {
      connection.close()
      throw error
    }
  }

  private static func isEmpty(_ path: String) throws(DatastoreError) -> Bool {
    try FileSystem.perform("read", path, FileStatus.ofFile(at: path))?.size ?? 0 == 0
  }

  /// Opens the file once more. The directory must stay in place (``StoreDirectory``).
  ///
  /// - Parameter access: The access with which to open it.
  static func open(
    in directory: String, _ access: FileAccess, options: DatastoreOptions, _ cipher: DatabaseCipher?
  ) throws -> Connection {
    let path = path(in: directory)
    return try FileSystem.reading(path) {
      let connection = try Connection(
        path: path, mode: access.mode, busyTimeout: options.busyTimeout,
        copiedPages: copiedPages(cipher), in: directory, cipher: cipher)
      do {
        try configure(connection, options)
        // SQLite opens the log at the first read.
        _ = try connection.scalar("PRAGMA user_version")
      } catch {
        connection.close()
        throw error
      }
      return connection
    }
  }

  /// Another program can't copy pages into a file that is encrypted.
  static func copiedPages(_ cipher: DatabaseCipher?) -> Connection.CopiedPageUse {
    cipher == nil ? .verified(Datastore.isSound) : .refused
  }

  static func storeID(_ connection: Connection, _ path: String) throws -> String {
    let statement = try connection.statement("SELECT value FROM meta WHERE key = 'store'")
    defer { statement.reset() }
    guard try statement.step() else { throw DatastoreError(.damaged(path, "the store's id is missing")) }
    return statement.text(0)
  }

  /// A file that is new, or was cut off: then there are other files of the store.
  private static func checkIsNew(_ connection: Connection, _ path: String) throws {
    do {
      try MissingContentCheck.check(path, includingLog: false)
    } catch {
      // Another process may have laid out the file in the meantime.
      if try connection.scalar("PRAGMA user_version") == 0 { throw error }
    }
  }

  /// Creates the schema of a new file, or upgrades an older one.
  private static func bringUpToDate(_ connection: Connection) throws {
    try connection.transaction(.immediate) {
      let found = try connection.scalar("PRAGMA user_version")
      if found == 0 { return try createSchema(connection) }
      guard found < versionWithoutChecksums else { return }
      for step in upgrades.dropFirst(Int(found - 1)) { try connection.execute(step) }
      try writeTexts(connection)
      try connection.execute("PRAGMA user_version = \(versionWithoutChecksums)")
    }
    try PageChecksumUpgrade(connection).finish()
  }

  /// Copies the documents into a new table with texts instead of bodies.
  private static func writeTexts(_ connection: Connection) throws {
    try connection.execute(
      """
      DROP INDEX IF EXISTS tombstones;
      DROP INDEX IF EXISTS conflicts;
      ALTER TABLE documents RENAME TO earlier_documents;
      \(documents)
      """)
    let earlier = try connection.statement(
      "SELECT number, id, revision, body FROM earlier_documents ORDER BY number")
    defer { earlier.reset() }
    while try earlier.step() {
      let (id, revision) = (earlier.text(1), try RevisionID(stored: earlier.unsafeBytes(2)))
      let columns = StoredText.Columns(
        id: id, revision: revision, body: earlier.withBytes(3) { Array($0) })
      let new = try connection.statement(
        """
        INSERT INTO documents (\(documentColumns))
        SELECT number, sequence, id, iif(?2, revision, NULL), parent, written, leaves, deleted, attachments, ?3, ?4
          FROM earlier_documents WHERE number = ?1
        """)
      try new.bind(earlier.int64(0), at: 1)
      try new.bind(Int64(columns.hasStoredRevision ? 1 : 0), at: 2)
      try new.bind(columns.head, at: 3)
      try new.bind(text: columns.text, at: 4)
      try new.run()
    }
    try connection.execute("DROP TABLE earlier_documents")
  }

  private static func createSchema(_ connection: Connection) throws {
    try connection.execute(layout)
    let statement = try connection.statement("INSERT INTO meta VALUES ('store', ?1)")
    try statement.bind(RandomID.uuid(), at: 1)
    try statement.run()
    try WinnerUpgrade.mark(connection)
    try connection.execute("PRAGMA user_version = \(versionWithoutChecksums)")
  }

  private static func configure(_ connection: Connection, _ options: DatastoreOptions) throws {
    let synchronous = options.durability == .full ? "FULL" : "NORMAL"
    try connection.execute("PRAGMA synchronous = \(synchronous)")
  }

  /// - Returns: The version found; 0 for a new file.
  static func check(_ connection: Connection, _ path: String) throws -> Int64 {
    let found = try connection.scalar("PRAGMA user_version")
    guard found >= 0 else { throw DatastoreError(.damaged(path, "it has format \(found)")) }
    guard found <= version else { throw DatastoreError(.newerFormat(path, version: found, known: version)) }
    let application = try connection.scalar("PRAGMA application_id")
    let tables = try connection.scalar("SELECT count(*) FROM sqlite_schema")
    guard application == applicationID || (application == 0 && found == 0 && tables == 0) else {
      throw DatastoreError(.foreignFile(path))
    }
    if versionsWithChecksums.contains(found), try !connection.hasPageChecksums() {
      throw DatastoreError(.damaged(path, "its header has lost the reserved bytes of its pages"))
    }
    return found
  }
}
