import CDTSQLite

/// A range of document ids, in the order of their bytes.
package struct DocumentRange: Sendable {
  package struct Bound: Sendable {
    package let id: String
    package let isIncluded: Bool

    package init(_ id: String, isIncluded: Bool = true) {
      self.id = id
      self.isIncluded = isIncluded
    }
  }

  /// The lowest id.
  package var lower: Bound?
  /// The highest id.
  package var upper: Bound?
  package var isDescending: Bool
  package var includesDeleted = false

  package init(
    from lower: Bound? = nil, to upper: Bound? = nil, isDescending: Bool = false,
    includesDeleted: Bool = false
  ) {
    self.includesDeleted = includesDeleted
    self.lower = lower
    self.upper = upper
    self.isDescending = isDescending
  }

  /// The condition on the column `id`, with the parameters 1 and 2.
  fileprivate var condition: String {
    var terms = [includesDeleted ? "TRUE" : "NOT deleted"]
    if let lower { terms.append("id \(lower.isIncluded ? ">=" : ">") ?1") }
    if let upper { terms.append("id \(upper.isIncluded ? "<=" : "<") ?2") }
    return terms.joined(separator: " AND ")
  }

  fileprivate func bind(to statement: Statement) throws {
    if let lower { try statement.bind(lower.id, at: 1) }
    if let upper { try statement.bind(upper.id, at: 2) }
  }
}

/// A document in a list of ids.
package struct DocumentEntry: Sendable {
  package let id: String
  package let revisionID: RevisionID
  package let isDeleted: Bool
}

extension ReadTransaction {
  /// The documents in a range, without their bodies.
  package func documentEntries(
    in range: DocumentRange, offset: Int = 0, limit: Int
  ) throws -> [DocumentEntry] {
    var entries: [DocumentEntry] = []
    try forEachRow("id, \(StoredText.revisionColumn), deleted", in: range, offset: offset, limit: limit) {
      row, _ in
      entries.append(
        DocumentEntry(
          id: row.text(0), revisionID: try RevisionID(stored: row.unsafeBytes(1)),
          isDeleted: row.int64(2) != 0))
      return true
    }
    return entries
  }

  /// Calls a closure with the winners of the documents in a range that are not deleted, in the order of their ids, until it
  /// returns `false`.
  package func forEachDocument(
    in range: DocumentRange, offset: Int = 0, limit: Int, _ body: (DocumentRevision) throws -> Bool
  ) throws {
    let files = store.attachmentFiles
    try forEachRow(DocumentRevision.columns, in: range, offset: offset, limit: limit) { row, connection in
      try body(try DocumentRevision(winner: row, on: connection, files: files))
    }
  }

  /// The number of documents in a range that are not deleted.
  ///
  /// - Complexity: O(*n*) in the number of ids in the range.
  package func documentCount(in range: DocumentRange) throws -> Int {
    let table = try visibleDocuments().name
    return try use { connection in
      let statement = try connection.statement("SELECT count(*) FROM \(table) WHERE \(range.condition)")
      defer { statement.reset() }
      try range.bind(to: statement)
      _ = try statement.step()
      return Int(statement.int64(0))
    }
  }

  /// The number of documents, including deleted ones.
  package func allDocumentCount() throws -> Int {
    let table = try visibleDocuments().name
    return try use { Int(try $0.scalar("SELECT count(*) FROM \(table)")) }
  }

  /// The winner of a document, which may be deleted; `nil` if it does not exist.
  package func entry(ofDocument id: String) throws -> DocumentEntry? {
    let table = try visibleDocuments()
    return try use { connection in
      guard let row = try DocumentRow.find(id, in: table, on: connection) else { return nil }
      return DocumentEntry(id: id, revisionID: row.revision, isDeleted: row.isDeleted)
    }
  }

  private func forEachRow(
    _ columns: String, in range: DocumentRange, offset: Int, limit: Int,
    _ body: (Statement, Connection) throws -> Bool
  ) throws {
    let table = try visibleDocuments().name
    try use { connection in
      let statement = try connection.statement(
        """
        SELECT \(columns) FROM \(table) WHERE \(range.condition)
         ORDER BY id \(range.isDescending ? "DESC" : "ASC") LIMIT ?3 OFFSET ?4
        """)
      defer { statement.reset() }
      try range.bind(to: statement)
      try statement.bind(Int64(max(0, limit)), at: 3)
      try statement.bind(Int64(max(0, offset)), at: 4)
      while try statement.step(), try body(statement, connection) {}
    }
  }
}
