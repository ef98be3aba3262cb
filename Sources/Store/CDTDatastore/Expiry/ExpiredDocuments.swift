import CDTSQLite

/// The documents that a connection leaves out, in a temporary table.
enum ExpiredDocuments {
  /// The documents without those that are left out.
  static let view = "temp.current_documents"

  /// Creates the table, and the view without its documents.
  static func create(on connection: Connection) throws(SQLiteError) {
    try connection.execute(
      """
      CREATE TEMP TABLE IF NOT EXISTS expired_documents (number INTEGER PRIMARY KEY);
      CREATE TEMP VIEW IF NOT EXISTS current_documents AS
        SELECT * FROM main.documents WHERE number NOT IN (SELECT number FROM temp.expired_documents)
      """)
  }

  static func hide(_ numbers: Set<Int64>, on connection: Connection) throws {
    try connection.statement("DELETE FROM temp.expired_documents").run()
    let numbers = numbers.sorted()
    try RowInsertion("INSERT INTO temp.expired_documents", row: "(?)")
      .run(numbers.count, on: connection) { row, statement, position throws(SQLiteError) in
        try statement.bind(numbers[row], at: position)
      }
  }

  static func show(_ number: Int64, on connection: Connection) throws {
    try connection.execute("DELETE FROM temp.expired_documents WHERE number = \(number)")
  }

  /// Tests the id, the revision and the body of a document.
  static func test(
    _ number: Int64, on connection: Connection,
    _ isTrue: (UnsafeRawBufferPointer, UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
  ) throws -> Bool {
    let statement = try connection.statement(
      "SELECT id, revision, body FROM main.documents WHERE number = ?1")
    defer { statement.reset() }
    try statement.bind(number, at: 1)
    guard try statement.step(), !statement.isNull(2) else { return false }
    return isTrue(statement.unsafeBytes(0), statement.unsafeBytes(1), statement.unsafeBytes(2))
  }
}
