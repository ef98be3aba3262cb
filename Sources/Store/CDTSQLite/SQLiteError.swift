import CDTCSQLite
import CDTPlatform

/// An error of SQLite, with its extended code and the SQL, but without bound values, which are user data.
package struct SQLiteError: Error, Sendable, Hashable {
  /// SQLite's primary result code, such as `SQLITE_BUSY`.
  package var code: Int32 { extendedCode & 0xFF }
  /// SQLite's extended result code.
  package let extendedCode: Int32
  /// SQLite's message.
  package let message: String
  /// The statement's text, if any.
  package let sql: String?
  /// The file in which a page's checksum is wrong, if that is the error.
  package let damagedFile: String?
  /// The system's error, if a file could not be opened, read or written.
  private let systemError: SystemError?

  package init(extendedCode: Int32, message: String, sql: String? = nil) {
    self.init(extendedCode: extendedCode, message: message, sql: sql, systemError: nil)
  }

  private init(
    extendedCode: Int32, message: String, sql: String?, damagedFile: String? = nil, systemError: SystemError?
  ) {
    self.extendedCode = extendedCode
    self.message = message
    self.sql = sql
    self.damagedFile = damagedFile
    self.systemError = systemError
  }

  /// The error of the last call on a connection: SQLite's message, and the system's if a file could not be opened,
  /// read or written.
  init(_ code: Int32, of connection: OpaquePointer?, sql: String?) {
    if code == Self.damagedPageCode, let connection,
      let (file, path) = CheckedFile.first(in: connection, where: { $0.damagedPage > 0 })
    {
      self.init(
        extendedCode: code, message: "page \(file.damagedPage) of \(path) differs from what was written",
        sql: sql, damagedFile: path, systemError: nil)
      file.damagedPage = 0
      return
    }
    if code == Self.logLockCode, let connection, let file = Connection.fileWithWrongLogIndex(connection) {
      self = .wrongLogIndex(of: file)
      return
    }
    if code == Self.noSharedMemoryCode {
      self.init(
        extendedCode: code, message: "the volume has no shared memory for a write-ahead log", sql: sql)
      return
    }
    // SQLite also reads its system error from there, but not in every statement.
    let last = SystemError.last.code
    let text = connection.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
    var reason: Int32 = 0
    if [SQLITE_CANTOPEN, SQLITE_IOERR, SQLITE_PERM].contains(code & 0xFF) {
      reason = connection.map(sqlite3_system_errno) ?? 0
      if reason == 0 { reason = last }
    }
    // A full disk is reported as such, whichever call failed.
    let isFull = SystemError(reason).isFull || code == Self.sharedMemorySizeCode
    self.init(
      extendedCode: isFull ? SQLITE_FULL : code,
      message: reason == 0 ? text : "\(text): \(SystemError(reason))", sql: sql,
      systemError: reason == 0 ? nil : SystemError(reason))
  }

  /// The error of a file that the system could not open.
  init(_ code: Int32, _ reason: SystemError, _ path: String) {
    self.init(
      extendedCode: reason.isFull ? SQLITE_FULL : code,
      message: "\(path): \(String(cString: sqlite3_errstr(code))): \(reason)", sql: nil, systemError: reason)
  }

  /// The same error with a message that begins with a path.
  func at(_ path: String) -> SQLiteError {
    SQLiteError(
      extendedCode: extendedCode, message: "\(path): \(message)", sql: sql, systemError: systemError)
  }

  /// Another connection held a lock for longer than the busy timeout, or locks of the log changed hands too fast.
  package var isBusy: Bool { [SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL].contains(code) }
  /// The disk or the quota is full.
  package var isFull: Bool { code == SQLITE_FULL }
  /// The file is damaged, or is not an SQLite database.
  package var isCorrupt: Bool {
    code == SQLITE_CORRUPT || code == SQLITE_NOTADB || isTooShort || extendedCode == Self.damagedPageCode
  }
  /// The checksum of a page is wrong, `SQLITE_IOERR_DATA`.
  static let damagedPageCode = SQLITE_IOERR | 32 << 8
  /// The file is truncated, `SQLITE_IOERR_SHORT_READ`.
  private var isTooShort: Bool { extendedCode == Self.shortReadCode }
  /// `SQLITE_IOERR_SHMLOCK`: a lock of the log could not be taken.
  static let logLockCode = SQLITE_IOERR | 20 << 8
  /// `SQLITE_IOERR_SHORT_READ`
  static let shortReadCode = SQLITE_IOERR | 2 << 8
  /// `SQLITE_IOERR_READ`
  private static let readCode = SQLITE_IOERR | 1 << 8
  /// `SQLITE_IOERR_WRITE`
  static let writeCode = SQLITE_IOERR | 3 << 8
  /// FTS5's configuration of a table is not what it wrote.
  package var isDamagedTextTable: Bool {
    extendedCode == SQLITE_ERROR && message.hasPrefix("invalid fts5 file format")
  }
  /// `SQLITE_IOERR_SHMSIZE`: the shared memory can't grow, because the volume is full. SQLite keeps no system error.
  private static let sharedMemorySizeCode = SQLITE_IOERR | 19 << 8
  /// The VFS has no shared memory for the index of a log, as on network volumes of Apple's systems. SQLite itself has no use for the code.
  static let noSharedMemoryCode = SQLITE_NOLFS
  package var lacksSharedMemory: Bool { code == Self.noSharedMemoryCode }
  /// A text or a row is longer than SQLite's limit.
  package var isTooBig: Bool { code == SQLITE_TOOBIG }
  /// The SQL names a table or a column that does not exist.
  package var isMissingTable: Bool {
    extendedCode == SQLITE_ERROR
      && (message.hasPrefix("no such table") || message.hasPrefix("no such column"))
  }
  /// The schema names a table, a column, a function or a collation that does not exist.
  package var isUnknownName: Bool { extendedCode == SQLITE_ERROR && message.hasPrefix("no such ") }
  package var isReadOnly: Bool { code == SQLITE_READONLY }
  /// The permissions, or a read-only file system, don't allow opening or writing the file.
  package var isForbidden: Bool { isReadOnly || systemError?.isForbidden == true }
  /// The system protects the file, as while a device is locked.
  package var isProtected: Bool { systemError?.isProtected == true }
  package var isConstraint: Bool { code == SQLITE_CONSTRAINT }
  package var isInterrupted: Bool { code == SQLITE_INTERRUPT }
  /// The process is out of memory.
  package var isOutOfMemory: Bool { code == SQLITE_NOMEM }
  /// The library is older than ``Connection/minimumLibraryVersion``.
  package var isOldLibrary: Bool { extendedCode == Self.oldLibraryCode }

  /// The datastore or manager that the message names is suspended.
  package var isSuspended: Bool { extendedCode == Self.suspendedCode }

  /// The library was built with one of ``SQLiteLibrary/unusableOptions(isEncrypted:)``.
  package var isUnusableLibrary: Bool { extendedCode == Self.unusableLibraryCode }

  /// SQLite has no negative codes.
  private static let oldLibraryCode: Int32 = -1
  private static let suspendedCode: Int32 = -2
  private static let unusableLibraryCode: Int32 = -3

  static func suspended(_ subject: String) -> SQLiteError {
    SQLiteError(extendedCode: suspendedCode, message: subject)
  }

  package static let outOfMemory = SQLiteError(extendedCode: SQLITE_NOMEM, message: "out of memory")

  static func oldLibrary(_ found: Int32) -> SQLiteError {
    func spelled(_ version: Int32) -> String {
      "\(version / 1_000_000).\(version / 1_000 % 1_000).\(version % 1_000)"
    }
    return SQLiteError(
      extendedCode: oldLibraryCode,
      message: "SQLite \(spelled(found)) is older than \(spelled(Connection.minimumLibraryVersion))")
  }

  static func unusableLibrary(_ option: String, isEncrypted: Bool) -> SQLiteError {
    let kind = isEncrypted ? "encrypted " : ""
    return SQLiteError(
      extendedCode: unusableLibraryCode,
      message: "SQLite was built with SQLITE_\(option), so it can't be used for \(kind)datastores")
  }

  /// Something else that uses the file made a checkpoint without the write lock (``CheckedFile/lockLog(_:_:_:)``).
  static func wrongLogIndex(of file: String) -> SQLiteError {
    SQLiteError(
      extendedCode: logLockCode,
      message: """
        the index of the write-ahead log of \(file) is wrong, so a write would be lost; a program with SQLite before 3.51.3 \
        may have made a checkpoint. Close the file in all programs and open it again, which rebuilds the index
        """)
  }

  /// The code that SQLite gets for a page that could not be read; a system's error becomes the thread's last one.
  static func failureToRead(_ error: any Error) -> Int32 {
    if let error = error as? SQLiteError, error.isOutOfMemory { return SQLITE_NOMEM }
    let reason = (error as? SQLiteError)?.systemError ?? error as? SystemError
    if let reason { SystemError.last = reason }
    return readCode
  }

  package static func closed(_ sql: String?) -> SQLiteError {
    SQLiteError(extendedCode: SQLITE_MISUSE, message: "the connection is closed", sql: sql)
  }
}

extension SQLiteError: CustomStringConvertible {
  package var description: String {
    // A statement for many rows is long.
    let text = sql.map { " in \"\($0.count > 120 ? "\($0.prefix(120))…" : $0)\"" } ?? ""
    return "\(message) (SQLite code \(extendedCode))\(text)"
  }
}
