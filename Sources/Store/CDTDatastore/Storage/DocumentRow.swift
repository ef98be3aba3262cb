import CDTJSON
import CDTSQLite

/// A row of `documents`: a document and its winner, without the body.
struct DocumentRow {
  let sequence: Int64
  let number: Int64
  let revision: RevisionID
  let leaves: Int64
  let isDeleted: Bool
  let attachments: Int64

  /// The columns of `documents` that ``init(_:from:)`` reads.
  static let columns = "sequence, number, revision, leaves, deleted, attachments"

  /// Reads the row from the current row of a statement.
  init(_ statement: Statement) throws(DatastoreError) {
    sequence = statement.int64(0)
    number = statement.int64(1)
    revision = try RevisionID(stored: statement.unsafeBytes(2))
    leaves = statement.int64(3)
    isDeleted = statement.int64(4) != 0
    attachments = statement.int64(5)
  }

  /// The row of a document; `nil` if it does not exist.
  static func find(
    _ id: String, in table: String = "documents", on connection: Connection
  ) throws -> DocumentRow? {
    let statement = try connection.statement("SELECT \(columns) FROM \(table) WHERE id = ?1")
    defer { statement.reset() }
    try statement.bind(id, at: 1)
    return try statement.step() ? DocumentRow(statement) : nil
  }
}

extension RevisionID {
  /// Parses a revision id from the database.
  ///
  /// - Throws: ``DatastoreError`` with the code `.corrupt` for an invalid id.
  package init(stored utf8: UnsafeRawBufferPointer) throws(DatastoreError) {
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
  /// The columns of `documents` that ``init(row:)`` reads.
  static let columns = "id, revision, deleted, coalesce(written, sequence), body, attachments, number"

  /// Creates a revision from these columns, reading its attachments on the same connection.
  init(row: Statement, on connection: Connection, files: AttachmentFiles) throws {
    let id = row.text(0)
    let revision = try RevisionID(stored: row.unsafeBytes(1))
    var attachments = Attachments()
    if row.int64(5) > 0 {
      attachments = try Attachments(document: row.int64(6), revision: revision, on: connection, files: files)
    }
    self.init(
      id: id, revisionID: revision, content: try Self.body(of: row, column: 4, id: id),
      isDeleted: row.int64(2) != 0,
      attachments: attachments, sequence: row.int64(3))
  }

  /// A stored body; `nil` if there is none.
  static func body(
    of row: Statement, column: Int, id: String
  ) throws(DatastoreError) -> DocumentBody? {
    guard !row.isNull(column) else { return nil }
    guard let body = row.withBytes(column, { StoredBody($0) }) else {
      throw DatastoreError(
        .damaged("the store", "the body of document \(DatastoreError.quoted(id)) is not a JSON object"))
    }
    return .stored(body)
  }
}
