import CDTDatastore
import CDTJSON
import CDTPlatform
import CouchDB
import HTTPTypes
import Hummingbird

/// An attachment of a document.
extension RequestContext {
  private var attachmentName: String { names["attachment"] ?? "" }

  // MARK: Reading

  func attachment() async throws -> Response {
    let (id, name, wanted) = (documentID, attachmentName, try parameters.revision("rev"))
    let found = try await database.readDocuments { try $0.revision(of: id, wanted).attachments[name] }
    guard let attachment = found, let length = attachment.length else { throw CouchError.noAttachment }
    var headers: HTTPFields = [
      .eTag: "\"\(attachment.couchDigest ?? "")\"", .cacheControl: "must-revalidate", .acceptRanges: "bytes",
      .contentType: Self.mediaType(attachment.contentType),
      // A page that someone has stored must not run with the rights of this server's own.
      .contentSecurityPolicy: "sandbox", .xContentTypeOptions: "nosniff",
    ]
    if hasNone(of: headers[.eTag]) { return Reply.empty(.notModified, headers: headers) }
    let range: ByteRange
    do throws(CouchError) {
      range = try ByteRange(wantedRange(of: headers[.eTag]), length: length)
    } catch {
      headers[.contentRange] = "bytes */\(length)"
      return Reply.error(error, headers: headers)
    }
    if let text = range.contentRange(of: length) { headers[.contentRange] = text }
    headers[.contentLength] = String(range.bytes.count)
    let status: HTTPResponse.Status = range.isPartial ? .partialContent : .ok
    if method == .head { return Response(status: status, headers: headers, body: ResponseBody()) }
    let reader = try await AttachmentReader(attachment, range: range.bytes)
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
    let known = request.headers[.ifRange]
    return known == nil || known == tag ? request.headers[.range] : nil
  }

  /// A media type that can stand in a header: clients may store any text.
  private static func mediaType(_ type: String) -> String {
    let isPlain = !type.isEmpty && type.utf8.allSatisfy { 0x20...0x7E ~= $0 }
    return isPlain ? type : "application/octet-stream"
  }

  // MARK: Writing

  func putAttachment() async throws -> Response {
    let name = attachmentName
    try IncomingAttachment.checkName(name)
    let type = request.headers[.contentType] ?? "application/octet-stream"
    let isCompressed = try isCompressed
    var sink = try await database.attachmentSink(
      name: name, isCompressed: isCompressed, limit: limits.attachmentLength,
      contentMD5: request.headers[.contentMD5])
    for try await buffer in request.body { try await sink.write(buffer.readableBytesView) }
    let attachment = try await sink.finish(name: name, type: type)
    return try await changeAttachments { $0[attachment.name] = attachment }
  }

  func deleteAttachment() async throws -> Response {
    let name = attachmentName
    return try await changeAttachments { attachments in
      guard attachments.removeValue(forKey: name) != nil else { throw CouchError.noAttachment }
    }
  }

  /// Saves the next revision of the document with other attachments. A new document is created without members.
  private func changeAttachments(_ change: @escaping @Sendable (inout Attachments) throws -> Void)
    async throws
    -> Response
  {
    let (id, named, isPut) = (documentID, try namedRevision(or: nil), method == .put)
    let revision = try await database.save(id) { transaction in
      if let named { return try transaction.change(id, named, change) }
      let existing = try transaction.entry(ofDocument: id)
      guard isPut else { throw existing == nil ? CouchError.missing : CouchError.conflict }
      guard existing?.isDeleted ?? true else { throw CouchError.conflict }
      var attachments = Attachments()
      try change(&attachments)
      return try transaction.createDocument(id: id, body: .none, attachments: attachments).revision
    }
    return saved(
      id, revision, isPut ? .created : .ok, at: isPut ? url(try database.name, id, attachmentName) : nil)
  }
}

extension WriteTransaction {
  /// Saves a revision with the body of another revision and other attachments.
  func change(
    _ id: String, _ revision: RevisionID, _ change: (inout Attachments) throws -> Void
  ) throws -> RevisionID {
    guard let known = try documentIfStored(id, revision) else { throw CouchError.conflict }
    var attachments = known.attachments
    try change(&attachments)
    return try updateDocument(
      id: id, revision: revision, body: BodyText(stored: known.bodyText), attachments: attachments
    ).revision
  }
}

/// The bytes that the header `Range` asks for. Of several ranges, and of units other than bytes, none is served, and the
/// whole is sent, as RFC 9110 allows. As at CouchDB, `bytes=0-` is the whole.
struct ByteRange: Sendable, Equatable {
  let bytes: Range<Int64>
  let isPartial: Bool

  private init(_ bytes: Range<Int64>, isPartial: Bool) {
    self.bytes = bytes
    self.isPartial = isPartial
  }

  /// - Throws: `CouchError` with the status 416 if the range is behind the end.
  init(_ header: String?, length: Int64) throws(CouchError) {
    self.init(0..<length, isPartial: false)
    guard let header, header.hasPrefix("bytes="), !header.contains(",") else { return }
    let parts = header.dropFirst("bytes=".count).split(
      separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return }
    let (first, last) = (Self.number(parts[0]), Self.number(parts[1]))
    switch (parts[0].isEmpty, first, parts[1].isEmpty, last) {
    case (false, 0?, true, _): return
    case (false, let first?, true, _): self = try Self.part(first, length - 1, of: length)
    case (false, let first?, false, let last?): self = try Self.part(first, min(last, length - 1), of: length)
    case (true, _, false, let count?) where count > 0:
      self = try Self.part(max(0, length - count), length - 1, of: length)
    case (true, _, false, 0?): throw .rangeNotSatisfiable
    default: return
    }
  }

  private static func part(_ first: Int64, _ last: Int64, of length: Int64) throws(CouchError) -> ByteRange {
    guard first < length, first <= last else { throw .rangeNotSatisfiable }
    return ByteRange(first..<last + 1, isPartial: true)
  }

  /// A number of digits; the greatest one if it is greater.
  private static func number(_ text: Substring) -> Int64? {
    guard !text.isEmpty, text.utf8.allSatisfy(\.isDigit) else { return nil }
    return Int64(text) ?? .max
  }

  /// The header `Content-Range`; `nil` for the whole.
  func contentRange(of length: Int64) -> String? {
    isPartial ? "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(length)" : nil
  }
}

extension CouchError {
  fileprivate static let rangeNotSatisfiable = CouchError(
    416, "requested_range_not_satisfiable", "Requested range not satisfiable")
}
