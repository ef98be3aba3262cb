import CDTPlatform
import CSQLite

/// What SQLite refused, with its extended code and the SQL, but never a bound value, which is someone's data.
package struct SQLiteError: Error, Sendable, Hashable {
  /// SQLite's primary result code, such as `SQLITE_BUSY`.
  package var code: Int32 { extendedCode & 0xFF }
  /// SQLite's extended result code.
  package let extendedCode: Int32
  /// SQLite's message.
  package let message: String
  /// The statement's text, when there is one.
  package let sql: String?

  package init(extendedCode: Int32, message: String, sql: String? = nil) {
    self.extendedCode = extendedCode
    self.message = message
    self.sql = sql
  }

  /// What a call on a connection has just failed by: SQLite's message, and the system's where a file could not be opened,
  /// read or written.
  init(_ code: Int32, of connection: OpaquePointer?, sql: String?) {
    // SQLite takes its system error from there, but not in every statement.
    let last = SystemError.last.code
    let text = connection.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
    var reason: Int32 = 0
    if [SQLITE_CANTOPEN, SQLITE_IOERR].contains(code & 0xFF) {
      reason = connection.map(sqlite3_system_errno) ?? 0
      if reason == 0 { reason = last }
    }
    // A full disk is one whichever call it refuses.
    self.init(
      extendedCode: SystemError(reason).isFull ? SQLITE_FULL : code,
      message: reason == 0 ? text : "\(text): \(SystemError(reason))", sql: sql)
  }

  /// Another connection held a lock for longer than the busy timeout.
  package var isBusy: Bool { code == SQLITE_BUSY || code == SQLITE_LOCKED }
  /// The disk, or the quota, is full.
  package var isFull: Bool { code == SQLITE_FULL }
  /// The file is damaged, or is no SQLite database.
  package var isCorrupt: Bool { code == SQLITE_CORRUPT || code == SQLITE_NOTADB || isTooShort }
  /// The file ends where there should be more, `SQLITE_IOERR_SHORT_READ`.
  private var isTooShort: Bool { extendedCode == SQLITE_IOERR | 2 << 8 }
  /// The SQL names a table or a column that is not there.
  package var isMissingTable: Bool {
    extendedCode == SQLITE_ERROR
      && (message.hasPrefix("no such table") || message.hasPrefix("no such column"))
  }
  /// The schema needs a table, a column, a function or a collation that is not there.
  package var isUnknownName: Bool { extendedCode == SQLITE_ERROR && message.hasPrefix("no such ") }
  package var isReadOnly: Bool { code == SQLITE_READONLY }
  package var isConstraint: Bool { code == SQLITE_CONSTRAINT }
  package var isInterrupted: Bool { code == SQLITE_INTERRUPT }
  /// The process has no memory left for what was asked.
  package var isOutOfMemory: Bool { code == SQLITE_NOMEM }
  /// The library is older than ``Connection/minimumLibraryVersion``.
  package var isOldLibrary: Bool { extendedCode == Self.oldLibraryCode }

  /// No code of SQLite's is negative.
  private static let oldLibraryCode: Int32 = -1

  static func oldLibrary(_ found: Int32) -> SQLiteError {
    func spelled(_ version: Int32) -> String {
      "\(version / 1_000_000).\(version / 1_000 % 1_000).\(version % 1_000)"
    }
    return SQLiteError(
      extendedCode: oldLibraryCode,
      message: "SQLite \(spelled(found)) is older than \(spelled(Connection.minimumLibraryVersion))")
  }

  static func closed(_ sql: String?) -> SQLiteError {
    SQLiteError(extendedCode: SQLITE_MISUSE, message: "the connection is closed", sql: sql)
  }
}

extension SQLiteError: CustomStringConvertible {
  package var description: String {
    let text = sql.map { " in \"\($0)\"" } ?? ""
    return "\(message) (SQLite code \(extendedCode))\(text)"
  }
}
