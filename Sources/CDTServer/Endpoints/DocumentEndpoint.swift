import CDTDatastore
import CDTJSON
import CDTQuery
import CouchDB
import HTTPTypes
import Hummingbird

/// A document.
struct DocumentEndpoint: Sendable {
  let exchange: Exchange
  let access: DatabaseAccess
  let id: String

  var database: Database { access.database }

  func respond() async throws -> Response {
    switch exchange.method {
    case .get, .head: return try await get()
    case .put: return try await put()
    case .post: return try await post()
    case .delete: return try await delete()
    case HTTPRequest.Method("COPY"): return try await copy()
    default: throw exchange.methodNotAllowed("DELETE,GET,HEAD,POST,PUT,COPY")
    }
  }

  // MARK: Reading

  private func get() async throws -> Response {
    let parameters = exchange.parameters
    let options = try DocumentOptions(parameters)
    let isLatest = parameters.flag("latest")
    if let text = parameters["open_revs"] {
      return try await openRevisions(OpenRevisions(parameter: text), isLatest: isLatest, options)
    }
    let (id, wanted) = (id, try parameters.revision("rev"))
    let isMultipart = options.attachments && exchange.accepts("multipart/related")
    let form: AttachmentContentForm = isMultipart ? .follows : .inline
    let (revision, part) = try await database.store.read { transaction in
      let revision = try transaction.revision(of: id, wanted, isLatest: isLatest)
      return (revision.revisionID, try DocumentPart(revision, DocumentText(transaction, options), form))
    }
    var headers = Self.headers(revision)
    if options.tellsMore {
      headers[.eTag] = nil
    } else if exchange.hasNone(of: headers[.eTag]) {
      return Reply.empty(.notModified, headers: headers)
    }
    return part.attachments.isEmpty
      ? Reply.text(part.text, headers: headers) : part.related(of: database, headers: headers)
  }

