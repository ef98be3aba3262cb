import CDTSQLite

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
