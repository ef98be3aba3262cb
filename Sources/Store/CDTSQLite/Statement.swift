import CDTCSQLite
import CDTPlatform

/// A prepared statement, used on its connection's thread. It throws after the connection is closed.
package final class Statement {
  package let sql: String

  private var handle: OpaquePointer?
  private let interruption: Interruption
  /// The cache's counter when the statement was last used.
  var used = 0

  init(_ handle: OpaquePointer, sql: String, _ interruption: Interruption) {
    self.handle = handle
    self.interruption = interruption
    self.sql = sql
  }

  deinit {
    finalize()
  }

  func finalize() {
    if let handle { sqlite3_finalize(handle) }
    handle = nil
  }

  /// Whether it has been stepped but not reset.
  var isBusy: Bool { handle.map { sqlite3_stmt_busy($0) != 0 } ?? false }

  /// Resets the statement and clears its bindings.
  package func clear() {
    guard let handle else { return }
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
  }

  // MARK: Running

  /// Steps to the next row.
  ///
  /// - Returns: Whether there is one; after the last row, the statement is reset.
  @inline(__always)
  package func step() throws(SQLiteError) -> Bool {
    guard let handle else { throw .closed(sql) }
    let code = sqlite3_step(handle)
    if code == SQLITE_ROW { return true }
    let error = code == SQLITE_DONE ? nil : error(code, handle)
    sqlite3_reset(handle)
    if let error { throw error }
    return false
  }

  /// Steps to the next row in which a blob does not begin with some bytes.
  ///
  /// - Parameter body: Called with the blob of each row before it.
  /// - Returns: Whether there is such a row, and the number of rows before it.
  package func step(
    over prefix: [UInt8], inColumn column: Int, _ body: (UnsafeRawBufferPointer) -> Void
  ) throws(SQLiteError) -> (isRow: Bool, passed: Int) {
    var passed = 0
    while try step() {
      let blob = unsafeBytes(column)
      let isSame = prefix.withUnsafeBytes {
        blob.count >= $0.count && Bytes.compare($0, blob, count: $0.count) == 0
      }
      guard isSame else { return (true, passed) }
      passed += 1
      body(blob)
    }
    return (false, passed)
  }

  /// Runs to the end, ignoring rows.
  package func run() throws(SQLiteError) {
    while try step() {}
  }

  private func error(_ code: Int32, _ handle: OpaquePointer) -> SQLiteError {
    interruption.suspension(ending: code) ?? SQLiteError(code, of: sqlite3_db_handle(handle), sql: sql)
  }

  /// Resets the statement, which releases its locks. It can be run again with the same bindings.
  package func reset() {
    if let handle { sqlite3_reset(handle) }
  }

  /// The number of SQLite virtual machine instructions since the last call.
  package func takeSteps() -> Int {
    handle.map { Int(sqlite3_stmt_status($0, SQLITE_STMTSTATUS_VM_STEP, 1)) } ?? 0
  }

  // MARK: Parameters, numbered from 1

  package func bind(_ value: Int64, at position: Int) throws(SQLiteError) {
    try check { sqlite3_bind_int64($0, Int32(clamping: position), value) }
  }

  package func bind(_ value: Double, at position: Int) throws(SQLiteError) {
    try check { sqlite3_bind_double($0, Int32(clamping: position), value) }
  }

  package func bind(_ text: String, at position: Int) throws(SQLiteError) {
    var text = text
    try check { handle in
      text.withUTF8 { Self.bind(text: UnsafeRawBufferPointer($0), to: handle, at: position) }
    }
  }

  /// Binds UTF-8 as text.
  package func bind(text: [UInt8], at position: Int) throws(SQLiteError) {
    try check { handle in text.withUnsafeBytes { Self.bind(text: $0, to: handle, at: position) } }
  }

  /// Binds UTF-8 as text; the bytes are copied.
  package func bind(text: UnsafeRawBufferPointer, at position: Int) throws(SQLiteError) {
    try check { Self.bind(text: text, to: $0, at: position) }
  }

  package func bind(blob: [UInt8], at position: Int) throws(SQLiteError) {
    try check { handle in
      blob.withUnsafeBytes { bytes in
        bytes.isEmpty
          ? sqlite3_bind_zeroblob(handle, Int32(clamping: position), 0)
          : sqlite3_bind_blob64(
            handle, Int32(clamping: position), bytes.baseAddress, UInt64(bytes.count), csqlite_transient())
      }
    }
  }

  /// Binds UTF-8 as text without copying: the bytes must remain valid until the statement has run and is cleared.
  package func bind(textInPlace text: UnsafeRawBufferPointer, at position: Int) throws(SQLiteError) {
    try check { Self.bind(text: text, to: $0, at: position, isKept: true) }
  }

  /// Binds a blob without copying. See ``bind(textInPlace:at:)``.
  package func bind(blobInPlace blob: UnsafeRawBufferPointer, at position: Int) throws(SQLiteError) {
    try check { handle in
      blob.isEmpty
        ? sqlite3_bind_zeroblob(handle, Int32(clamping: position), 0)
        : sqlite3_bind_blob64(
          handle, Int32(clamping: position), blob.baseAddress, UInt64(blob.count), csqlite_static())
    }
  }

  /// An empty text needs an address, so that it is not bound as NULL.
  ///
  /// - Parameter isKept: Whether the bytes remain valid until the statement has run.
  private static func bind(
    text: UnsafeRawBufferPointer, to handle: OpaquePointer, at position: Int, isKept: Bool = false
  ) -> Int32 {
    guard let base = text.baseAddress, !text.isEmpty else {
      return sqlite3_bind_text64(
        handle, Int32(clamping: position), csqlite_empty_text(), 0, csqlite_static(), UInt8(SQLITE_UTF8))
    }
    return sqlite3_bind_text64(
      handle, Int32(clamping: position), base.assumingMemoryBound(to: CChar.self), UInt64(text.count),
      isKept ? csqlite_static() : csqlite_transient(), UInt8(SQLITE_UTF8))
  }

  @inline(__always)
  private func check(_ bind: (OpaquePointer) -> Int32) throws(SQLiteError) {
    guard let handle else { throw .closed(sql) }
    let code = bind(handle)
    guard code == SQLITE_OK else { throw error(code, handle) }
  }

  // MARK: Columns, numbered from 0; NULL if there is no row or no such column

  package var columnCount: Int { handle.map { Int(sqlite3_column_count($0)) } ?? 0 }

  @inline(__always)
  package func int64(_ column: Int) -> Int64 {
    handle.map { sqlite3_column_int64($0, Int32(truncatingIfNeeded: column)) } ?? 0
  }

  package func double(_ column: Int) -> Double {
    handle.map { sqlite3_column_double($0, Int32(truncatingIfNeeded: column)) } ?? 0
  }

  package func isNull(_ column: Int) -> Bool {
    handle.map { sqlite3_column_type($0, Int32(truncatingIfNeeded: column)) == SQLITE_NULL } ?? true
  }

  package func text(_ column: Int) -> String {
    withBytes(column) { String(decoding: $0, as: UTF8.self) }
  }

  /// The bytes of a text or a blob without copying: valid until the statement is stepped or reset, or the column is
  /// read as another type. For loops over many rows; elsewhere ``withBytes(_:_:)`` is safer.
  @inline(__always)
  package func unsafeBytes(_ column: Int) -> UnsafeRawBufferPointer {
    guard let handle else { return UnsafeRawBufferPointer(start: nil, count: 0) }
    let column = Int32(truncatingIfNeeded: column)
    let start = sqlite3_column_blob(handle, column)
    return UnsafeRawBufferPointer(
      start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(handle, column)))
  }

  /// Calls `body` with the bytes of a text or a blob without copying; they are valid during the call.
  @inline(__always)
  package func withBytes<R>(_ column: Int, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try body(unsafeBytes(column))
  }
}
