/// Rows in memory that a statement reads as the table `memory_rows`, with columns c0, c1, …
///
/// One `INSERT … SELECT` of many rows costs a third of as many single inserts.
///
/// ```swift
/// try connection.run("INSERT INTO words SELECT c0, c1 FROM memory_rows", reading: rows)
/// ```
package protocol MemoryRows: AnyObject {
  /// How many rows there are.
  var count: Int { get }

  /// The bytes of every text and blob.
  var bytes: [UInt8] { get }

  /// Gives a row's values.
  ///
  /// - Parameters:
  ///   - bytes: The rows' own bytes.
  ///   - values: Empty; what is beyond its end afterwards is NULL.
  func read(row: Int, of bytes: UnsafeRawBufferPointer, into values: inout [MemoryValue])
}

/// A value of ``MemoryRows``. Bytes are a range of the rows' own; what lies outside of them is left out.
package enum MemoryValue: Sendable, Equatable {
  case int(Int64)
  case double(Double)
  case text(Range<Int>)
  case blob(Range<Int>)
}

extension Connection {
  /// Runs a statement that reads rows in memory. They must not change meanwhile.
  package func run(_ sql: String, reading rows: some MemoryRows) throws(SQLiteError) {
    let table = try memoryTable()
    let result = rows.bytes.withUnsafeBytes { bytes in
      table.source = MemoryTable.Source(rows: rows, bytes: bytes)
      defer { table.source = nil }
      return Result { () throws(SQLiteError) in try statement(sql).run() }
    }
    try result.get()
  }
}
