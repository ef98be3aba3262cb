import CDTDatastore
import CDTJSON
import CDTQuery
import CouchDB
import HTTPTypes
import Hummingbird

/// A document.
extension RequestContext {
  // MARK: Reading

  func document() async throws -> Response {
    let options = try DocumentOptions(parameters)
    let isLatest = parameters.flag("latest")
    if let text = parameters["open_revs"] {
      return try await openRevisions(OpenRevisions(parameter: text), isLatest: isLatest, options)
    }
    let (id, wanted) = (documentID, try parameters.revision("rev"))
    let isMultipart = options.attachments && accepts("multipart/related")
    let form: AttachmentContentForm = isMultipart ? .follows : .inline
    let (revision, part, tellsMore) = try await database.readDocuments { transaction in
      if let wanted, try transaction.leftRevision(of: id) == wanted {
        let part = try DocumentPart.removed(id, wanted, transaction, withHistory: options.revisions)
        return (wanted, part, true)
      }
      let revision = try transaction.revision(of: id, wanted, isLatest: isLatest)
      let writing = DocumentText(transaction, options)
      return (
        revision.revisionID, try DocumentPart(revision, writing, form), try writing.tellsMore(of: revision)
      )
    }
    var headers: HTTPFields = [.eTag: "\"\(revision)\"", .cacheControl: "must-revalidate"]
    if tellsMore {
      headers[.eTag] = nil
    } else if hasNone(of: headers[.eTag]) {
      return Reply.empty(.notModified, headers: headers)
    }
    return part.attachments.isEmpty
      ? Reply.text(part.text, headers: headers) : part.related(of: try database, headers: headers)
  }

