import CSQLiteYardstick

/// A prepared statement of the yardstick, kept for the life of its connection.
final class SQLStatement {
  private let connection: OpaquePointer
  private let handle: OpaquePointer

  init(_ sql: String, on connection: OpaquePointer) throws {
    var prepared: OpaquePointer?
    let code = sqlite3_prepare_v3(connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
    guard code == SQLITE_OK, let prepared else { throw BenchError.sqlite(connection, sql) }
    self.connection = connection
    handle = prepared
  }

  func finalize() {
    sqlite3_finalize(handle)
  }

  func bind(_ number: Int, at position: Int32) {
    sqlite3_bind_int64(handle, position, Int64(number))
  }

  func bind(_ text: String, at position: Int32) {
    var text = text
    _ = text.withUTF8 { utf8 in
      utf8.withMemoryRebound(to: CChar.self) {
        yardstick_bind_copied_text(handle, position, $0.baseAddress, Int32($0.count))
      }
    }
  }

  /// Binds text that stays where it is until the statement has run.
  func bind(inPlace text: UnsafeRawBufferPointer, at position: Int32) {
    sqlite3_bind_text(
      handle, position, text.assumingMemoryBound(to: CChar.self).baseAddress, Int32(text.count), nil)
  }

  func run() throws {
    try forEach { _ in }
  }

  /// Steps to the end, giving the bytes of the first column of each row where SQLite holds them.
  func forEach(_ body: (UnsafeRawBufferPointer) -> Void) throws {
    defer { sqlite3_reset(handle) }
    while true {
      switch sqlite3_step(handle) {
      case SQLITE_ROW:
        // As a blob: asking for text would make SQLite copy the row to end it with a zero.
        let start = sqlite3_column_blob(handle, 0)
        body(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, 0))))
      case SQLITE_DONE: return
      default: throw BenchError.sqlite(connection, String(cString: sqlite3_sql(handle)))
      }
    }
  }
}

extension BenchError {
  static func sqlite(_ connection: OpaquePointer?, _ sql: String) -> BenchError {
    BenchError("\(String(cString: sqlite3_errmsg(connection))): \(sql)")
  }
}
