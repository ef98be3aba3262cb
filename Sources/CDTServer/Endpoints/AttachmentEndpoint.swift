import CDTDatastore
import CDTJSON
import CouchDB
import HTTPTypes
import Hummingbird

/// An attachment of a document.
struct AttachmentEndpoint: Sendable {
  let exchange: Exchange
  let access: DatabaseAccess
  let id: String
  let name: String

  private var store: Datastore { access.database.store }

  func respond() async throws -> Response {
    switch exchange.method {
    case .get, .head: return try await get()
    case .put: return try await put()
    case .delete: return try await delete()
    default: throw exchange.methodNotAllowed("DELETE,GET,HEAD,PUT")
    }
  }

  // MARK: Reading

  private func get() async throws -> Response {
    let (id, name, wanted) = (id, name, try exchange.parameters.revision("rev"))
    let found = try await store.read { try $0.revision(of: id, wanted).attachments[name] }
    guard let attachment = found, let length = attachment.length else { throw CouchError.noAttachment }
    var headers: HTTPFields = [
      .eTag: "\"\(attachment.couchDigest ?? "")\"", .cacheControl: "must-revalidate", .acceptRanges: "bytes",
      .contentType: Self.headerValue(attachment.contentType),
      // A page that someone has stored must not run with the rights of this server's own.
      .contentSecurityPolicy: "sandbox", .xContentTypeOptions: "nosniff",
    ]
    if exchange.hasNone(of: headers[.eTag]) { return Reply.empty(.notModified, headers: headers) }
    let range: ByteRange
    do {
      range = try ByteRange(wantedRange(of: headers[.eTag]), length: length)
    } catch {
      headers[.contentRange] = "bytes */\(length)"
      return Reply.error(error, headers: headers)
    }
    if let text = range.contentRange(of: length) { headers[.contentRange] = text }
    headers[.contentLength] = String(range.bytes.count)
    let status: HTTPResponse.Status = range.isPartial ? .partialContent : .ok
    if exchange.method == .head { return Response(status: status, headers: headers, body: ResponseBody()) }
    let reader = try AttachmentReader(attachment, range: range.bytes)
    return Response(
      status: status, headers: headers,
      body: ResponseBody(contentLength: Int(reader.length)) { writer in
        while case let chunk = try await reader.next(), !chunk.isEmpty {
          try await writer.send(ByteBuffer(bytes: chunk))
        }
        try await writer.finish(nil)
      })
  }

  /// The header `Range`, unless the client has the beginning of other content: `If-Range` names that by its ETag, and a date
  /// tells nothing here.
  private func wantedRange(of tag: String?) -> String? {
    let known = exchange.request.headers[.ifRange]
    return known == nil || known == tag ? exchange.request.headers[.range] : nil
  }

  /// A media type that can stand in a header: clients may store any text.
  private static func headerValue(_ type: String) -> String {
    let isPlain = !type.isEmpty && type.utf8.allSatisfy { 0x20...0x7E ~= $0 }
    return isPlain ? type : "application/octet-stream"
  }

  // MARK: Writing

  private func put() async throws -> Response {
    try access.checkWrite(id)
    try IncomingAttachment.checkName(name)
    let type = exchange.request.headers[.contentType] ?? "application/octet-stream"
    let isCompressed = try exchange.isCompressed
    var sink = try await AttachmentSink(
      store, name: name, isCompressed: isCompressed, limit: exchange.limits.attachmentLength,
      contentMD5: exchange.request.headers[.contentMD5])
    for try await buffer in exchange.request.body { try await sink.write(buffer.readableBytesView) }
    let attachment = try await sink.finish(name: name, type: type)
    return try await change { $0[attachment.name] = attachment }
  }

  private func delete() async throws -> Response {
    try access.checkWrite(id)
    let name = name
    return try await change { attachments in
      guard attachments.removeValue(forKey: name) != nil else { throw CouchError.noAttachment }
    }
  }

  /// Saves the next revision of the document with other attachments. A new document is created without members.
  private func change(_ change: @escaping @Sendable (inout Attachments) throws -> Void) async throws
    -> Response
  {
    let document = DocumentEndpoint(exchange: exchange, access: access, id: id)
    let (id, named, isPut) = (id, try document.namedRevision(or: nil), exchange.method == .put)
    let revision = try await access.database.save(id) { transaction in
      var attachments = Attachments()
      guard let named else {
        let existing = try transaction.entry(ofDocument: id)
        guard isPut else { throw existing == nil ? CouchError.missing : CouchError.conflict }
        guard existing?.isDeleted ?? true else { throw CouchError.conflict }
        try change(&attachments)
        return try transaction.createDocument(id: id, body: .none, attachments: attachments).revision
      }
      guard let revision = try transaction.documentIfStored(id, named) else { throw CouchError.conflict }
      attachments = revision.attachments
      try change(&attachments)
      return try transaction.updateDocument(
        id: id, revision: named, body: BodyText(stored: revision.bodyText), attachments: attachments
      ).revision
    }
    return document.saved(
      revision, isPut ? .created : .ok, at: isPut ? exchange.url(access.database.name, id, name) : nil)
  }
}

extension HTTPField.Name {
  fileprivate static var contentSecurityPolicy: HTTPField.Name { .init("Content-Security-Policy") ?? .vary }
  fileprivate static var xContentTypeOptions: HTTPField.Name { .init("X-Content-Type-Options") ?? .vary }
}
