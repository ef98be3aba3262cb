import CDTJSON
import CDTSQLite

/// A row of `documents`: a document and its winner, without the body.
struct DocumentRow {
  let id: String
  let sequence: Int64
  let number: Int64
  let revision: RevisionID
  let leaves: Int64
  let isDeleted: Bool
  let attachments: Int64

  /// The columns of `documents` that ``init(_:of:)`` reads.
  static let columns =
    "sequence, number, \(StoredText.revisionColumn), leaves, deleted, attachments"

  /// Whether the document was purged: it has no revision but the mark of that.
  var isPurged: Bool { isDeleted && leaves == 1 && revision == .purged }

  /// Reads the row from the current row of a statement.
  private init(_ statement: Statement, of id: String) throws(DatastoreError) {
    self.id = id
    sequence = statement.int64(0)
    number = statement.int64(1)
    revision = try RevisionID(stored: statement.unsafeBytes(2))
    leaves = statement.int64(3)
    isDeleted = statement.int64(4) != 0
    attachments = statement.int64(5)
  }

  /// The row of a document; `nil` if it does not exist.
  static func find(
    _ id: String, in table: DocumentTable = .all, on connection: Connection
  ) throws -> DocumentRow? {
    let statement = try connection.statement(table.rowSQL)
    defer { statement.reset() }
    try statement.bind(id, at: 1)
    return try statement.step() ? DocumentRow(statement, of: id) : nil
  }
}

extension RevisionID {
  /// Parses a revision id from the database, also from ``StoredText/revisionColumn``.
  ///
  /// - Throws: ``DatastoreError`` with the code `.corrupt` for an invalid id.
  package init(stored utf8: UnsafeRawBufferPointer) throws(DatastoreError) {
    var utf8 = utf8
    if utf8.first == UInt8(ascii: "{"), let inText = StoredText(utf8).revision { utf8 = inText }
    guard let id = RevisionID(utf8: utf8) else {
      throw DatastoreError(
        .damaged(
          "the store", "\(DatastoreError.quoted(String(decoding: utf8, as: UTF8.self))) is not a revision id")
      )
    }
    self = id
  }
}

extension DocumentRevision {
  /// The columns of `documents` that ``init(winner:on:files:)`` reads.
  static let columns = "id, stored_revision, deleted, coalesce(written, sequence), text, attachments, number"

  /// Creates a winner from these columns, reading its attachments on the same connection.
  init(winner row: Statement, on connection: Connection, files: AttachmentFiles) throws {
    let text = StoredText(row.unsafeBytes(4))
    let content = try Self.body(text.body, of: row.text(0))
    let revision = try RevisionID(stored: text.revision ?? row.unsafeBytes(1))
    try self.init(revision, content, row, connection, files)
  }

  /// Creates another revision from its columns in the same order.
  init(loser row: Statement, on connection: Connection, files: AttachmentFiles) throws {
    let content = try row.isNull(4) ? nil : Self.body(row.unsafeBytes(4), of: row.text(0))
    try self.init(try RevisionID(stored: row.unsafeBytes(1)), content, row, connection, files)
  }

  private init(
    _ revision: RevisionID, _ content: DocumentBody?, _ row: Statement, _ connection: Connection,
    _ files: AttachmentFiles
  ) throws {
    var attachments = Attachments()
    if row.int64(5) > 0 {
      attachments = try Attachments(document: row.int64(6), revision: revision, on: connection, files: files)
    }
    self.init(
      id: row.text(0), revisionID: revision, content: content, isDeleted: row.int64(2) != 0,
      attachments: attachments,
      sequence: row.int64(3))
  }

  /// A stored body.
  static func body(_ text: UnsafeRawBufferPointer, of id: String) throws(DatastoreError) -> DocumentBody {
    guard let body = StoredBody(text) else {
      throw DatastoreError(
        .damaged("the store", "the body of document \(DatastoreError.quoted(id)) is not a JSON object"))
    }
    return .stored(body)
  }
}
