import CDTCSQLite
import CDTPlatform

/// A connection to a database, used by one thread at a time.
///
/// Statements are prepared once and cached. All methods throw after the connection is closed.
package final class Connection {
  package enum Mode: Sendable {
    case readOnly, readWrite, readWriteCreate
    /// Read-only, without locks, creating no files beside the database. The file must not change while it is open, and
    /// must have no pending write-ahead log.
    case immutable
  }

  /// The treatment of pages that another program has copied into the file from the log (``CopiedPages``).
  package enum CopiedPageUse: Sendable {
    /// Such pages are damaged.
    case refused
    /// Such pages are used once the whole file was verified. Other connections to the file in this process then use them, too.
    case verified(CopiedPages.Verification)
    case all
  }

  /// The oldest SQLite that the package is tested with, as in `sqlite3_libversion_number`.
  package static let minimumLibraryVersion: Int32 = 3_040_000

  /// The length in bytes of the longest path of a database, without symbolic links: SQLite adds `-journal`.
  package static var longestPath: Int {
    Int(sqlite3_vfs_find(nil)?.pointee.mxPathname ?? 512) - "-journal".utf8.count
  }

  /// The predicates that were made, by their names.
  var predicates: [String: SQLPredicate] = [:]
  /// `nil` after the connection is closed.
  private(set) var handle: OpaquePointer?
  private var statements = StatementCache()
  /// The statements that begin and end read transactions.
  private var beginning, rollback: Statement?
  /// The file, if there is one.
  private var file: FileIdentity?
  private let directory: String?
  /// The pages that another program has copied into the file, if they may be used.
  package private(set) var copiedPages: CopiedPages?
  /// The keys, if the files are encrypted.
  let cipher: DatabaseCipher?
  let interruption: Interruption
  /// Whether SQLite asks the interruption while statements run.
  private var isInterruptible = false
  var logLength: LogLength?

  /// Opens a database file.
  ///
  /// A new file gets checksums in its pages.
  ///
  /// - Parameters:
  ///   - checksPages: Whether the checksums of pages are verified, in files that have them (``CheckedFile``).
  ///   - busyTimeout: The time to wait for another connection's lock before giving up.
  ///   - copiedPages: Whether to use pages without checksums. By default, they are used if other connections use them.
  ///   - directory: A directory that others may move, with this file and others that are attached. It stays in place while
  ///     a file is closed, since SQLite removes the log by its path then (``DirectoryLock``). The caller that opens a file must
  ///     have the lock until the file was read once, since SQLite opens the log by its path.
  ///   - cipher: The keys of an encrypted database.
  ///   - libraryVersion: SQLite's version, which tests override.
  ///   - hasOption: Whether SQLite was built with an option, which tests override.
  /// - Throws: ``SQLiteError``. A file that is not a database is detected at the first read, not here.
  package init(
    path: String, mode: Mode, checksPages: Bool = true, busyTimeout: Duration = .seconds(5),
    copiedPages use: CopiedPageUse = .refused, in directory: String? = nil, cipher: DatabaseCipher? = nil,
    libraryVersion: Int32 = sqlite3_libversion_number(),
    hasOption: (String) -> Bool = SQLiteLibrary.hasOption
  ) throws(SQLiteError) {
    guard libraryVersion >= Self.minimumLibraryVersion else { throw .oldLibrary(libraryVersion) }
    if let option = SQLiteLibrary.unusableOptions(isEncrypted: cipher != nil).first(where: hasOption) {
      throw .unusableLibrary(option, isEncrypted: cipher != nil)
    }
    let access: Int32 =
      switch mode {
      case .readOnly, .immutable: SQLITE_OPEN_READONLY
      case .readWrite: SQLITE_OPEN_READWRITE
      case .readWriteCreate: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      }
    try Self.check(path)
    let fileSystem =
      checksPages ? try CheckedFileSystem.registeredName(cipher == nil ? .checked : .encrypted) : nil
    self.cipher = cipher
    interruption = Interruption(timeout: busyTimeout)
    self.directory = directory
    // SQLite would let the umask decide who can access a new file. Its logs get the permissions of the file. If the file
    // can't be created, opening it fails.
    if mode == .readWriteCreate, path != ":memory:" { try? Files.makeFile(path) }
    var opened: OpaquePointer?
    func open() -> Int32 {
      sqlite3_open_v2(
        Self.address(path, isImmutable: mode == .immutable, cipher), &opened,
        // Files are also attached by URIs.
        access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_URI,
        fileSystem)
    }
    var code = open()
    // SQLite opens a file for reading if it can't open it for writing, also for lack of file descriptors, which may be over.
    if code == SQLITE_OK, access & SQLITE_OPEN_READWRITE != 0, sqlite3_db_readonly(opened, "main") == 1 {
      sqlite3_close_v2(opened)
      code = open()
    }
    guard code == SQLITE_OK, let opened else {
      let error = SQLiteError(code, of: opened, sql: nil)
      sqlite3_close_v2(opened)
      throw error.at(path)
    }
    handle = opened
    let file = FileIdentity(path)
    self.file = file
    copiedPages =
      switch use {
      case .refused: nil
      case .all: .all(at: path)
      case .verified(let verification):
        file.map { .of($0, at: path, isImmutable: mode == .immutable, verification) }
      }
    if let file { OpenDatabases.add(file) }
    if let copiedPages {
      (CheckedFile.of("main", in: opened)?.codec as? ChecksumCodec)?.copiedPages = copiedPages
    }
    _ = csqlite_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1)
    if checksPages && mode == .readWriteCreate { reservePageChecksums() }
    sqlite3_busy_handler(
      opened,
      { context, attempts in
        guard let context else { return 0 }
        return Unmanaged<Interruption>.fromOpaque(context).takeUnretainedValue().wait(attempts: attempts)
          ? 1 : 0
      }, Unmanaged.passUnretained(interruption).toOpaque())
    // On Apple's systems, fsync leaves content in the drive's cache. A page that is added and freed at once must get a checksum.
    try execute("PRAGMA fullfsync = ON; PRAGMA secure_delete = ON")
    // What SQLite sorts would be in a file that is not encrypted.
    if cipher != nil { try execute("PRAGMA temp_store = MEMORY") }
  }

  /// The system would cut the path at the NUL, which names another file.
  private static func check(_ path: String) throws(SQLiteError) {
    guard !path.utf8.contains(0) else {
      throw SQLiteError(extendedCode: SQLITE_CANTOPEN, message: "the path has a NUL character")
    }
  }

  /// The name of a file for SQLite: a path in a form that it does not parse as a URI, whose parameters could change how the
  /// file is opened, or a URI like `file:///a/b%20c?immutable=1`.
  private static func address(
    _ path: String, isImmutable: Bool, _ cipher: DatabaseCipher?, _ fileSystem: String? = nil
  ) -> String {
    guard isImmutable || cipher != nil || fileSystem != nil else {
      return path.utf8.starts(with: "file:".utf8) ? "./\(path)" : path
    }
    let parameters = [
      isImmutable ? "immutable=1" : nil, cipher.map { "\(DatabaseCipher.parameter)=\($0.token)" },
      fileSystem.map { "vfs=\($0)" },
    ]
    return "\(path.hasPrefix("/") ? "file://" : "file:")\(path.percentEncoded(keeping: "/.-_"))?"
      + parameters.compactMap(\.self).joined(separator: "&")
  }

  deinit {
    close()
  }

  /// Closes the file. Existing statements throw from now on; closing again does nothing.
  package func close() {
    guard let handle else { return }
    statements.removeAll()
    (beginning, rollback, copiedPages) = (nil, nil, nil)
    closingFile {
      self.handle = nil
      sqlite3_close_v2(handle)
    }
    if let file { OpenDatabases.remove(file) }
    interruption.suspension.take()?.leave()
  }

  /// Counts the connection among the uses of a datastore's files, until it is closed.
  ///
  /// - Throws: ``SQLiteError/isSuspended``; close the connection then.
  package func join(_ suspension: Suspension) throws(SQLiteError) {
    try suspension.enter()
    interruption.suspension = suspension
    setProgressCheck(nil)
  }

  /// Runs `body`, which closes a file, while the directory stays in place. If that is impossible, the log is kept.
  private func closingFile<E: Error>(_ body: () throws(E) -> Void) throws(E) {
    guard let directory else { return try body() }
    let lock = try? DirectoryLock.take(directory, for: .shared, timeout: busyTimeout)
    guard lock == nil else { return try body() }
    setKeepsLogOnClose(true)
    defer { setKeepsLogOnClose(false) }
    try body()
  }

  /// Whether the write-ahead log is kept when the last connection to the file closes. Otherwise it is checkpointed and
  /// removed.
  package func setKeepsLogOnClose(_ keepsLog: Bool) {
    guard let handle else { return }
    _ = csqlite_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keepsLog ? 1 : 0)
  }

  package var isClosed: Bool { handle == nil }

  /// The time to wait for another connection's lock before giving up.
  package var busyTimeout: Duration {
    get { interruption.timeout }
    set { interruption.timeout = newValue }
  }

  /// Runs `body`, which waits for locks for at most a duration in total.
  func waiting<R>(atMost duration: Duration, _ body: () throws(SQLiteError) -> R) throws(SQLiteError) -> R {
    interruption.end = ContinuousClock.now + duration
    defer { interruption.end = nil }
    return try body()
  }

  // MARK: SQL

  /// Runs one or more SQL statements without parameters.
  package func execute(_ sql: String) throws(SQLiteError) {
    guard let handle else { throw .closed(sql) }
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw error(code, sql: sql) }
  }

  /// A prepared or cached statement, reset and without bindings.
  ///
  /// If the cached statement is running, another is prepared.
  package func statement(_ sql: String) throws(SQLiteError) -> Statement {
    guard let handle else { throw .closed(sql) }
    if let cached = statements.idle(sql) {
      cached.clear()
      return cached
    }
    var prepared: OpaquePointer?
    var sqlCopy = sql
    let code = sqlCopy.withUTF8 { text in
      text.withMemoryRebound(to: CChar.self) { text in
        sqlite3_prepare_v3(
          handle, text.baseAddress, Int32(clamping: text.count), UInt32(SQLITE_PREPARE_PERSISTENT), &prepared,
          nil)
      }
    }
    guard code == SQLITE_OK, let prepared else {
      throw code == SQLITE_OK
        ? SQLiteError(extendedCode: SQLITE_MISUSE, message: "the SQL is empty", sql: sql)
        : error(code, sql: sql)
    }
    let statement = Statement(prepared, sql: sql, interruption)
    statements.insert(statement)
    return statement
  }

  /// The first column of the first row as an integer; 0 if there is no row.
  package func scalar(_ sql: String) throws(SQLiteError) -> Int64 {
    let statement = try statement(sql)
    defer { statement.reset() }
    return try statement.step() ? statement.int64(0) : 0
  }

  /// Attaches another database file under a schema name, which must not come from a user.
  ///
  /// - Parameters:
  ///   - isImmutable: Whether to attach it without locks, like ``Mode/immutable``. The connection must be read-only.
  ///   - cipher: The keys of an encrypted database.
  package func attach(
    path: String, as name: String, isImmutable: Bool = false, cipher: DatabaseCipher? = nil
  ) throws(SQLiteError) {
    try Self.check(path)
    // Without a name, the file system is that of the connection.
    let isOther = (cipher == nil) != (self.cipher == nil)
    let fileSystem =
      isOther ? try CheckedFileSystem.registeredName(cipher == nil ? .checked : .encrypted) : nil
    let statement = try statement("ATTACH ?1 AS \(name)")
    try statement.bind(Self.address(path, isImmutable: isImmutable, cipher, fileSystem), at: 1)
    do throws(SQLiteError) {
      try statement.run()
    } catch {
      throw error.at(path)
    }
  }

  /// Detaches a database attached by ``attach(path:as:)``. No statement may be reading it.
  package func detach(_ name: String) throws(SQLiteError) {
    let statement = try statement("DETACH \(name)")
    try closingFile { () throws(SQLiteError) in try statement.run() }
  }

  /// Sets the cache size of a database.
  package func setCacheSize(_ bytes: Int, of schema: String = "main") throws(SQLiteError) {
    try execute("PRAGMA \(schema).cache_size = -\(min(max(1, bytes / 1024), Int(Int32.max)))")
  }

  // MARK: Transactions

  package enum TransactionKind: String, Sendable {
    case deferred = "BEGIN"
    case immediate = "BEGIN IMMEDIATE"
  }

  /// Runs `body` in a transaction, which is rolled back if it throws.
  package func transaction<R>(_ kind: TransactionKind, _ body: () throws -> R) throws -> R {
    try begin(kind)
    do {
      let result = try body()
      try commit()
      return result
    } catch {
      rollBack()
      throw error
    }
  }

  /// Begins a transaction; the caller must end it.
  package func begin(_ kind: TransactionKind) throws(SQLiteError) {
    // An earlier rollback can have failed without memory.
    rollBack()
    assert(!isReading, "an old state of the files would be read")
    guard kind == .deferred else { return try statement(kind.rawValue).run() }
    if beginning == nil { beginning = try statement(kind.rawValue) }
    try beginning?.run()
  }

  package func commit() throws(SQLiteError) {
    // It could be interrupted after it is done.
    interruption.isPaused = true
    defer { interruption.isPaused = false }
    try statement("COMMIT").run()
  }

  /// Rolls back the transaction, if any.
  ///
  /// SQLite may have done so after an error. Without memory it can then leave the connection reading the state of the
  /// files at the transaction's beginning, which only the end of another transaction changes.
  package func rollBack() {
    if !isInTransaction, isReading { try? statement("BEGIN").run() }
    guard isInTransaction else { return }
    interruption.isPaused = true
    defer { interruption.isPaused = false }
    if rollback == nil { rollback = try? statement("ROLLBACK") }
    try? rollback?.run()
  }

  /// Whether the connection reads one state of the files: a transaction begins to do so with its first statement.
  package var isReading: Bool {
    handle.map { sqlite3_txn_state($0, nil) != SQLITE_TXN_NONE } ?? false
  }

  package var isInTransaction: Bool {
    handle.map { sqlite3_get_autocommit($0) == 0 } ?? false
  }

  // MARK: State

  /// A number that changes with every commit to a database by another connection; `nil` if it is unknown.
  ///
  /// It is as of the last transaction that this connection began, and can't be compared between connections. Source:
  /// `sqlite3_file_control`, SQLITE_FCNTL_DATA_VERSION.
  package func dataVersion(of schema: String = "main") -> UInt32? {
    guard let handle else { return nil }
    var version: UInt32 = 0
    let code = sqlite3_file_control(handle, schema, SQLITE_FCNTL_DATA_VERSION, &version)
    return code == SQLITE_OK ? version : nil
  }

  package var lastInsertRowID: Int64 { handle.map(sqlite3_last_insert_rowid) ?? 0 }

  /// The number of rows that the last statement changed.
  package var changes: Int { handle.map { Int(sqlite3_changes($0)) } ?? 0 }

  /// The maximum length of a text, and of a row, in bytes.
  package var maximumLength: Int {
    get { handle.map { Int(sqlite3_limit($0, SQLITE_LIMIT_LENGTH, -1)) } ?? 0 }
    set { handle.map { _ = sqlite3_limit($0, SQLITE_LIMIT_LENGTH, Int32(clamping: newValue)) } }
  }

  // MARK: Interrupting

  /// Calls a closure periodically while statements run or wait for a lock. If it returns `false`, the statement fails
  /// with ``SQLiteError/isInterrupted``, or as busy. `nil` removes the closure.
  package func setProgressCheck(_ shouldContinue: (() -> Bool)?) {
    interruption.shouldContinue = shouldContinue
    let isNeeded = shouldContinue != nil || interruption.suspension != nil
    guard let handle, isNeeded != isInterruptible else { return }
    isInterruptible = isNeeded
    guard isNeeded else { return sqlite3_progress_handler(handle, 0, nil, nil) }
    sqlite3_progress_handler(
      handle, Interruption.instructions,
      { context in
        guard let context else { return 0 }
        return Unmanaged<Interruption>.fromOpaque(context).takeUnretainedValue().mayContinue() ? 0 : 1
      }, Unmanaged.passUnretained(interruption).toOpaque())
  }

  func error(_ code: Int32, sql: String?) -> SQLiteError {
    guard let handle else { return .closed(sql) }
    return interruption.suspension(ending: code) ?? SQLiteError(code, of: handle, sql: sql)
  }
}
