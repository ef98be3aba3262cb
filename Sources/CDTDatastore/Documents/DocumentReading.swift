import JSON
import SQLite

/// What can be read of documents, on any connection: within a write it sees what the write has done.
struct DocumentReading {
  let connection: Connection
  let files: AttachmentFiles

  func document(withID id: String) throws -> DocumentRevision {
    try winner(of: id).document
  }

  /// The winner of a document, and the row that has it.
  func winner(of id: String) throws -> (document: DocumentRevision, row: DocumentRow) {
    let statement = try connection.statement(
      "SELECT \(DocumentRevision.columns), \(DocumentRow.columns) FROM documents WHERE id = ?1")
    defer { statement.reset() }
    try statement.bind(id, at: 1)
    guard try statement.step() else { throw DatastoreError.noSuchDocument(id) }
    let document = try DocumentRevision(row: statement, on: connection, files: files)
    guard !document.isDeleted else { throw DatastoreError.documentDeleted(id) }
    return (document, try DocumentRow(statement, from: DocumentRevision.columnCount))
  }

  /// The text of a winner, as ``StoredDocument`` writes it.
  func documentText(withID id: String) throws -> [UInt8] {
    let statement = try connection.statement("SELECT body, revision, deleted FROM documents WHERE id = ?1")
    defer { statement.reset() }
    try statement.bind(id, at: 1)
    guard try statement.step() else { throw DatastoreError.noSuchDocument(id) }
    guard statement.int64(2) == 0 else { throw DatastoreError.documentDeleted(id) }
    var text = TextBuffer()
    var id = id
    id.withUTF8 { id in
      statement.withBytes(0) { body in
        statement.withBytes(1) { revision in
          StoredDocument.write(id: UnsafeRawBufferPointer(id), revision: revision, body: body, to: &text)
        }
      }
    }
    return text.withBytes { Array($0) }
  }

  func document(withID id: String, revision: RevisionID) throws -> DocumentRevision {
    guard let row = try DocumentRow.find(id, on: connection) else { throw DatastoreError.noSuchDocument(id) }
    let statement: Statement
    if row.revision == revision {
      statement = try connection.statement("SELECT \(DocumentRevision.columns) FROM documents WHERE id = ?1")
      try statement.bind(id, at: 1)
    } else {
      statement = try connection.statement(
        """
        SELECT ?1, revision, deleted, sequence, body, attachments, document FROM revisions
         WHERE document = ?2 AND generation = ?3 AND revision = ?4 AND body IS NOT NULL
        """)
      try statement.bind(id, at: 1)
      try statement.bind(row.number, at: 2)
      try statement.bind(Int64(revision.generation), at: 3)
      try statement.bind(revision.description, at: 4)
    }
    defer { statement.reset() }
    guard try statement.step() else { throw DatastoreError.noSuchRevision(revision, of: id) }
    return try DocumentRevision(row: statement, on: connection, files: files)
  }

  func documents(withIDs ids: [String]) throws -> [DocumentRevision] {
    let statement = try connection.statement(
      "SELECT \(DocumentRevision.columns) FROM documents WHERE id = ?1")
    defer { statement.reset() }
    var documents: [DocumentRevision] = []
    for id in ids {
      statement.reset()
      try statement.bind(id, at: 1)
      if try statement.step() {
        documents.append(try DocumentRevision(row: statement, on: connection, files: files))
      }
    }
    return documents
  }

  func allDocuments(offset: Int, limit: Int?, descending: Bool) throws -> [DocumentRevision] {
    let statement = try connection.statement(
      """
      SELECT \(DocumentRevision.columns) FROM documents WHERE NOT deleted
       ORDER BY id \(descending ? "DESC" : "ASC") LIMIT ?1 OFFSET ?2
      """)
    defer { statement.reset() }
    try statement.bind(limit.map { Int64(max(0, $0)) } ?? -1, at: 1)
    try statement.bind(Int64(max(0, offset)), at: 2)
    var documents: [DocumentRevision] = []
    while try statement.step() {
      documents.append(try DocumentRevision(row: statement, on: connection, files: files))
    }
    return documents
  }

  func allDocumentIDs() throws -> [String] {
    let statement = try connection.statement("SELECT id FROM documents WHERE NOT deleted ORDER BY id")
    defer { statement.reset() }
    var ids: [String] = []
    while try statement.step() { ids.append(statement.text(0)) }
    return ids
  }

  /// Counted by the index on ids less the index on tombstones, so no document is read.
  func documentCount() throws -> Int {
    let all = try connection.scalar("SELECT count(*) FROM documents")
    return Int(all - (try connection.scalar("SELECT count(*) FROM documents WHERE deleted")))
  }

  /// The revision and those before it, newest first, by their parents.
  func history(of id: String, from revision: RevisionID) throws -> [DocumentRevision] {
    guard let row = try DocumentRow.find(id, on: connection) else { throw DatastoreError.noSuchDocument(id) }
    var history: [DocumentRevision] = []
    var next: RevisionID? = revision
    while let current = next {
      let (found, parent) = try entry(current, of: row, id: id)
      guard let found else {
        guard history.isEmpty else { break }
        throw DatastoreError.noSuchRevision(revision, of: id)
      }
      history.append(found)
      // Generations fall along a branch; anything else is damage that must not go round in circles.
      next = parent.flatMap { $0.generation < current.generation ? $0 : nil }
    }
    return history
  }

  private func entry(
    _ revision: RevisionID, of row: DocumentRow, id: String
  ) throws -> (revision: DocumentRevision?, parent: RevisionID?) {
    let statement: Statement
    if revision == row.revision {
      statement = try connection.statement(
        "SELECT \(DocumentRevision.columns), parent FROM documents WHERE id = ?1")
      try statement.bind(id, at: 1)
    } else {
      statement = try connection.statement(
        """
        SELECT ?1, revision, deleted, sequence, body, attachments, document, parent FROM revisions
         WHERE document = ?2 AND generation = ?3 AND revision = ?4
        """)
      try statement.bind(id, at: 1)
      try statement.bind(row.number, at: 2)
      try statement.bind(Int64(revision.generation), at: 3)
      try statement.bind(revision.description, at: 4)
    }
    defer { statement.reset() }
    guard try statement.step() else { return (nil, nil) }
    let parent = statement.isNull(7) ? nil : try RevisionID(stored: statement.text(7))
    return (try DocumentRevision(row: statement, on: connection, files: files), parent)
  }

  /// The leaves that are not deleted, newest first, whole.
  func liveLeaves(of id: String) throws -> [DocumentRevision] {
    guard let row = try DocumentRow.find(id, on: connection) else { throw DatastoreError.noSuchDocument(id) }
    return try DocumentWriting(connection: connection).liveLeaves(of: row).map { leaf in
      try document(withID: id, revision: leaf)
    }
  }
}