  /// Answers with several revisions of the document, as `multipart/mixed` or as an array.
  private func openRevisions(
    _ wanted: OpenRevisions, isLatest: Bool, _ options: DocumentOptions
  ) async throws -> Response {
    let database = try database
    var document = RevisionReader.Document(id: documentID, revisions: wanted)
    document.since = options.attachmentsSince
    var reader = RevisionReader([document], of: database, isLatest: isLatest, options) { _, revision in
      DocumentPart(error: ["missing": .string(revision?.description ?? "")])
    }
    let isMultipart = accepts("multipart/mixed")
    if isMultipart {
      // As at CouchDB, whatever the request says of attachments.
      reader.options.attachments = true
      reader.form = .follows
    }
    if try await reader.first()?.revision == nil {
      if wanted == .all || wanted == .revisions([]) { throw CouchError.missing }
      return isMultipart ? DocumentPart.mixed([], of: database) : Reply.value([])
    }
    if isMultipart {
      // The length of the reply must be known.
      var parts: [DocumentPart] = []
      while let row = try await reader.next() { parts.append(row.part) }
      return DocumentPart.mixed(parts, of: database)
    }
    let rows = reader
    return Reply.stream { out in
      var rows = rows
      try await out.write("[")
      while let row = try await rows.next() {
        if !row.isFirstOfDocument { try await out.write(",") }
        if !row.part.isError { try await out.write(#"{"ok":"#) }
        try await out.write(row.part.text)
        if !row.part.isError { try await out.write("}") }
      }
      try await out.write("]\n")
    }
  }

  // MARK: Writing

  func putDocument() async throws -> Response {
    let type = request.headers[.contentType] ?? ""
    if type.lowercased().hasPrefix("multipart/related") {
      let (input, uploads) = try await relatedDocument(type)
      return try await save(input, id: documentID, uploads: uploads)
    }
    let bytes = try await body(limit: limits.requestLength)
    return try await save(try bytes.withUnsafeReadableBytes { try DocumentInput($0) }, id: documentID)
  }

  /// Saves a document whose id is in it, or is made here.
  func postDocument() async throws -> Response {
    let bytes = try await jsonBody(limit: limits.requestLength)
    let object = try bytes.withUnsafeReadableBytes { try DocumentInput.object($0) }
    if let id = object.localID { return try await saveLocalDocument(id, bytes) }
    let input = try DocumentInput(object)
    let id = input.id ?? DocumentID.make()
    try checkDesign(id)
    return try await save(input, id: id)
  }

  /// Saves a document that a form sends, or adds its files to a revision.
  func postForm() async throws -> Response {
    let (id, form) = (documentID, try await FormUpload(self))
    try form.document?.check(limits, id: id)
    let revision = try await database.save(id) { transaction in
      if let document = form.document {
        return try DocumentSaving(transaction).edit(document, id: id, adding: form.files)
      }
      guard let named = form.revision else {
        throw CouchError.badRequest("The form has neither _doc nor _rev.")
      }
      return try transaction.change(id, named) { attachments in
        for file in form.files { attachments[file.name] = file }
      }
    }
    return saved(id, revision, .created, at: url(try database.name, id))
  }

  /// Saves a document that was sent, and answers with its new revision.
  func save(_ sent: DocumentInput, id: String, uploads: Attachments = []) async throws -> Response {
    try sent.check(limits, id: id)
    let isReplicated = parameters["new_edits"] == "false"
    var input = sent
    if !isReplicated || sent.revisionID == nil {
      input.revisionID = try namedRevision(or: sent.revisionID)
    }
    let warning = try DesignDocument.warning(
      of: id, input.body, isStrict: server.configuration.isStrictAboutDesign, isReplicated: isReplicated)
    let final = input
    let revision = try await database.save(id) { transaction in
      let saving = DocumentSaving(transaction)
      return isReplicated
        ? try saving.insert(final, id: id, uploads: uploads)
        : try saving.edit(final, id: id, uploads: uploads)
    }
    // As at CouchDB, a tombstone that is posted is created.
    let isDeletion = input.isDeleted && method == .put
    return saved(
      id, revision, isDeletion ? .ok : .created, at: url(try database.name, id), warning: warning)
  }

  /// The reply to a change.
  ///
  /// - Parameters:
  ///   - location: The URL of what was saved; `nil` for a deletion.
  ///   - warning: The parts of a design document that are never used.
  func saved(
    _ id: String, _ revision: RevisionID, _ status: HTTPResponse.Status, at location: String?,
    warning: String? = nil
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
    let ifMatch = request.headers[.ifMatch].map { Self.strong($0).filter { $0 != "\"" } }
    let header = ifMatch == "" ? nil : ifMatch
    for (text, conflict) in [
      (parameters["rev"], "rev from request body and query string"), (header, "rev and etag"),
    ] {
      guard let text else { continue }
      guard let revision = RevisionID(text) else { throw CouchError.invalidRevision }
      guard named == nil || named == revision else {
        throw CouchError.badRequest("Document \(conflict) have different values")
      }
      named = revision
    }
    return named
  }

  func deleteDocument() async throws -> Response {
    let (id, named) = (documentID, try namedRevision(or: nil))
    let revision = try await database.save(id) { transaction in
      guard let entry = try transaction.entry(ofDocument: id) else { throw CouchError.missing }
      guard let named else { throw entry.isDeleted ? CouchError.deleted : CouchError.conflict }
      return try transaction.updateDocument(
        id: id, revision: named, isDeleted: true, body: .none, attachments: []
      ).revision
    }
    return saved(id, revision, .ok, at: nil)
  }

  /// The id of the document that the header of a copy names, and the revision that it replaces.
  func destination() throws -> (id: String, revision: RevisionID?) {
    guard let destination = request.headers[.destination] else {
      throw CouchError.badRequest("Destination header is mandatory for COPY.")
    }
    let parts = destination.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard !parts[0].contains("://") else {
      throw CouchError.badRequest("Destination URL must be relative.")
    }
    let target = try PercentCoding.decode(parts[0])
    try checkWritable()
    try checkDesign(target)
    let isLocal = target.hasBytePrefix(LocalDocumentInput.prefix)
    return (target, try parts.count > 1 && !isLocal ? QueryParameters(String(parts[1])).revision("rev") : nil)
  }

  func copyDocument() async throws -> Response {
    let (target, named) = try destination()
    let (id, wanted) = (documentID, try parameters.revision("rev"))
    if let local = target.afterBytePrefix(LocalDocumentInput.prefix) {
      let body = try await database.readDocuments { try $0.revision(of: id, wanted).body }
      return try await saveCopy(body, asLocal: String(local))
    }
    let isStrict = server.configuration.isStrictAboutDesign
    let warning = try await database.readDocuments { transaction in
      let source = try transaction.revision(of: id, wanted)
      return try DesignDocument.warning(of: target, BodyText(stored: source.bodyText), isStrict: isStrict)
    }
    let revision = try await database.save(target) { transaction in
      let source = try transaction.revision(of: id, wanted)
      let (body, attachments) = (BodyText(stored: source.bodyText), source.attachments)
      // It may have changed since.
      _ = try DesignDocument.warning(of: target, body, isStrict: isStrict)
      guard let named else {
        return try transaction.createDocument(id: target, body: body, attachments: attachments).revision
      }
      return try transaction.updateDocument(
        id: target, revision: named, body: body, attachments: attachments
      ).revision
    }
    return saved(target, revision, .created, at: url(try database.name, target), warning: warning)
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
