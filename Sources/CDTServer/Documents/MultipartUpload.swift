import CDTDatastore
import CouchDB
import Hummingbird
import NIOCore

/// Reads a document that is sent as `multipart/related`.
struct MultipartUpload: Sendable {
  let exchange: Exchange
  let store: Datastore

  private static let maximumParts = 10_000

  /// - Returns: The document, and its attachments by name.
  func read(_ contentType: String) async throws -> (DocumentInput, Attachments) {
    if try exchange.isCompressed {
      throw CouchError(
        415, "bad_ctype", "A multipart body with a Content-Encoding is not supported: send it uncompressed.")
    }
    let boundary = try MultipartBoundary(contentType: contentType)
    var reader = MultipartReader<ByteBufferView>(boundary: boundary, maximumParts: Self.maximumParts)
    var document = RelatedDocumentReader<ByteBufferView>(
      into: store,
      limits: .init(
        json: exchange.limits.requestLength, attachment: exchange.limits.attachmentLength,
        attachments: Self.maximumParts - 1))
    for try await buffer in exchange.request.body {
      var chunk = buffer.readableBytesView
      while let event = try reader.next(&chunk) { try await document.take(event) }
    }
    try reader.finish()
    return try document.finish()
  }
}
