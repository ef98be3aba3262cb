import CDTDatastore
import CDTJSON
import CouchDB

/// Reads the revisions of documents that a request names, in pages, so that few of them are in memory at a time.
struct RevisionReader: Sendable {
  /// A document of a request.
  struct Document: Sendable {
    let id: String
    var revisions = OpenRevisions.all
    /// The revisions that the client has.
    var since: [RevisionID] = []
    /// The error of the request for this document.
    var error: CouchError?
  }

  /// A revision, or an error in its place.
  struct Row: Sendable {
    let id: String
    /// `nil` if the document has no revision or the request for it is malformed.
    var revision: RevisionID?
    var part: DocumentPart
    var isFirstOfDocument = true
    var isLastOfDocument = true
  }

  private let database: Database
  private let isLatest: Bool
  private let missing: @Sendable (_ id: String, RevisionID?) -> DocumentPart
  private var documents: ArraySlice<Document>
  /// The revisions of the first document that were not read yet; `nil` if none was.
  private var pending: ArraySlice<RevisionID>?
  var options: DocumentOptions
  var form = AttachmentContentForm.inline

  /// - Parameters:
  ///   - isLatest: Whether to read the leaves that descend from a revision in its place.
  ///   - missing: Returns the error for a revision that the database does not have; without one, for the document.
  init(
    _ documents: [Document], of database: Database, isLatest: Bool, _ options: DocumentOptions,
    missing: @escaping @Sendable (_ id: String, RevisionID?) -> DocumentPart
  ) {
    self.documents = documents[...]
    self.database = database
    self.isLatest = isLatest
    self.options = options
    self.missing = missing
  }

  private static let page = 50

  /// The next revisions; empty at the end.
  mutating func next() async throws -> [Row] {
    var (rows, reader) = try await database.store.read { [self] transaction in
      var (rows, length, reader) = ([Row](), 0, self)
      while rows.count < Self.page, length < ReplyStream.pageLength, let row = try reader.next(transaction) {
        length += row.part.text.count
        rows.append(row)
      }
      return (rows, reader)
    }
    self = reader
    for position in rows.indices {
      let row = rows[position]
      guard let revision = row.revision else { continue }
      rows[position].part = try await row.part.verified(id: row.id, revision: revision)
    }
    return rows
  }

  private mutating func next(_ transaction: ReadTransaction) throws -> Row? {
    guard let document = documents.first else { return nil }
    let id = document.id
    if let error = document.error {
      documents.removeFirst()
      return Row(id: id, part: DocumentPart(error, id: id, revision: "undefined"))
    }
    var rest =
      try pending ?? transaction.openRevisionIDs(of: id, document.revisions, isLatest: isLatest)[...]
    let isFirst = pending == nil
    let revision = rest.popFirst()
    pending = rest.isEmpty ? nil : rest
    if rest.isEmpty { documents.removeFirst() }
    return Row(
      id: id, revision: revision, part: try part(of: document, revision, transaction),
      isFirstOfDocument: isFirst, isLastOfDocument: rest.isEmpty)
  }

  private func part(
    of document: Document, _ revision: RevisionID?, _ transaction: ReadTransaction
  ) throws -> DocumentPart {
    guard let revision, let found = try transaction.documentIfStored(document.id, revision) else {
      return missing(document.id, revision)
    }
    var options = options
    options.attachmentsSince = document.since
    do {
      return try DocumentPart(found, DocumentText(transaction, options), form)
    } catch let error as DatastoreError where error.isOfFile {
      return DocumentPart(.unreadable(error), id: document.id, revision: revision.description)
    }
  }
}