  /// Several revisions of the document, as `multipart/mixed` or as an array.
  private func openRevisions(
    _ wanted: OpenRevisions, isLatest: Bool, _ options: DocumentOptions
  ) async throws -> Response {
    var document = RevisionReader.Document(id: id, revisions: wanted)
    document.since = options.attachmentsSince
    var reader = RevisionReader([document], of: database, isLatest: isLatest, options) { _, revision in
      DocumentPart(error: ["missing": .string(revision?.description ?? "")])
    }
    let isMultipart = exchange.accepts("multipart/mixed")
    if isMultipart {
      // As at CouchDB, whatever the request says of attachments.
      reader.options.attachments = true
      reader.form = .follows
    }
    var page = try await reader.next()
    if page.first?.revision == nil {
      if wanted == .all { throw CouchError.missing }
      page = []
    }
    if isMultipart {
      // The length of the reply must be known.
      var parts: [DocumentPart] = []
      while !page.isEmpty {
        parts += page.map(\.part)
        page = try await reader.next()
      }
      return DocumentPart.mixed(parts, of: database)
    }
    let (first, rest) = (page, reader)
    return Reply.stream { out in
      var (page, reader) = (first, rest)
      try await out.write("[")
      while !page.isEmpty {
        for row in page {
          if !row.isFirstOfDocument { try await out.write(",") }
          if !row.part.isError { try await out.write(#"{"ok":"#) }
          try await out.write(row.part.text)
          if !row.part.isError { try await out.write("}") }
        }
        page = try await reader.next()
      }
      try await out.write("]\n")
    }
  }

  static func headers(_ revision: RevisionID) -> HTTPFields {
    [.eTag: "\"\(revision)\"", .cacheControl: "must-revalidate"]
  }

  // MARK: Writing

  private func put() async throws -> Response {
    try access.checkWrite(id)
    let type = exchange.request.headers[.contentType] ?? ""
    if type.lowercased().hasPrefix("multipart/related") {
      let (input, uploads) = try await MultipartUpload(exchange: exchange, store: database.store).read(type)
      return try await save(input, uploads: uploads)
    }
    let bytes = try await exchange.body(limit: exchange.limits.requestLength)
    return try await save(try bytes.withUnsafeReadableBytes { try DocumentInput($0) })
  }

  /// Saves a document that a form sends, or adds its files to a revision.
  private func post() async throws -> Response {
    try access.checkWrite(id)
    let (id, form) = (id, try await FormUpload(exchange, into: database.store))
    try form.document?.check(exchange.limits, id: id)
    let revision = try await database.save(id) { transaction in
      if let document = form.document {
        return try DocumentSaving(transaction).edit(document, id: id, adding: form.files)
      }
      guard let named = form.revision else {
        throw CouchError.badRequest("The form has neither _doc nor _rev.")
      }
      guard let known = try transaction.documentIfStored(id, named) else { throw CouchError.conflict }
      var attachments = known.attachments
      for file in form.files { attachments[file.name] = file }
      return try transaction.updateDocument(
        id: id, revision: named, body: BodyText(stored: known.bodyText), attachments: attachments
      ).revision
    }
    return saved(revision, .created, at: exchange.url(database.name, id))
  }

  /// Saves a document that was sent, and answers with its new revision.
  func save(_ sent: DocumentInput, uploads: Attachments = []) async throws -> Response {
    try access.checkWrite(id)
    try sent.check(exchange.limits, id: id)
    let isReplicated = exchange.parameters["new_edits"] == "false"
    var input = sent
    if !isReplicated || sent.revisionID == nil {
      input.revisionID = try namedRevision(or: sent.revisionID)
    }
    let warning = try DesignDocument.warning(
      of: id, input.body, isStrict: exchange.server.configuration.isStrictAboutDesign)
    let (id, final) = (id, input)
    let revision = try await database.save(id) { transaction in
      let saving = DocumentSaving(transaction)
      return isReplicated
        ? try saving.insert(final, id: id, uploads: uploads)
        : try saving.edit(final, id: id, uploads: uploads)
    }
    // As at CouchDB, a tombstone that is posted is created.
    let isDeletion = input.document.isDeleted && exchange.method == .put
    return saved(
      revision, isDeletion ? .ok : .created, at: exchange.url(database.name, id), warning: warning)
  }

  /// The reply to a change.
  ///
  /// - Parameters:
  ///   - location: The URL of what was saved; `nil` for a deletion.
  ///   - warning: What a design document has that is never used.
  func saved(
    _ revision: RevisionID, _ status: HTTPResponse.Status, at location: String?, warning: String? = nil
  ) -> Response {
    var headers: HTTPFields = [.eTag: "\"\(revision)\""]
    headers[.location] = location
    var json: JSONObject = ["ok": true, "id": .string(id), "rev": .string(revision.description)]
    if let warning { json["warning"] = .string(warning) }
    return Reply.json(json, status, headers: headers)
  }

  /// The revision to replace: of the document, of the parameter `rev`, or of the header `If-Match`.
  func namedRevision(or body: RevisionID?) throws -> RevisionID? {
    var named = body
    let header = exchange.request.headers[.ifMatch].map { Exchange.strong($0).filter { $0 != "\"" } }
    for (text, conflict) in [
      (exchange.parameters["rev"], "rev from request body and query string"), (header, "rev and etag"),
    ] {
      guard let text, !text.isEmpty else { continue }
      guard let revision = RevisionID(text) else { throw CouchError.invalidRevision }
      guard named == nil || named == revision else {
        throw CouchError.badRequest("Document \(conflict) have different values")
      }
      named = revision
    }
    return named
  }

  private func delete() async throws -> Response {
    try access.checkWrite(id)
    let (id, named) = (id, try namedRevision(or: nil))
    let revision = try await database.save(id) { transaction in
      guard let entry = try transaction.entry(ofDocument: id) else { throw CouchError.missing }
      guard let named else { throw entry.isDeleted ? CouchError.deleted : CouchError.conflict }
      return try transaction.updateDocument(
        id: id, revision: named, isDeleted: true, body: .none, attachments: []
      ).revision
    }
    return saved(revision, .ok, at: nil)
  }

  private func copy() async throws -> Response {
    guard let destination = exchange.request.headers[.destination] else {
      throw CouchError.badRequest("Destination header is mandatory for COPY.")
    }
    let parts = destination.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard !parts[0].contains("://") else {
      throw CouchError.badRequest("Destination URL must be relative.")
    }
    let target = try PercentCoding.decode(parts[0])
    try access.checkWrite(target)
    let named = try parts.count > 1 ? Parameters(String(parts[1])).revision("rev") : nil
    let (id, wanted) = (id, try exchange.parameters.revision("rev"))
    let isStrict = exchange.server.configuration.isStrictAboutDesign
    let warning = try await database.store.read { transaction in
      let source = try transaction.revision(of: id, wanted)
      return try DesignDocument.warning(of: target, BodyText(stored: source.bodyText), isStrict: isStrict)
    }
    let revision = try await database.save(target) { transaction in
      let source = try transaction.revision(of: id, wanted)
      // It may have changed since.
      _ = try DesignDocument.warning(of: target, BodyText(stored: source.bodyText), isStrict: isStrict)
      if let named {
        return try transaction.updateDocument(
          id: target, revision: named, body: BodyText(stored: source.bodyText),
          attachments: source.attachments
        ).revision
      }
      return try transaction.createDocument(
        id: target, body: BodyText(stored: source.bodyText), attachments: source.attachments
      ).revision
    }
    return DocumentEndpoint(exchange: exchange, access: access, id: target)
      .saved(revision, .created, at: exchange.url(database.name, target), warning: warning)
  }
}

extension ReadTransaction {
  /// The winner of a document, or one of its revisions.
  ///
  /// - Parameter isLatest: Whether to return a leaf that descends from the revision in its place.
  /// - Throws: `CouchError`: `missing`, or `deleted` if no revision was named.
  func revision(
    of id: String, _ wanted: RevisionID? = nil, isLatest: Bool = false
  ) throws -> DocumentRevision {
    if let wanted {
      let leaf = isLatest ? try tree(ofDocument: id)?.leaves(below: [wanted])[wanted]?.first?.id : nil
      guard let revision = try documentIfStored(id, leaf ?? wanted) else { throw CouchError.missing }
      return revision
    }
    guard let winner = try documents(withIDs: [id]).first else { throw CouchError.missing }
    guard !winner.isDeleted else { throw CouchError.deleted }
    return winner
  }
}
