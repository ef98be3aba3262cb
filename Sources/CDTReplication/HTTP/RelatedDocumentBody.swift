import CDTDatastore
import CouchDB
import NIOCore

/// The body of a request with a document and the content of its attachments: `multipart/related`.
struct RelatedDocumentBody: AsyncSequence, Sendable {
  private let writer = MultipartWriter()
  private let text: [UInt8]
  private let attachments: [DocumentAttachment]

  /// - Parameters:
  ///   - text: The JSON, with the attachments that follow in the same order.
  ///   - attachments: Saved attachments.
  init(_ text: [UInt8], _ attachments: [DocumentAttachment]) {
    self.text = text
    self.attachments = attachments
  }

  var contentType: String { writer.contentType("multipart/related") }

  /// The number of bytes.
  var length: Int64? {
    writer.contentLength(
      of: [(.document, Int64(text.count))] + attachments.map { ($0.head, $0.length ?? -1) })
  }

  func makeAsyncIterator() -> Iterator { Iterator(body: self, writer: writer) }

  struct Iterator: AsyncIteratorProtocol {
    fileprivate let body: RelatedDocumentBody
    fileprivate var writer: MultipartWriter
    /// The number of parts that were begun.
    private var begun = 0
    private var reader: AttachmentReader?

    fileprivate init(body: RelatedDocumentBody, writer: MultipartWriter) {
      self.body = body
      self.writer = writer
    }

    mutating func next() async throws -> ByteBuffer? {
      if let reader {
        let chunk = try await reader.next()
        if !chunk.isEmpty { return ByteBuffer(bytes: chunk) }
        self.reader = nil
      }
      defer { begun += 1 }
      switch begun {
      case 0: return ByteBuffer(bytes: writer.begin(.document) + body.text)
      case 1...body.attachments.count:
        let attachment = body.attachments[begun - 1]
        reader = try AttachmentReader(attachment)
        return ByteBuffer(bytes: writer.begin(attachment.head))
      case body.attachments.count + 1: return ByteBuffer(bytes: writer.end())
      default: return nil
      }
    }
  }
}

extension DocumentAttachment {
  fileprivate var head: MultipartHead {
    .attachment(named: name, contentType: contentType, length: length ?? 0)
  }
}
