import CDTSQLite

extension WriteTransaction {
  /// The row of a document that is about to be changed. Leaves that have expired are deleted first, so the change is that of a document
  /// without them.
  func rowToChange(_ id: String, on connection: Connection) throws -> DocumentRow? {
    var row = try DocumentRow.find(id, on: connection)
    while let found = row, try deleteIfExpired(id, found, on: connection) {
      row = try DocumentRow.find(id, on: connection)
    }
    return row
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
    guard row.number != deleting, try hasExpired(row, on: connection) else { return false }
    // What deletes it asks again.
    deleting = row.number
    defer { deleting = nil }
    _ = try delete(row.revision, of: id)
    try show(row.number, on: connection)
    return true
  }

  /// Reads a document again that was left out, if a revision made elsewhere has not expired.
  func showUnlessExpired(_ id: String, on connection: Connection) throws {
    guard let expired, !expired.isEmpty, let row = try DocumentRow.find(id, on: connection),
      expired.contains(row.number), try !hasExpired(row, on: connection)
    else { return }
    try show(row.number, on: connection)
  }

  private func show(_ number: Int64, on connection: Connection) throws {
    if expired?.remove(number) != nil { try ExpiredDocuments.show(number, on: connection) }
  }

  private func hasExpired(_ row: DocumentRow, on connection: Connection) throws -> Bool {
    guard !row.isDeleted, store.hidesDocuments else { return false }
    return try ExpiredDocuments.test(row.number, on: connection) { id, revision, body in
      store.extensionObjects.all.contains { $0.hasExpired(id: id, revision: revision, body: body, in: self) }
    }
  }
}
