import CDTSQLite

/// Documents that have expired. From that instant on, reads leave them out and changes treat them as deleted; an extension, which
/// decides when a document expires, deletes them soon after.
extension ReadTransaction {
  /// The numbers of the documents that had expired when the transaction first asked, and are not deleted yet.
  package func expiredDocuments() throws -> Set<Int64> {
    if let expired { return expired }
    var found = Set<Int64>()
    for each in store.extensionObjects.all where each.hidesDocuments {
      found.formUnion(try each.expiredDocuments(in: self))
    }
    if !found.isEmpty { try use { try ExpiredDocuments.hide(found, on: $0) } }
    expired = found
    return found
  }

  /// What reads of documents read.
  func documentsTable() throws -> String {
    try expiredDocuments().isEmpty ? "documents" : ExpiredDocuments.view
  }

  /// Whether a document has expired and is left out.
  func isHidden(_ id: String) throws -> Bool {
    let expired = try expiredDocuments()
    guard !expired.isEmpty else { return false }
    return try use { try DocumentRow.find(id, on: $0) }.map { expired.contains($0.number) } ?? false
  }
}

extension WriteTransaction {
  /// The row of a document that is about to be changed. A document that has expired is deleted first, so the change is that of a
  /// deleted document.
  func rowToChange(_ id: String, on connection: Connection) throws -> DocumentRow? {
    guard let row = try DocumentRow.find(id, on: connection) else { return nil }
    return try deleteIfExpired(id, row, on: connection) ? DocumentRow.find(id, on: connection) : row
  }

  /// Deletes a document if it has expired.
  ///
  /// - Returns: Whether it has.
  package func deleteIfExpired(_ id: String) throws -> Bool {
    try use { connection in
      try DocumentRow.find(id, on: connection).map { try deleteIfExpired(id, $0, on: connection) } ?? false
    }
  }

  private func deleteIfExpired(_ id: String, _ row: DocumentRow, on connection: Connection) throws -> Bool {
    let extensions = store.extensionObjects.all.filter(\.hidesDocuments)
    guard !extensions.isEmpty, !row.isDeleted, row.number != deleting else { return false }
    let hasExpired = try ExpiredDocuments.test(row.number, on: connection) { id, revision, body in
      extensions.contains { $0.hasExpired(id: id, revision: revision, body: body) }
    }
    guard hasExpired else { return false }
    // What deletes it asks again.
    deleting = row.number
    defer { deleting = nil }
    _ = try delete(row.revision, of: id)
    if expired?.remove(row.number) != nil { try ExpiredDocuments.show(row.number, on: connection) }
    return true
  }
}

/// The documents that a connection leaves out, in a temporary table.
enum ExpiredDocuments {
  /// The documents without those that are left out.
  static let view = "temp.current_documents"

  static func hide(_ numbers: Set<Int64>, on connection: Connection) throws {
    try connection.execute(
      """
      CREATE TEMP TABLE IF NOT EXISTS expired_documents (number INTEGER PRIMARY KEY);
      CREATE TEMP VIEW IF NOT EXISTS current_documents AS
        SELECT * FROM main.documents WHERE number NOT IN (SELECT number FROM temp.expired_documents);
      DELETE FROM temp.expired_documents
      """)
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
