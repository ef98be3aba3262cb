import CDTPlatform
import CSQLite

/// One connection to a database, used by one thread at a time.
///
/// Statements are prepared once and kept. Everything throws once the connection is closed; nothing dangles.
package final class Connection {
  package enum Mode: Sendable {
    case readOnly, readWrite, readWriteCreate
    /// Read only, without locks, and no file is ever created beside the database. Nobody may write to it meanwhile, and
    /// no write-ahead log may be waiting beside it.
    case immutable
  }

  /// The oldest SQLite that the package is tested with, as `sqlite3_libversion_number` gives it.
  package static let minimumLibraryVersion: Int32 = 3_040_000

  /// `nil` once the connection is closed.
  private(set) var handle: OpaquePointer?
  private var statements = StatementCache()
  private let busyWait: BusyWait
  private var progress: ProgressCheck?

  /// Opens a database file.
  ///
  /// - Parameters:
  ///   - busyTimeout: How long to wait for another connection's lock before giving up.
  ///   - libraryVersion: SQLite's version; a test gives another one.
  /// - Throws: ``SQLiteError``. A file that is not a database is noticed when it is first read, not here.
  package init(
    path: String, mode: Mode, busyTimeout: Duration = .seconds(5),
    libraryVersion: Int32 = sqlite3_libversion_number()
  ) throws(SQLiteError) {
    guard libraryVersion >= Self.minimumLibraryVersion else { throw .oldLibrary(libraryVersion) }
    let access: Int32 =
      switch mode {
      case .readOnly: SQLITE_OPEN_READONLY
      case .immutable: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
      case .readWrite: SQLITE_OPEN_READWRITE
      case .readWriteCreate: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      }
    try Self.check(path)
    busyWait = BusyWait(timeout: busyTimeout)
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(
      mode == .immutable ? Self.immutableURI(path) : Self.plain(path), &opened,
      access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
    guard code == SQLITE_OK, let opened else {
      let error = SQLiteError(code, of: opened, sql: nil)
      sqlite3_close_v2(opened)
      throw SQLiteError(extendedCode: code, message: "\(path): \(error.message)")
    }
    handle = opened
    _ = csqlite_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1)
    sqlite3_busy_handler(
      opened,
      { context, attempts in
        guard let context else { return 0 }
        return Unmanaged<BusyWait>.fromOpaque(context).takeUnretainedValue().wait(attempts: attempts) ? 1 : 0
      }, Unmanaged.passUnretained(busyWait).toOpaque())
  }

  /// The system would take a path up to its first NUL, which names another file.
  private static func check(_ path: String) throws(SQLiteError) {
    guard !path.utf8.contains(0) else {
      throw SQLiteError(extendedCode: SQLITE_CANTOPEN, message: "the path has a NUL character")
    }
  }

  /// The path in a form that SQLite does not take for a URI, whose parameters could ask for anything.
  private static func plain(_ path: String) -> String {
    path.utf8.starts(with: "file:".utf8) ? "./\(path)" : path
  }

  /// `file:///a/b%20c?immutable=1`
  private static func immutableURI(_ path: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var uri = Array((path.utf8.first == UInt8(ascii: "/") ? "file://" : "file:").utf8)
    for byte in path.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"),
        UInt8(ascii: "_"):
        uri.append(byte)
      default: uri += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: uri, as: UTF8.self) + "?immutable=1"
  }

  deinit {
    close()
  }

  /// Releases the file. Statements that are still held throw from now on; closing again does nothing.
  package func close() {
    guard let handle else { return }
    self.handle = nil
    statements.removeAll()
    sqlite3_close_v2(handle)
  }

  /// Whether the write-ahead log stays as it is when the last connection to the file closes. Otherwise it is copied into
  /// the file and removed.
  package func setKeepsLogOnClose(_ keepsLog: Bool) {
    guard let handle else { return }
    _ = csqlite_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keepsLog ? 1 : 0)
  }

  package var isClosed: Bool { handle == nil }

  /// How long to wait for another connection's lock before giving up.
  package var busyTimeout: Duration {
    get { busyWait.timeout }
    set { busyWait.timeout = newValue }
  }

  // MARK: SQL

  /// Runs SQL without parameters, one statement or several.
  package func execute(_ sql: String) throws(SQLiteError) {
    guard let handle else { throw .closed(sql) }
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw error(code, sql: sql) }
  }

  /// A statement, prepared or from the cache, reset and with nothing bound.
  ///
  /// A statement that is still being stepped is left alone and another is prepared.
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
    let statement = Statement(prepared, sql: sql)
    statements.insert(statement)
    return statement
  }

  /// The first column of the first row as an integer; 0 when there is no row.
  package func scalar(_ sql: String) throws(SQLiteError) -> Int64 {
    let statement = try statement(sql)
    defer { statement.reset() }
    return try statement.step() ? statement.int64(0) : 0
  }

  /// Makes another database file readable under a name; the name is the caller's, never a user's.
  package func attach(path: String, as name: String) throws(SQLiteError) {
    try Self.check(path)
    let statement = try statement("ATTACH ?1 AS \(name)")
    try statement.bind(Self.plain(path), at: 1)
    do throws(SQLiteError) {
      try statement.run()
    } catch {
      throw SQLiteError(
        extendedCode: error.extendedCode, message: "\(path): \(error.message)", sql: error.sql)
    }
  }

  /// Ends what ``attach(path:as:)`` began. No statement may be reading the file.
  package func detach(_ name: String) throws(SQLiteError) {
    try statement("DETACH \(name)").run()
  }

  /// Sets how much memory the pages of a database may take.
  package func setCacheSize(_ bytes: Int, of schema: String = "main") throws(SQLiteError) {
    try execute("PRAGMA \(schema).cache_size = -\(min(max(1, bytes / 1024), Int(Int32.max)))")
  }

  // MARK: Transactions

  package enum TransactionKind: String, Sendable {
    case deferred = "BEGIN"
    case immediate = "BEGIN IMMEDIATE"
  }

  /// Runs `body` in a transaction: all of it is kept, or nothing when it throws.
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

  /// Begins a transaction that the caller ends.
  package func begin(_ kind: TransactionKind) throws(SQLiteError) {
    try statement(kind.rawValue).run()
  }

  package func commit() throws(SQLiteError) {
    try statement("COMMIT").run()
  }

  /// Ends a transaction, if there is one, and keeps nothing of it. SQLite ends it itself after some errors.
  package func rollBack() {
    if isInTransaction { try? statement("ROLLBACK").run() }
  }

  package var isInTransaction: Bool {
    handle.map { sqlite3_get_autocommit($0) == 0 } ?? false
  }

  // MARK: State

  /// A number that changes with every commit to the main database by another connection; `nil` when it is not known.
  ///
  /// It is that of the last transaction that this connection began there, and means nothing to another connection.
  /// Source: `sqlite3_file_control`, SQLITE_FCNTL_DATA_VERSION.
  package var dataVersion: UInt32? {
    guard let handle else { return nil }
    var version: UInt32 = 0
    let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_DATA_VERSION, &version)
    return code == SQLITE_OK ? version : nil
  }

  package var lastInsertRowID: Int64 { handle.map(sqlite3_last_insert_rowid) ?? 0 }

  /// How many rows the last statement changed.
  package var changes: Int { handle.map { Int(sqlite3_changes($0)) } ?? 0 }

  // MARK: Interrupting

  /// Has statements ask from time to time whether to go on; when the answer is no, they fail with
  /// ``SQLiteError/isInterrupted``. `nil` ends the asking.
  package func setProgressCheck(_ goesOn: (() -> Bool)?) {
    guard let handle else { return }
    let check = goesOn.map { ProgressCheck(goesOn: $0) }
    progress = check
    guard let check else { return sqlite3_progress_handler(handle, 0, nil, nil) }
    sqlite3_progress_handler(
      handle, ProgressCheck.instructions,
      { context in
        guard let context else { return 0 }
        return Unmanaged<ProgressCheck>.fromOpaque(context).takeUnretainedValue().goesOn() ? 0 : 1
      }, Unmanaged.passUnretained(check).toOpaque())
  }

  func error(_ code: Int32, sql: String?) -> SQLiteError {
    guard let handle else { return .closed(sql) }
    return SQLiteError(code, of: handle, sql: sql)
  }
}

/// Waits for locks. It looks again every half millisecond, so that it gets a lock that is free for one or two only.
private final class BusyWait {
  var timeout: Duration
  private var deadline = ContinuousClock.now

  init(timeout: Duration) {
    self.timeout = timeout
  }

  /// - Returns: Whether to try again.
  func wait(attempts: Int32) -> Bool {
    if attempts == 0 { deadline = ContinuousClock.now + timeout }
    guard ContinuousClock.now < deadline else { return false }
    Pause.microseconds(500)
    return true
  }
}

private final class ProgressCheck {
  let goesOn: () -> Bool
  /// How many instructions of SQLite's machine run between two questions: some hundred rows.
  static let instructions: Int32 = 4_096

  init(goesOn: @escaping () -> Bool) {
    self.goesOn = goesOn
  }
}
