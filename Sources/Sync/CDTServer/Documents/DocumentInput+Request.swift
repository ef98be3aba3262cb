import CDTDatastore
import CDTJSON
import CDTQuery
import CouchDB
import Hummingbird
import NIOCore

extension DesignDocument {
  /// The warning for a document that a client saves; `nil` unless it is a design document with something that is never used.
  ///
  /// - Parameters:
  ///   - isStrict: Whether such a document is refused.
  ///   - isReplicated: Whether a replicator brings it.
  /// - Throws: 400 for rules that can't be read, unless a replicator brings them.
  static func warning(of id: String, _ body: BodyText, isStrict: Bool, isReplicated: Bool = false)
    throws(CouchError) -> String?
  {
    guard DocumentID.isDesign(id), let json = try? JSONObject(parsing: body.text) else { return nil }
    let document = DesignDocument(id: id, body: json)
    if let error = document.ruleError, !isReplicated { throw CouchError(error) }
    let notes = document.notes
    if notes.isEmpty { return nil }
    let warning = notes.joined(separator: "\n")
    if isStrict { throw CouchError(400, "invalid_design_doc", warning) }
    return warning
  }
}

extension DocumentInput {
  /// Throws if the document is too long.
  func check(_ limits: ServerConfiguration.Limits, id: String) throws(CouchError) {
    guard length <= limits.documentLength else { throw CouchError(413, "document_too_large", id) }
  }
}

extension DocumentOptions {
  init(_ parameters: QueryParameters) throws(CouchError) {
    self.init()
    let meta = parameters.flag("meta")
    revisions = parameters.flag("revs")
    revisionsInfo = parameters.flag("revs_info") || meta
    conflicts = parameters.flag("conflicts") || meta
    deletedConflicts = parameters.flag("deleted_conflicts") || meta
    localSequence = parameters.flag("local_seq")
    attachments = parameters.flag("attachments")
    if let since = parameters["atts_since"] {
      attachmentsSince = try RevisionID.list(parameter: since)
      attachments = true
    }
  }
}

/// Reads what a form of a page sends for a document, as `multipart/form-data`: files in fields `_attachments`, and the
/// document in `_doc` or the revision to change in `_rev`.
struct FormUpload: Sendable {
  private(set) var document: DocumentInput?
  private(set) var revision: RevisionID?
  private(set) var files: Attachments = []

  private static let maximumParts = 1_000

  init(_ context: RequestContext) async throws {
    let database = try context.database
    let type = context.request.headers[.contentType] ?? ""
    guard type.lowercased().hasPrefix("multipart/form-data") else {
      throw CouchError(415, "bad_content_type", "Content-Type must be multipart/form-data")
    }
    var reader = MultipartReader<ByteBufferView>(
      boundary: try MultipartBoundary(contentType: type), maximumParts: Self.maximumParts)
    var field: (name: String, content: [UInt8])?
    var file: (name: String, type: String, sink: AttachmentSink)?
    for try await buffer in context.request.body {
      var chunk = buffer.readableBytesView
      while let event = try reader.next(&chunk) {
        switch event {
        case .part(let head):
          let disposition = head["Content-Disposition"].flatMap(HeaderValue.init)
          switch disposition?["name"] {
          case "_attachments"?:
            let name = disposition?["filename"] ?? ""
            try IncomingAttachment.checkName(name)
            let sink = try await database.attachmentSink(
              name: name, isCompressed: false, limit: context.limits.attachmentLength, contentMD5: nil
            )
            file = (name, head["Content-Type"] ?? "application/octet-stream", sink)
          case let name?: field = (name, [])
          case nil: break
          }
        case .bytes(let bytes):
          if file != nil {
            try await file?.sink.write(bytes)
          } else if let length = field?.content.count {
            guard bytes.count <= context.limits.documentLength - length else {
              throw CouchError.tooLarge(context.limits.documentLength)
            }
            field?.content += bytes
          }
        case .endOfPart:
          if var done = file.take() {
            files[done.name] = try await done.sink.finish(name: done.name, type: done.type)
          } else if let (name, content) = field.take() {
            try take(name, content)
          }
        case .end: break
        }
      }
    }
    try reader.finish()
  }

  /// Takes a field that is not a file. Unknown ones are ignored.
  private mutating func take(_ name: String, _ content: [UInt8]) throws {
    switch name {
    case "_doc":
      document = try content.withUnsafeBytes { try DocumentInput($0) }
    case "_rev":
      guard let text = String(validating: content, as: UTF8.self), let revision = RevisionID(text) else {
        throw CouchError.invalidRevision
      }
      self.revision = revision
    default: break
    }
  }
}

extension RequestContext {
  /// Reads a document that is sent as `multipart/related`.
  ///
  /// - Returns: The document, and its attachments by name.
  func relatedDocument(_ contentType: String) async throws -> (DocumentInput, Attachments) {
    if try isCompressed {
      throw CouchError(
        415, "bad_ctype", "A multipart body with a Content-Encoding is not supported: send it uncompressed.")
    }
    let maximumParts = 10_000
    let boundary = try MultipartBoundary(contentType: contentType)
    var reader = MultipartReader<ByteBufferView>(boundary: boundary, maximumParts: maximumParts)
    var document: RelatedDocumentReader<ByteBufferView> = try database.relatedDocumentReader(
      limits: .init(
        json: limits.requestLength, attachment: limits.attachmentLength, attachments: maximumParts - 1))
    for try await buffer in request.body {
      var chunk = buffer.readableBytesView
      while let event = try reader.next(&chunk) { try await document.take(event) }
    }
    try reader.finish()
    return try document.finish()
  }
}
