import CDTDatastore
import CDTJSON
import CouchDB
import Hummingbird
import NIOCore

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
    self.init(error: [
      "id": .string(id), "rev": .string(revision), "error": .string(error.error),
      "reason": .string(error.reason),
    ])
  }

  init(_ revision: DocumentRevision, _ writing: DocumentText, _ form: AttachmentContentForm) throws {
    text = try writing.text(of: revision, content: form)
    attachments = form == .follows ? try writing.followingAttachments(of: revision) : []
    isError = false
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

  private var heads: [(head: MultipartHead, length: Int64)] {
    [(.document, Int64(text.count))]
      + attachments.map { attachment in
        let length = attachment.length ?? 0
        return (
          .attachment(named: attachment.name, contentType: attachment.contentType, length: length), length
        )
      }
  }

  /// The reply with this part alone, as `multipart/related`.
  ///
  /// - Parameter database: Stays open until its attachments are sent.
  func related(of database: Database, headers: HTTPFields) -> Response {
    let writer = MultipartWriter()
    var headers = headers
    headers[.contentType] = writer.contentType("multipart/related")
    let length = writer.contentLength(of: heads)
    if let length { headers[.contentLength] = String(length) }
    return Response(
      status: .ok, headers: headers,
      body: ResponseBody(contentLength: length.map { Int($0) }) { body in
        try await write(with: writer, to: &body)
        withExtendedLifetime(database) {}
        try await body.finish(nil)
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
    if let length { headers[.contentLength] = String(length) }
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
    let part: DocumentPart
    let head: MultipartHead
    /// `nil` if it exceeds an `Int64`.
    let length: Int64?
    /// Of the attachments; `nil` if there are none.
    private let inner: MultipartWriter?

    init(_ part: DocumentPart, fields: [MultipartHead.Field] = []) {
      self.part = part
      guard !part.attachments.isEmpty else {
        let type = part.isError ? "application/json; error=\"true\"" : "application/json"
        (head, length, inner) = (MultipartHead([.init("Content-Type", type)]), Int64(part.text.count), nil)
        return
      }
      let inner = MultipartWriter()
      head = MultipartHead(fields + [.init("Content-Type", inner.contentType("multipart/related"))])
      (length, self.inner) = (inner.contentLength(of: part.heads), inner)
    }

    func write(with writer: inout MultipartWriter, to out: inout any ResponseBodyWriter) async throws {
      try await out.write(ByteBuffer(bytes: writer.begin(head)))
      guard let inner else { return try await out.send(ByteBuffer(bytes: part.text)) }
      try await part.write(with: inner, to: &out)
    }
  }

  private func write(with writer: MultipartWriter, to body: inout any ResponseBodyWriter) async throws {
    var writer = writer
    let heads = heads
    try await body.send(ByteBuffer(bytes: writer.begin(heads[0].head) + text))
    for (attachment, part) in zip(attachments, heads.dropFirst()) {
      var start = writer.begin(part.head)
      let reader = try AttachmentReader(attachment)
      while case let chunk = try await reader.next(), !chunk.isEmpty {
        try await body.send(ByteBuffer(bytes: start.isEmpty ? chunk : start + chunk))
        start = []
      }
      if !start.isEmpty { try await body.write(ByteBuffer(bytes: start)) }
    }
    try await body.write(ByteBuffer(bytes: writer.end()))
  }
}

extension CouchError {
  /// The error of a revision that a damaged file keeps from being read. Clients take a status of 404 for a revision that the
  /// database does not have.
  static func unreadable(_ error: DatastoreError) -> CouchError {
    CouchError(500, "internal_server_error", error.message)
  }
}

extension DatastoreError {
  /// Whether a file is missing, damaged or can't be read.
  var isOfFile: Bool { [.corrupt, .notFound, .io].contains(code) }
}
