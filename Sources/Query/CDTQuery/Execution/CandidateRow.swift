import CDTDatastore
import CDTJSON
import CDTSQLite

/// The current row of a statement that returns documents. Only this type knows their columns. Its values are valid
/// until the statement is stepped or reset.
struct CandidateRow {
  /// The columns of a candidate with its document.
  static let columns: StaticString =
    "d.number, d.id, d.revision, d.body, d.attachments, coalesce(d.written, d.sequence)"

  /// The first of them, which the text of a document needs.
  static let textColumns: StaticString = "d.number, d.id, d.revision, d.body"

  /// The columns of a candidate without its document, from the documents' table or an index.
  static let idColumns: StaticString = "d.number, d.id"
  static let idIndexColumns: StaticString = "e.document, e.id"

  private let statement: Statement

  init(_ statement: Statement) {
    self.statement = statement
  }

  /// The number of the document, which never changes.
  var number: Int64 { statement.int64(0) }
  var id: UnsafeRawBufferPointer { statement.unsafeBytes(1) }

  /// The score of a text search in the order of the scores; less is better.
  ///
  /// - Parameter hasDocument: Whether the row has the columns of a document.
  func rank(hasDocument: Bool) -> Double { statement.double(hasDocument ? 6 : 2) }

  var isOfDesignDocument: Bool { DocumentID.isDesign(id) }

  // MARK: With the document or its text

  var bytes: DocumentBytes {
    DocumentBytes(id: id, revision: statement.unsafeBytes(2), body: statement.unsafeBytes(3))
  }

  // MARK: With the document

  var hasAttachments: Bool { statement.int64(4) > 0 }
  /// The sequence of the revision.
  var sequence: Int64 { statement.int64(5) }

  /// The document, whole.
  func document(in transaction: ReadTransaction) throws -> DocumentRevision {
    let (id, body) = (bytes.id, bytes.body)
    return DocumentRevision(
      id: String(decoding: id, as: UTF8.self), revisionID: try revision,
      content: DocumentBody(stored: body.slice(0, body.count)), isDeleted: false,
      attachments: try attachments(in: transaction), sequence: sequence)
  }

  /// A result needs its attachments, as it may be saved.
  func attachments(in transaction: ReadTransaction) throws -> Attachments {
    guard hasAttachments else { return [] }
    return try Attachments(
      document: number, revision: revision, on: transaction.connection(),
      files: transaction.store.attachmentFiles)
  }

  private var revision: RevisionID {
    get throws { try RevisionID(stored: bytes.revision) }
  }
}
