import CSQLite

/// One connection to a database, used by one thread at a time.
///
/// Statements are prepared once and kept. Everything throws once the connection is closed; nothing dangles.
package final class Connection {
  package enum Mode: Sendable {
    case readOnly, readWrite, readWriteCreate
    /// Read only, without locks, and nothing is ever made beside the file. Nobody may write to it meanwhile, and no
    /// log may wait beside it.
    case immutable
  }

  /// `nil` once the connection is closed.
  private(set) var handle: OpaquePointer?
  private var statements = StatementCache()
  /// The table `memory_rows`, once it has been asked for.
  private var memory: MemoryTable?
  private var hasImages = false

  /// Opens a database file.
  ///
  /// - Parameter busyTimeout: How long to wait for another connection's lock before giving up.
  /// - Throws: ``SQLiteError``. A file that is no database is noticed when it is first read, not here.
  package init(path: String, mode: Mode, busyTimeout: Duration = .seconds(5)) throws(SQLiteError) {
    let access: Int32 =
      switch mode {
      case .readOnly: SQLITE_OPEN_READONLY
      case .immutable: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
      case .readWrite: SQLITE_OPEN_READWRITE
      case .readWriteCreate: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      }
    try Self.check(path)
    Self.prepareLibrary
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(
      mode == .immutable ? Self.immutableURI(path) : Self.plain(path), &opened,
      access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
    guard code == SQLITE_OK, let opened else {
      let message = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
      sqlite3_close_v2(opened)
      throw SQLiteError(extendedCode: code, message: "\(path): \(message)")
    }
    handle = opened
    _ = csqlite_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1)
    sqlite3_busy_timeout(opened, Int32(clamping: busyTimeout.milliseconds))
  }

  /// SQLite counts the memory of all connections together, under one lock, which threads that read at once wait for. It is
  /// spared unless the process has used SQLite before: then its settings are as its owner wants them.
  private static let prepareLibrary: Void = {
    _ = csqlite_spare_memory_statistics()
  }()

  /// The system would take a path up to its first NUL, which is another file's.
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
  /// the file and removed, by its path.
  package func setKeepsLogOnClose(_ keepsLog: Bool) {
    guard let handle else { return }
    _ = csqlite_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keepsLog ? 1 : 0)
  }

  package var isClosed: Bool { handle == nil }

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
    try statement.run()
  }

  /// The table through which statements read rows in memory, made when it is first asked for.
  func memoryTable() throws(SQLiteError) -> MemoryTable {
    if let memory { return memory }
    guard let handle else { throw .closed(nil) }
    let made = MemoryTable()
    let code = made.register(on: handle)
    guard code == SQLITE_OK else { throw error(code, sql: nil) }
    memory = made
    return made
  }

  /// Makes the schema `image` for a ``TableImage`` to be put there, when it is first asked for.
  func attachImages() throws(SQLiteError) {
    if hasImages { return }
    try attach(path: ":memory:", as: "image")
    hasImages = true
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
      try statement("COMMIT").run()
      return result
    } catch {
      // SQLite has ended the transaction itself after some errors; then there is nothing to take back.
      if isInTransaction { try? rollBack() }
      throw error
    }
  }

  /// Begins a transaction that the caller ends.
  package func begin(_ kind: TransactionKind) throws(SQLiteError) {
    try statement(kind.rawValue).run()
  }

  /// Ends a transaction and keeps nothing of it.
  package func rollBack() throws(SQLiteError) {
    try statement("ROLLBACK").run()
  }

  package var isInTransaction: Bool {
    handle.map { sqlite3_get_autocommit($0) == 0 } ?? false
  }

  // MARK: State

  /// A number that is another one after every change to the main database, whoever made it; `nil` when it is not known.
  ///
  /// It is that of the last transaction that the connection began there, and means nothing to another connection.
  package var dataVersion: UInt32? {
    guard let handle else { return nil }
    var version: UInt32 = 0
    let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_DATA_VERSION, &version)
    return code == SQLITE_OK ? version : nil
  }

  package var lastInsertRowID: Int64 { handle.map(sqlite3_last_insert_rowid) ?? 0 }

  /// How many rows the last statement changed.
  package var changes: Int { handle.map { Int(sqlite3_changes($0)) } ?? 0 }

  /// Ends what runs on the connection, from any thread, with `isInterrupted`.
  package func interrupt() {
    if let handle { sqlite3_interrupt(handle) }
  }

  func error(_ code: Int32, sql: String?) -> SQLiteError {
    guard let handle else { return .closed(sql) }
    return SQLiteError(extendedCode: code, message: String(cString: sqlite3_errmsg(handle)), sql: sql)
  }
}

/// The statements of a connection, the least recently used let go first.
private struct StatementCache {
  private var entries: [String: Statement] = [:]
  /// The one that was given out last, which is often wanted again: comparing its text costs less than looking it up.
  private var last: Statement?
  /// Statements that are not kept but may still be held by someone; closing ends them too.
  private var others: [Weak] = []
  private var clock = 0
  private static let capacity = 64

  mutating func idle(_ sql: String) -> Statement? {
    guard let entry = last?.sql == sql ? last : entries[sql], !entry.isBusy else { return nil }
    clock += 1
    entry.used = clock
    last = entry
    return entry
  }

  mutating func insert(_ statement: Statement) {
    guard entries[statement.sql] == nil else { return keepTrack(of: statement) }
    clock += 1
    if entries.count >= Self.capacity, let oldest = entries.min(by: { $0.value.used < $1.value.used })?.key {
      if let evicted = entries.removeValue(forKey: oldest) { keepTrack(of: evicted) }
    }
    statement.used = clock
    entries[statement.sql] = statement
    last = statement
  }

  mutating func removeAll() {
    for entry in entries.values { entry.finalize() }
    for other in others { other.statement?.finalize() }
    entries = [:]
    others = []
    last = nil
  }

  private mutating func keepTrack(of statement: Statement) {
    others.removeAll { $0.statement == nil }
    others.append(Weak(statement: statement))
  }

  private struct Weak {
    weak var statement: Statement?
  }
}

extension Duration {
  fileprivate var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    // Far more than SQLite can be told to wait, and far less than could overflow here.
    let bounded = min(max(seconds, -1), Int64(Int32.max))
    return bounded * 1000 + attoseconds / 1_000_000_000_000_000
  }
}
