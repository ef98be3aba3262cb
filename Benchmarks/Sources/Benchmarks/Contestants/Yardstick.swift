import CSQLiteYardstick
import Synchronization

/// SQLite by hand, as an expert would use it for this workload: the C API, prepared statements, documents as JSON text
/// under a unique id, indexes on expressions, a table for the array's elements kept by triggers, ANALYZE.
///
/// Unchecked, as SQLite is told to lock nothing: an instance is handed over before its thread starts, and taken back
/// after it has ended.
final class Yardstick: Contestant, @unchecked Sendable {
  private let directory: String
  private let mapsFile: Bool
  private let connection: OpaquePointer
  private let turn: Turn
  private var statements = [SQLStatement?](repeating: nil, count: SQL.allCases.count)

  /// A lock for the threads that write: SQLite by itself has them sleep and try again.
  private final class Turn: Sendable {
    let mutex = Mutex(())
  }

  convenience init(directory: String, mapsFile: Bool) throws {
    try self.init(directory, mapsFile: mapsFile, turn: Turn())
  }

  private init(_ directory: String, mapsFile: Bool, turn: Turn) throws {
    var opened: OpaquePointer?
    let path = "\(directory)/yardstick.sqlite"
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    guard sqlite3_open_v2(path, &opened, flags, nil) == SQLITE_OK, let opened else {
      throw BenchError.sqlite(opened, path)
    }
    connection = opened
    self.directory = directory
    self.mapsFile = mapsFile
    self.turn = turn
    try execute(
      """
      PRAGMA busy_timeout = 10000;
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA cache_size = -65536;
      PRAGMA mmap_size = \(mapsFile ? 1 << 30 : 0);
      CREATE TABLE IF NOT EXISTS docs (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        doc TEXT NOT NULL
      );
      """)
  }

  func forAnotherThread() throws -> Yardstick {
    try Yardstick(directory, mapsFile: mapsFile, turn: turn)
  }

  func withTurn(_ body: () throws -> Void) rethrows {
    try turn.mutex.withLock { _ in try body() }
  }

  func close() throws {
    for case let statement? in statements { statement.finalize() }
    guard sqlite3_close(connection) == SQLITE_OK else { throw BenchError.sqlite(connection, "close") }
  }

  func execute(_ sql: String) throws {
    guard sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK else {
      throw BenchError.sqlite(connection, sql)
    }
  }

  /// A statement, prepared when it is first used.
  func statement(_ sql: SQL) throws -> SQLStatement {
    if let known = statements[sql.rawValue] { return known }
    let prepared = try SQLStatement(sql.text, on: connection)
    statements[sql.rawValue] = prepared
    return prepared
  }
}
