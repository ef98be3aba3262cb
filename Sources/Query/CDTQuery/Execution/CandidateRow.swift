import CDTDatastore
import CDTJSON
import CDTSQLite

/// The current row of a statement that returns documents. Only this type knows their columns. Its values are valid
/// until the statement is stepped or reset.
struct CandidateRow {
  /// The columns of a candidate with its document.
  static let columns: String =
    "d.number, d.id, d.text, d.stored_revision, d.attachments, coalesce(d.written, d.sequence)"

  /// The columns of a candidate of which only the text is needed.
  static let textColumns: String = "d.number, d.text"

  /// The columns of a candidate without its document, from the documents' table or an index.
  static let idColumns: String = "d.number, d.id"
  static let keyColumns: String = "e.document, e.key"

  private let rows: CandidateRows

  init(_ rows: CandidateRows) {
    self.rows = rows
  }

  var statement: Statement { rows.statement }

  /// The number of the document, which never changes.
  var number: Int64 { rows.kept?.number ?? statement.int64(0) }

  /// Calls `body` with the key of a row of an index.
  func withKey<R>(_ body: (JSONBytes) throws -> R) rethrows -> R {
    try rows.kept?.key.bytes.withUnsafeBytes { try body(JSONBytes($0)) } ?? body(key)
  }

  /// The key of a row of an index, or of a group of a summary, in the order of the keys.
  var key: JSONBytes { JSONBytes(statement.unsafeBytes(1)) }

  var id: String {
    if let kept = rows.kept { return kept.id.bytes.withUnsafeBytes(OrderKey.string) }
    return rows.layout?.id(in: key) ?? statement.text(1)
  }

  /// Appends the ``OrderKey`` of the id, of a row that has more than the text.
  func appendID(to sortKey: inout OrderKey) {
    if let kept = rows.kept { return sortKey.append(key: kept.id) }
    guard let layout = rows.layout else { return sortKey.append(string: statement.unsafeBytes(1)) }
    let (key, start) = (key, layout.startOfID(in: key))
    sortKey.bytes.append(contentsOf: key.slice(start, OrderKey.end(in: key, at: start)))
  }

  /// The score of a text search in the order of the scores; less is better.
  ///
  /// - Parameter hasDocument: Whether the row has the columns of a document.
  func rank(hasDocument: Bool) -> Double { statement.double(hasDocument ? 6 : 2) }

  /// - Parameter hasOnlyText: Whether the row has no id besides the text.
  func isOfDesignDocument(hasOnlyText: Bool = false) -> Bool {
    guard let layout = rows.layout else {
      return hasOnlyText
        ? StoredText.isOfDesignDocument(text) : DocumentID.isDesign(statement.unsafeBytes(1))
    }
    if let kept = rows.kept {
      return kept.id.bytes.withUnsafeBytes { layout.isOfDesignDocument(JSONBytes($0), idAt: 0) }
    }
    return layout.isOfDesignDocument(key, idAt: layout.startOfID(in: key))
  }

  // MARK: With the document

  /// The JSON text with `_id` and `_rev`.
  var text: UnsafeRawBufferPointer { statement.unsafeBytes(rows.hasOnlyText ? 1 : 2) }

  /// The parts of the document, of a row that has more than the text.
  var bytes: DocumentBytes { bytes(of: StoredText(text)) }

  private func bytes(of text: StoredText) -> DocumentBytes {
    DocumentBytes(
      id: statement.unsafeBytes(1), revision: text.revision ?? statement.unsafeBytes(3), body: text.body)
  }

  /// The parts of the document; `nil` if the row has only the text, and an id is escaped in it.
  var foundBytes: DocumentBytes? {
    let text = StoredText(text)
    guard rows.hasOnlyText else { return bytes(of: text) }
    guard let id = text.id, let revision = text.revision else { return nil }
    return DocumentBytes(id: id, revision: revision, body: text.body)
  }

  var hasAttachments: Bool { statement.int64(4) > 0 }
  /// The sequence of the revision.
  var sequence: Int64 { statement.int64(5) }

  /// The document, whole.
  func document(in transaction: ReadTransaction) throws -> DocumentRevision {
    let bytes = bytes
    return DocumentRevision(
      id: id, revisionID: try RevisionID(stored: bytes.revision),
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
