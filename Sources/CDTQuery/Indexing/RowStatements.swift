import SQLite

/// The statements on single rows of an index table, each prepared when it is first needed.
final class RowStatements {
  private let connection: Connection
  private let table: String
  private let fields: Int
  private var lookup: Statement?
  private var insertion: Statement?
  private var deletion: Statement?

  init(_ entry: IndexCatalog.Entry, on connection: Connection) {
    self.connection = connection
    table = IndexFile.table(entry.number)
    fields = entry.definition.fields.count
  }

  /// The sequence that a row has, or `nil` when it is not there.
  func sequence(of row: IndexEntries.Entry, id: UnsafeRawBufferPointer) throws -> Int64? {
    let statement = try lookup ?? connection.statement("SELECT sequence FROM \(table) WHERE \(key)")
    lookup = statement
    defer { statement.reset() }
    try bind(row, id: id, to: statement)
    return try statement.step() ? statement.int64(0) : nil
  }

  /// Writes a row, in the place of the one with its key.
  func write(_ row: IndexEntries.Entry, of document: IndexRows.Document) throws {
    let statement =
      try insertion ?? connection.statement("INSERT OR REPLACE INTO \(table) VALUES (\(columns))")
    insertion = statement
    try bind(row, id: document.id, to: statement)
    try statement.bind(document.sequence, at: 2 * fields + 2)
    try statement.bind(document.absent, at: 2 * fields + 3)
    try statement.run()
  }

  /// Removes a row, if it is there.
  func remove(_ row: IndexEntries.Entry, id: UnsafeRawBufferPointer) throws {
    let statement = try deletion ?? connection.statement("DELETE FROM \(table) WHERE \(key)")
    deletion = statement
    try bind(row, id: id, to: statement)
    try statement.run()
  }

  private var columns: String {
    (1...2 * fields + 3).map { "?\($0)" }.joined(separator: ", ")
  }

  /// The condition for one row by its whole key.
  private var key: String {
    let values = (0..<fields).map { "t\($0) = ?\(2 * $0 + 1) AND v\($0) = ?\(2 * $0 + 2)" }
    return (values + ["id = ?\(2 * fields + 1)"]).joined(separator: " AND ")
  }

  private func bind(_ row: IndexEntries.Entry, id: UnsafeRawBufferPointer, to statement: Statement) throws {
    for (number, key) in row.keys.enumerated() { try statement.bind(key, at: 2 * number + 1) }
    try statement.bind(text: id, at: 2 * fields + 1)
  }
}
