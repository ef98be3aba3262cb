import CDTDatastore
import CDTJSON
import CouchDB
import Hummingbird
import NIOCore

/// Reads the revisions of documents that a request names, in pages, so that few of them are in memory at a time.
struct RevisionReader: Sendable {
  /// A document of a request.
  struct Document: Sendable {
    let id: String
    var revisions = OpenRevisions.all
    /// The revisions that the client has.
    var since: [RevisionID] = []
    /// The error of the request for this document, and the revision that it names.
    var error: (reason: CouchError, revision: JSONValue)?
  }

  /// A revision, or an error in its place.
  struct Row: Sendable {
    let id: String
    /// `nil` if the document has no revision or the request for it is malformed.
    var revision: RevisionID?
    var part: DocumentPart
    /// The time at which it was written, and the user, if that is asked for and known.
    var arrival: JSONObject?
    var isFirstOfDocument = true
    var isLastOfDocument = true
  }

  private let database: Database
  private let isLatest: Bool
  private let missing: @Sendable (_ id: String, RevisionID?) -> DocumentPart
  private var documents: ArraySlice<Document>
  /// The revisions of the first document that were not read yet; `nil` if none was.
  private var pending: ArraySlice<RevisionID>?
  /// The tree of that document, which each page would read again.
  private var tree: (id: String, tree: DocumentTree?)?
  /// The rows of a page that were read.
  private var rows: ArraySlice<Row> = []
  var options: DocumentOptions
  var form = AttachmentContentForm.inline
  /// Whether rows say when revisions were written.
  var hasArrivals = false

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

  /// The next revision; `nil` at the end.
  mutating func next() async throws -> Row? {
    if rows.isEmpty { try await fill() }
    return rows.popFirst()
  }

  /// Reads the first page, if none was read, and returns its first row.
  mutating func first() async throws -> Row? {
    if rows.isEmpty { try await fill() }
    return rows.first
  }

  private mutating func fill() async throws {
    self = try await database.readDocuments { [self] transaction in
      var (length, reader) = (0, self)
      transaction.view.lastTree = tree
      while reader.rows.count < Self.page, length < ReplyStream.pageLength,
        let row = try reader.read(transaction)
      {
        length += row.part.text.count
        reader.rows.append(row)
      }
      reader.tree = reader.pending == nil ? nil : transaction.view.lastTree
      return reader
    }
    for position in rows.indices {
      let row = rows[position]
      guard let revision = row.revision else { continue }
      rows[position].part = try await row.part.verified(id: row.id, revision: revision)
    }
  }

  private mutating func read(_ transaction: ReadTransaction) throws -> Row? {
    guard let document = documents.first else { return nil }
    let id = document.id
    if let error = document.error {
      documents.removeFirst()
      var row: JSONObject = form == .follows ? [:] : ["id": Self.idJSON(id)]
      row["rev"] = error.revision
      for (name, value) in error.reason.json { row[name] = value }
      return Row(id: id, part: DocumentPart(error: row))
    }
    var rest =
      try pending ?? transaction.openRevisionIDs(of: id, document.revisions, isLatest: isLatest)[...]
    let isFirst = pending == nil
    let revision = rest.popFirst()
    pending = rest.isEmpty ? nil : rest
    if rest.isEmpty { documents.removeFirst() }
    let found = try revision.flatMap { try transaction.documentIfStored(id, $0) }
    return Row(
      id: id, revision: revision, part: try part(of: document, revision, found, transaction),
      arrival: try found.flatMap { try arrival(of: $0, transaction) },
      isFirstOfDocument: isFirst, isLastOfDocument: rest.isEmpty)
  }

  private func arrival(of found: DocumentRevision, _ transaction: ReadTransaction) throws -> JSONObject? {
    guard hasArrivals, let arrival = try transaction.arrival(of: found) else { return nil }
    var json: JSONObject = ["time": ISO8601.text(of: arrival.time).map { .string($0) } ?? .null]
    // To others than admins, the names of users could tell of documents that rules withhold.
    if let user = arrival.user, database.isForAdmin { json["user"] = .string(user) }
    return json
  }

