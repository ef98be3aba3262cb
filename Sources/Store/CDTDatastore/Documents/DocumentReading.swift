import CDTJSON
import CDTSQLite

/// The table of documents, or a view of it.
struct DocumentTable: Sendable {
  let name: String
  /// The statements that read one document by its id, built once.
  fileprivate let textSQL: String
  fileprivate let revisionSQL: String
  let rowSQL: String
  /// Whether leaves that the user does not see are withheld, and bodies of other revisions that the user does not see, and of
  /// deleted ones.
  let withholdsLeaves: Bool

  static let all = DocumentTable("documents")

  init(_ name: String, withholdsLeaves: Bool = false) {
    self.name = name
    self.withholdsLeaves = withholdsLeaves
    textSQL = "SELECT text, deleted FROM \(name) WHERE id = ?1"
    revisionSQL = "SELECT \(DocumentRevision.columns) FROM \(name) WHERE id = ?1"
    rowSQL = "SELECT \(DocumentRow.columns) FROM \(name) WHERE id = ?1"
  }
}

/// Reads documents on any connection. On the connection of a write, it sees the changes of the write.
struct DocumentReading {
  let connection: Connection
  let table: DocumentTable
  let files: AttachmentFiles

  private var documents: String { table.name }

  /// The winner of a document.
  func document(withID id: String) throws -> DocumentRevision {
    guard let document = try documents(withIDs: [id]).first else { throw DatastoreError(.noSuchDocument(id)) }
    guard !document.isDeleted else { throw DatastoreError(.documentDeleted(id)) }
    return document
  }

  /// The text of a winner, see ``StoredText``.
  func documentText(withID id: String) throws -> [UInt8] {
    let statement = try connection.statement(table.textSQL)
    defer { statement.reset() }
    try statement.bind(id, at: 1)
    guard try statement.step() else { throw DatastoreError(.noSuchDocument(id)) }
    guard statement.int64(1) == 0 else { throw DatastoreError(.documentDeleted(id)) }
    return statement.withBytes(0) { Array($0) }
  }

  func document(withID id: String, revision: RevisionID) throws -> DocumentRevision {
    guard let row = try DocumentRow.find(id, in: table, on: connection) else {
      throw DatastoreError(.noSuchDocument(id))
    }
    guard let found = try entry(revision, of: row, id: id, needsBody: true).revision else {
      throw DatastoreError(.noSuchRevision(revision, of: id))
    }
    return found
  }

  func documents(withIDs ids: [String]) throws -> [DocumentRevision] {
    let statement = try connection.statement(table.revisionSQL)
    defer { statement.reset() }
    var documents: [DocumentRevision] = []
    for id in ids {
      statement.reset()
      try statement.bind(id, at: 1)
      if try statement.step() {
        documents.append(
          withheld(try DocumentRevision(winner: statement, on: connection, files: files)))
      }
    }
    return documents
  }

  /// A revision without what the user does not see: the body and the attachments of a tombstone, and the attachments of a revision
  /// without a body.
  private func withheld(_ revision: DocumentRevision) -> DocumentRevision {
    guard table.withholdsLeaves, revision.isDeleted || !revision.hasBody else { return revision }
    var revision = revision
    if revision.isDeleted { revision.body = [:] }
    revision.attachments = []
    return revision
  }

  func allDocuments(offset: Int, limit: Int?, descending: Bool) throws -> [DocumentRevision] {
    let statement = try connection.statement(
      """
      SELECT \(DocumentRevision.columns) FROM \(documents) WHERE NOT deleted
       ORDER BY id \(descending ? "DESC" : "ASC") LIMIT ?1 OFFSET ?2
      """)
    defer { statement.reset() }
    try statement.bind(limit.map { Int64(max(0, $0)) } ?? -1, at: 1)
    try statement.bind(Int64(max(0, offset)), at: 2)
    var documents: [DocumentRevision] = []
    while try statement.step() {
      documents.append(try DocumentRevision(winner: statement, on: connection, files: files))
    }
    return documents
  }

  func allDocumentIDs() throws -> [String] {
    try texts("SELECT id FROM \(documents) WHERE NOT deleted ORDER BY id")
  }

  /// The index on ids minus the index on tombstones, so no document is read.
  func documentCount() throws -> Int {
    let all = try connection.scalar("SELECT count(*) FROM \(documents)")
    return Int(all - (try connection.scalar("SELECT count(*) FROM \(documents) WHERE deleted")))
  }

  /// The revision and its ancestors, newest first.
  func history(of id: String, from revision: RevisionID) throws -> [DocumentRevision] {
    guard let row = try DocumentRow.find(id, in: table, on: connection) else {
      throw DatastoreError(.noSuchDocument(id))
    }
    var history: [DocumentRevision] = []
    var next: RevisionID? = revision
    while let current = next {
      let (found, parent) = try entry(current, of: row, id: id)
      guard let found else {
        guard history.isEmpty else { break }
        throw DatastoreError(.noSuchRevision(revision, of: id))
      }
      history.append(found)
      // Generations decrease along a branch; stop at anything else, which is damage and could be a cycle.
      next = parent.flatMap { $0.generation < current.generation ? $0 : nil }
    }
    return history
  }

