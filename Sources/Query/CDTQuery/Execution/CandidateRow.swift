import CDTDatastore
import CDTJSON
import CDTSQLite

/// The current row of a statement that returns documents. Only this type knows their columns. Its values are valid
/// until the statement is stepped or reset.
struct CandidateRow {
  /// The columns of a candidate with its document.
  static let columns: StaticString =
    "d.number, d.id, d.text, d.stored_revision, d.attachments, coalesce(d.written, d.sequence)"

  /// The first of them, which the conditions on a document and its order need.
  static let partColumns: StaticString = "d.number, d.id, d.text, d.stored_revision"

  /// The columns of a candidate of which only the text is needed.
  static let textColumns: StaticString = "d.number, d.text"

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

  /// - Parameter hasOnlyText: Whether the row has no id besides the text.
  func isOfDesignDocument(hasOnlyText: Bool) -> Bool {
    hasOnlyText ? StoredText.isOfDesignDocument(text) : DocumentID.isDesign(id)
  }

  // MARK: With the document

  /// The JSON text with `_id` and `_rev`.
  var text: UnsafeRawBufferPointer { statement.unsafeBytes(statement.columnCount == 2 ? 1 : 2) }

  /// The parts of the document, of a row that has more than the text.
  var bytes: DocumentBytes {
    let parts = StoredText(text)
    return DocumentBytes(id: id, revision: parts.revision ?? statement.unsafeBytes(3), body: parts.body)
  }

  var hasAttachments: Bool { statement.int64(4) > 0 }
  /// The sequence of the revision.
  var sequence: Int64 { statement.int64(5) }

  /// The document, whole.
  func document(in transaction: ReadTransaction) throws -> DocumentRevision {
    let bytes = bytes
    return DocumentRevision(
      id: String(decoding: bytes.id, as: UTF8.self), revisionID: try RevisionID(stored: bytes.revision),
      content: DocumentBody(stored: bytes.body.slice(0, bytes.body.count)), isDeleted: false,
      attachments: try attachments(in: transaction), sequence: sequence)
  }

  /// A result needs its attachments, as it may be saved.
  func attachments(in transaction: ReadTransaction) throws -> Attachments {
    guard hasAttachments else { return [] }
    return try Attachments(
      document: number, revision: RevisionID(stored: bytes.revision), on: transaction.connection(),
      files: transaction.store.attachmentFiles)
  }
}
