import CDTJSON
import CDTSQLite

/// Writes the rows of one value index, and the documents in its overflow.
struct IndexTable {
  let entry: IndexCatalog.Entry
  private let connection: Connection
  private let insertion: RowInsertion
  private let removal: String
  /// The groups of a summary.
  private let summary: SummaryTable?

  /// - Parameter table: The table, if it is not the index's own.
  init(_ entry: IndexCatalog.Entry, on connection: Connection, named table: String? = nil) {
    self.entry = entry
    self.connection = connection
    summary = table == nil ? SummaryTable(entry, on: connection) : nil
    let table = table ?? IndexFile.table(entry.number)
    insertion = RowInsertion("INSERT OR REPLACE INTO \(table)", row: "(?, ?)")
    removal = "DELETE FROM \(table) WHERE key = ?1"
  }

  /// Inserts a range of the sorted rows. If the index is a summary, ``writeGroups()`` must follow.
  func insert(_ rows: borrowing IndexRows, _ range: Range<Int>) throws {
    try rows.withBinding { binding in
      _ = try insertion.run(range.count, on: connection) { position, statement, first throws(SQLiteError) in
        try binding.bindRow(range.lowerBound + position, to: statement, at: first)
      }
      guard let summary else { return }
      for position in range { summary.take(binding.key(of: position)) }
    }
  }

  /// Removes a row if it exists. If the index is a summary, ``writeGroups()`` must follow.
  func remove(_ rows: borrowing IndexRows, at position: Int) throws {
    let statement = try connection.statement(removal)
    defer { statement.clear() }
    try rows.withBinding { binding in
      try binding.bindKey(of: position, to: statement, at: 1)
      try statement.run()
      guard let summary, connection.changes > 0 else { return }
      summary.take(binding.key(of: position), isRemoved: true)
    }
  }

  /// Updates the groups of a summary with the rows that were inserted and removed.
  func writeGroups() throws {
    try summary?.write()
  }

  /// Adds or removes a document in the overflow.
  func setOverflow(_ overflows: Bool, document: Int64) throws {
    let statement = try connection.statement(
      overflows
        ? "INSERT OR IGNORE INTO overflow VALUES (?1, ?2)"
        : "DELETE FROM overflow WHERE index_number = ?1 AND document = ?2")
    try statement.bind(entry.number, at: 1)
    try statement.bind(document, at: 2)
    try statement.run()
  }

  /// Records the outcome for a document in the catalog, if that is new.
  ///
  /// - Returns: Whether the catalog has changed.
  func note(_ shape: IndexRows.Shape) throws -> Bool {
    guard shape.isMultiple && !entry.isMultiple || shape.overflows && !entry.hasOverflow else { return false }
    try connection.execute(
      """
      UPDATE indexes SET multiple = max(multiple, \(shape.isMultiple ? 1 : 0)),
             overflow = max(overflow, \(shape.overflows ? 1 : 0))
       WHERE number = \(entry.number)
      """)
    return true
  }
}