  private func entry(
    _ revision: RevisionID, of row: DocumentRow, id: String, needsBody: Bool = false
  ) throws -> (revision: DocumentRevision?, parent: RevisionID?) {
    let statement: Statement
    if revision == row.revision {
      statement = try connection.statement(
        "SELECT \(DocumentRevision.columns), parent FROM \(documents) WHERE id = ?1")
      try statement.bind(id, at: 1)
    } else {
      let seen = "\(SeenDocuments.function)(?1, body, revision)"
      let body = table.withholdsLeaves ? "CASE WHEN deleted OR \(seen) THEN body END" : "body"
      statement = try connection.statement(
        """
        SELECT ?1, revision, deleted, sequence, \(body), attachments, document, parent FROM revisions
         WHERE document = ?2 AND generation = ?3 AND revision = ?4\(needsBody ? " AND \(body) IS NOT NULL" : "")
        """)
      try statement.bind(id, at: 1)
      try statement.bind(row.number, at: 2)
      try statement.bind(Int64(revision.generation), at: 3)
      try statement.bind(revision.description, at: 4)
    }
    defer { statement.reset() }
    guard try statement.step() else { return (nil, nil) }
    let parent = statement.isNull(7) ? nil : try RevisionID(stored: statement.unsafeBytes(7))
    let found =
      try revision == row.revision
      ? DocumentRevision(winner: statement, on: connection, files: files)
      : DocumentRevision(loser: statement, on: connection, files: files)
    return (withheld(found), parent)
  }

  /// The leaves that are not deleted, newest first, with bodies.
  func currentLeaves(of id: String) throws -> [DocumentRevision] {
    guard let row = try DocumentRow.find(id, in: table, on: connection) else {
      throw DatastoreError(.noSuchDocument(id))
    }
    let leaves = try DocumentWriting(connection: connection).currentLeaves(of: row)
    guard table.withholdsLeaves else { return try leaves.map { try document(withID: id, revision: $0) } }
    return try leaves.compactMap { try entry($0, of: row, id: id, needsBody: true).revision }
  }

  func conflictedDocumentIDs() throws -> [String] {
    let seen = table.withholdsLeaves ? " AND \(SeenDocuments.function)(d.id, r.body, r.revision)" : ""
    return try texts(
      """
      SELECT id FROM \(documents) d
       WHERE leaves > 1 AND NOT deleted
         AND EXISTS (SELECT 1 FROM revisions r WHERE r.document = d.number AND r.leaf AND r.deleted = 0\(seen))
       ORDER BY id
      """)
  }

  func localDocument(withID id: String) throws -> LocalDocument? {
    let statement = try connection.statement("SELECT body FROM local_documents WHERE id = ?1")
    defer { statement.reset() }
    try statement.bind(id, at: 1)
    guard try statement.step() else { return nil }
    return LocalDocument(stored: try DocumentRevision.body(statement.unsafeBytes(0), of: id).object)
  }

  func localDocumentIDs() throws -> [String] {
    try texts("SELECT id FROM local_documents ORDER BY id")
  }

  func changes(since sequence: Int64, limit: Int?) throws -> Changes {
    let documents = try changes(
      "sequence > ?1 ORDER BY sequence LIMIT ?2", [sequence, limit.map { Int64(max(0, $0)) } ?? -1])
    return Changes(documents: documents, lastSequence: documents.last?.sequence ?? max(0, sequence))
  }

  /// The newest changes up to a sequence, newest first.
  func changes(before sequence: Int64, limit: Int) throws -> [Change] {
    try changes("sequence < ?1 ORDER BY sequence DESC LIMIT ?2", [sequence, Int64(max(0, limit))])
  }

  /// The change with a sequence; `nil` if its document has changed since.
  func change(at sequence: Int64) throws -> Change? {
    try changes("sequence = ?1", [sequence]).first
  }

  /// The sequences, after a given one, of the numbered documents, of all documents with several leaves, and of all tombstones with a
  /// body, in ascending order.
  ///
  /// - Parameter shouldContinue: Called for each document.
  func sequences(ofDocuments numbers: [Int64], after sequence: Int64, shouldContinue: () throws -> Void)
    throws
    -> [Int64]
  {
    var found: Set<Int64> = []
    let one = try connection.statement("SELECT sequence FROM documents WHERE number = ?1")
    defer { one.reset() }
    for number in numbers {
      try shouldContinue()
      try one.bind(number, at: 1)
      if try one.step() { found.insert(one.int64(0)) }
      one.reset()
    }
    let others = try connection.statement(
      """
      SELECT sequence FROM documents WHERE leaves > 1
       UNION ALL SELECT sequence FROM documents WHERE deleted AND \(StoredText.bodySQL) <> '{}'
      """)
    defer { others.reset() }
    while try others.step() {
      try shouldContinue()
      found.insert(others.int64(0))
    }
    return found.filter { $0 > sequence }.sorted()
  }

  private func changes(_ condition: String, _ parameters: [Int64]) throws -> [Change] {
    let statement = try connection.statement(
      "SELECT sequence, id, \(StoredText.revisionColumn), deleted, leaves FROM \(documents) WHERE \(condition)"
    )
    defer { statement.reset() }
    for (position, parameter) in parameters.enumerated() { try statement.bind(parameter, at: position + 1) }
    var changes: [Change] = []
    while try statement.step() { changes.append(try Change(statement)) }
    return changes
  }

  /// The first column of every row.
  private func texts(_ sql: String) throws -> [String] {
    let statement = try connection.statement(sql)
    defer { statement.reset() }
    var texts: [String] = []
    while try statement.step() { texts.append(statement.text(0)) }
    return texts
  }
}

extension Change {
  /// Reads a row: the sequence, the id, the revision, whether it is deleted, and the number of leaves.
  init(_ row: Statement) throws {
    self.init(
      sequence: row.int64(0), id: row.text(1), revisionID: try RevisionID(stored: row.unsafeBytes(2)),
      isDeleted: row.int64(3) != 0, leafCount: Int(clamping: row.int64(4)))
  }
}