  /// The id of a document in a row; null for one that names none.
  static func idJSON(_ id: String) -> JSONValue { id.isEmpty ? .null : .string(id) }

  private func part(
    of document: Document, _ revision: RevisionID?, _ found: DocumentRevision?,
    _ transaction: ReadTransaction
  ) throws -> DocumentPart {
    guard let revision, let found else {
      if let revision, try transaction.leftRevision(of: document.id) == revision {
        return try .removed(document.id, revision, transaction, withHistory: options.revisions)
      }
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

/// A revision as a part of a reply: its JSON, and after it the attachments whose content is wanted. In the place of one that can't
/// be read, the JSON of an error.
struct DocumentPart: Sendable {
  let text: [UInt8]
  let attachments: [DocumentAttachment]
  /// Whether the text is an error, not a document.
  let isError: Bool

  init(error: JSONObject) {
    text = error.utf8Text
    attachments = []
    isError = true
  }

  /// An error of a revision, as in the rows of `_bulk_get`.
  init(_ error: CouchError, id: String, revision: String) {
    self.init(error: error.row(id: id, revision: revision))
  }

  init(_ revision: DocumentRevision, _ writing: DocumentText, _ form: AttachmentContentForm) throws {
    text = try writing.text(of: revision, content: form)
    attachments = form == .follows ? try writing.followingAttachments(of: revision) : []
    isError = false
  }

  /// A revision that has left what the user sees, as Sync Gateway writes it.
  static func removed(
    _ id: String, _ revision: RevisionID, _ transaction: ReadTransaction, withHistory: Bool
  ) throws -> DocumentPart {
    var json: JSONObject = ["_id": .string(id), "_rev": .string(revision.description), "_removed": true]
    if withHistory, let tree = try transaction.wholeTree(ofDocument: id) {
      json["_revisions"] = tree.history(of: revision).prefix(100).map(\.id).revisionsJSON
    }
    return DocumentPart(text: json)
  }

  private init(text json: JSONObject) {
    (text, attachments, isError) = (json.utf8Text, [], false)
  }

  /// The part, or an error in its place if an attachment is missing or damaged: in the middle of the reply, that would end
  /// it, and the client would lose the documents that follow.
  func verified(id: String, revision: RevisionID) async throws -> DocumentPart {
    do {
      for attachment in attachments { try await attachment.verify() }
      return self
    } catch let error as DatastoreError where error.isOfFile {
      return DocumentPart(.unreadable(error), id: id, revision: revision.description)
    }
  }

  /// The reply with this part alone, as `multipart/related`.
  ///
  /// - Parameter database: Stays open until its attachments are sent.
  func related(of database: Database, headers: HTTPFields) -> Response {
    let content = RelatedDocumentBody(text, attachments)
    var headers = headers
    headers[.contentType] = content.contentType
    headers[.contentLength] = content.length.map { String($0) }
    return Response(
      status: .ok, headers: headers,
      body: ResponseBody(contentLength: content.length.map { Int($0) }) { out in
        for try await chunk in content { try await out.send(ByteBuffer(bytes: chunk)) }
        withExtendedLifetime(database) {}
        try await out.finish(nil)
      })
  }

  /// The reply with several parts, as `multipart/mixed`: those with attachments are `multipart/related` themselves.
  ///
  /// Its length is sent: in chunks it can stop CouchDB's replicator, whose HTTP client waits when what it has read ends
  /// with the line of a chunk's size.
  ///
  /// - Parameter database: Stays open until its attachments are sent.
  static func mixed(_ parts: [DocumentPart], of database: Database) -> Response {
    let writer = MultipartWriter()
    let bodies = parts.map { MixedBody($0) }
    var headers: HTTPFields = [.contentType: writer.contentType("multipart/mixed")]
    let length = writer.contentLength(of: bodies.map { ($0.head, $0.length ?? -1) })
    headers[.contentLength] = length.map { String($0) }
    return Response(
      status: .ok, headers: headers,
      body: ResponseBody(contentLength: length.map { Int($0) }) { out in
        var writer = writer
        for body in bodies { try await body.write(with: &writer, to: &out) }
        withExtendedLifetime(database) {}
        try await out.write(ByteBuffer(bytes: writer.end()))
        try await out.finish(nil)
      })
  }

  /// Writes the part into a body of several.
  ///
  /// - Parameter fields: Of the part's head, if it has attachments.
  func write(
    with writer: inout MultipartWriter, fields: [MultipartHead.Field], to out: inout any ResponseBodyWriter
  ) async throws {
    try await MixedBody(self, fields: fields).write(with: &writer, to: &out)
  }

  /// A part as it stands in a body of several.
  private struct MixedBody: Sendable {
    let head: MultipartHead
    /// `nil` if it exceeds an `Int64`.
    let length: Int64?
    private let text: [UInt8]
    /// The part with its attachments; `nil` if there are none.
    private let related: RelatedDocumentBody?

    init(_ part: DocumentPart, fields: [MultipartHead.Field] = []) {
      text = part.text
      guard !part.attachments.isEmpty else {
        let type = part.isError ? "application/json; error=\"true\"" : "application/json"
        (head, length, related) = (MultipartHead([.init("Content-Type", type)]), Int64(text.count), nil)
        return
      }
      let content = RelatedDocumentBody(text, part.attachments)
      head = MultipartHead(fields + [.init("Content-Type", content.contentType)])
      (length, related) = (content.length, content)
    }

    func write(with writer: inout MultipartWriter, to out: inout any ResponseBodyWriter) async throws {
      try await out.write(ByteBuffer(bytes: writer.begin(head)))
      guard let related else { return try await out.send(ByteBuffer(bytes: text)) }
      for try await chunk in related { try await out.send(ByteBuffer(bytes: chunk)) }
    }
  }
}

extension [RevisionID] {
  /// A history as `_revisions` has it, as far as no generation is missing.
  var revisionsJSON: JSONValue {
    guard let first else { return ["start": 0, "ids": []] }
    let connected = zip(self, 0...).prefix { $0.generation == first.generation - $1 }
    return [
      "start": .int(Int64(first.generation)), "ids": .array(connected.map { .string($0.0.suffix) }),
    ]
  }
}

extension DocumentText {
  /// The text of a document as the last member of a row. If a file of it can't be read, this is `null`, and the error's members
  /// follow: an error in the middle of the reply would end it, and the client would lose the rows that follow.
  func lastMember(
    of revision: DocumentRevision, _ projected: ([UInt8]) throws -> [UInt8] = { $0 }
  ) throws -> [UInt8] {
    do {
      return try projected(text(of: revision))
    } catch let error as DatastoreError where error.isOfFile {
      return Array("null,".utf8) + CouchError.unreadable(error).json.utf8Text.dropFirst().dropLast()
    }
  }
}

extension CouchError {
  /// The error of a revision that a damaged file keeps from being read. Clients take a status of 404 for a revision that the
  /// database does not have.
  static func unreadable(_ error: DatastoreError) -> CouchError {
    error.code == .corrupt
      ? .damaged
      : CouchError(
        500, "internal_server_error",
        "A file of the revision is missing; restore it from a backup, or save the attachment again.")
  }

  private static let damaged = CouchError(
    500, "internal_server_error",
    "What is stored differs from what was saved; restore it from a backup, or save it again.")
}

extension DatastoreError {
  /// Whether a file is missing, damaged or can't be read.
  var isOfFile: Bool { [.corrupt, .notFound, .io].contains(code) }
}
