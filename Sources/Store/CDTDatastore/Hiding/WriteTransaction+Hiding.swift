import CDTSQLite

extension WriteTransaction {
  /// The row of a document that is about to be changed. Leaves that are hidden are deleted first, so the change is that of a document
  /// without them.
  ///
  /// - Returns: `nil` if the document does not exist, or was purged.
  func rowToChange(_ id: String, on connection: Connection) throws -> DocumentRow? {
    let row = try rowToReplace(id, on: connection)
    return row?.isPurged == true ? nil : row
  }

  /// The same, also of a purged document.
  func rowToReplace(_ id: String, on connection: Connection) throws -> DocumentRow? {
    if store.hiding != nil { while try deleteIfHidden(id) {} }
    return try DocumentRow.find(id, on: connection)
  }

  /// Deletes a document if it is hidden.
  ///
  /// - Returns: Whether it was.
  package func deleteIfHidden(_ id: String) throws -> Bool {
    try use { connection in
      guard let row = try DocumentRow.find(id, on: connection), row.number != deleting, try hides(row)
      else { return false }
      // The deletion asks again.
      deleting = row.number
      defer { deleting = nil }
      _ = try delete(row.revision, of: id)
      try view.hidden?.show(row.number, on: connection)
      return true
    }
  }

  /// Reads a document again that was hidden, if a revision made elsewhere is not.
  func showUnlessHidden(_ id: String, on connection: Connection) throws {
    guard let hidden = view.hidden, !hidden.isEmpty, let row = try DocumentRow.find(id, on: connection),
      hidden.contains(row.number), try !hides(row)
    else { return }
    try view.hidden?.show(row.number, on: connection)
  }

  private func hides(_ row: DocumentRow) throws -> Bool {
    try !row.isDeleted && store.hiding?.hides(row.number, in: self) ?? false
  }
}
