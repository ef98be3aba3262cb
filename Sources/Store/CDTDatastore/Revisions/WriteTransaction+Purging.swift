import CDTSQLite

extension RevisionID {
  /// The mark of a purged document, which is a tombstone: changes, indexes and backups learn of the removal by its sequence.
  package static let purged = RevisionID(generation: 1, suffix: String(repeating: "0", count: 32))
}

extension Change {
  /// Whether the document was purged.
  package var isPurged: Bool { isDeleted && leafCount == 1 && revisionID == .purged }
}

extension WriteTransaction {
  /// Removes a document with its history, as if it had never been there. Nothing of this is replicated, and a replicator gets the document
  /// again where it is offered.
  ///
  /// - Returns: Whether the document existed.
  @discardableResult
  package func purge(_ id: String) throws -> Bool {
    try use { connection in
      guard let row = try DocumentRow.find(id, on: connection), !row.isPurged else { return false }
      for table in ["attachments", "revisions"] {
        let removal = try connection.statement("DELETE FROM \(table) WHERE document = ?1")
        try removal.bind(row.number, at: 1)
        try removal.run()
      }
      let mark = NewRevision(
        id: .purged, parent: nil, sequence: try nextReplicatedSequence(of: id), isDeleted: true)
      try DocumentWriting(connection: connection).insert(id: id, mark, over: row)
      let leaves = try connection.statement("UPDATE documents SET leaves = 1 WHERE number = ?1")
      try leaves.bind(row.number, at: 1)
      try leaves.run()
      return true
    }
  }
}
