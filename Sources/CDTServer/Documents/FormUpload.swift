import CDTDatastore
import CouchDB
import Hummingbird
import NIOCore

/// Reads what a form of a page sends for a document, as `multipart/form-data`: files in fields `_attachments`, and the
/// document in `_doc` or the revision to change in `_rev`.
struct FormUpload: Sendable {
  private(set) var document: DocumentInput?
  private(set) var revision: RevisionID?
  private(set) var files: Attachments = []

  private static let maximumParts = 1_000

  init(_ exchange: Exchange, into store: Datastore) async throws {
    let type = exchange.request.headers[.contentType] ?? ""
    guard type.lowercased().hasPrefix("multipart/form-data") else {
      throw CouchError(415, "bad_content_type", "Content-Type must be multipart/form-data")
    }
    var reader = MultipartReader<ByteBufferView>(
      boundary: try MultipartBoundary(contentType: type), maximumParts: Self.maximumParts)
    var field: (name: String, content: [UInt8])?
    var file: (name: String, type: String, sink: AttachmentSink)?
    for try await buffer in exchange.request.body {
      var chunk = buffer.readableBytesView
      while let event = try reader.next(&chunk) {
        switch event {
        case .part(let head):
          let disposition = head["Content-Disposition"].flatMap(HeaderValue.init)
          switch disposition?["name"] {
          case "_attachments"?:
            let name = disposition?["filename"] ?? ""
            try IncomingAttachment.checkName(name)
            let sink = try await AttachmentSink(
              store, name: name, isCompressed: false, limit: exchange.limits.attachmentLength, contentMD5: nil
            )
            file = (name, head["Content-Type"] ?? "application/octet-stream", sink)
          case let name?: field = (name, [])
          case nil: break
          }
        case .bytes(let bytes):
          if file != nil {
            try await file?.sink.write(bytes)
          } else if let length = field?.content.count {
            guard bytes.count <= exchange.limits.documentLength - length else {
              throw CouchError.tooLarge(exchange.limits.documentLength)
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
