import CDTCSQLite

/// A state of a database with a write-ahead log, by which a transaction that reads it can be told from later states.
///
/// It is a copy of the header of the log's index, which every commit changes, in any process.
/// Source: https://sqlite.org/walformat.html, The WAL-Index File Format.
package struct LogState {
  private let file: CheckedFile
  private let header: csqlite_log_header

  fileprivate init?(of file: CheckedFile) {
    var header = csqlite_log_header()
    guard let index = file.logIndex, csqlite_read_log_header(index, &header) else { return nil }
    (self.file, self.header) = (file, header)
  }

  /// Whether nothing was committed since.
  package var isCurrent: Bool {
    guard let index = file.logIndex else { return false }
    return withUnsafePointer(to: header) { csqlite_is_log_header(index, $0) }
  }
}

extension Connection {
  /// The last committed state of a database; `nil` if it is unknown, as before the connection first reads it.
  ///
  /// A transaction that begins afterwards reads this state if it is still current when the transaction has read something.
  package func logState(of schema: String = "main") -> LogState? {
    handle.flatMap { CheckedFile.of(schema, in: $0) }.flatMap(LogState.init)
  }

  /// Whether the connection only reads, and reads one state of a database.
  package func isOnlyReading(_ schema: String = "main") -> Bool {
    handle.map {
      sqlite3_txn_state($0, schema) == SQLITE_TXN_READ && sqlite3_txn_state($0, nil) == SQLITE_TXN_READ
    } ?? false
  }
}
