package import CDTDatastore

/// Collects a document that is sent as `multipart/related`: its JSON, and after it the content of the attachments that
/// follow, in the order of the JSON's members. The content is written to a datastore's directory as it arrives.
///
/// ```swift
/// var document = RelatedDocumentReader<ByteBufferView>(into: store, limits: limits)
/// while let event = try reader.next(&chunk) { try await document.take(event) }
/// let (input, uploads) = try document.finish()
/// ```
package struct RelatedDocumentReader<Chunk: RandomAccessCollection<UInt8> & Sendable>
where Chunk.SubSequence == Chunk {
  package struct Limits: Sendable {
    /// The maximum length of the JSON.
    package let json: Int
    /// The maximum length of an attachment.
    package let attachment: Int64
    /// The maximum number of attachments that follow.
    package let attachments: Int

    package init(json: Int, attachment: Int64, attachments: Int = .max) {
      self.json = json
      self.attachment = attachment
      self.attachments = attachments
    }
  }

  private let store: Datastore
  private let limits: Limits
  private let mayBeRemoved: Bool
  private var json: [UInt8] = []
  private var input: DocumentInput?
  /// The attachments that follow, the next first.
  private var wanted: [IncomingAttachment] = []
  private var current: (attachment: IncomingAttachment, sink: AttachmentSink)?
  private var uploads: Attachments = []

  /// - Parameter mayBeRemoved: Whether it can be a revision that the server withholds.
  package init(into store: Datastore, limits: Limits, mayBeRemoved: Bool = false) {
    self.mayBeRemoved = mayBeRemoved
    self.store = store
    self.limits = limits
  }

  /// Takes the next event of the multipart body.
  ///
  /// - Throws: ``CouchError`` with status 400 if the body is not such a document, 413 if it exceeds a limit.
  package mutating func take(_ event: MultipartReader<Chunk>.Event) async throws {
    switch event {
    case .part(let head): try await begin(head)
    case .bytes(let bytes): try await take(bytes)
    case .endOfPart: try await end()
    case .end: break
    }
  }

  private mutating func take(_ bytes: Chunk) async throws {
    if current != nil {
      try await current?.sink.write(bytes)
    } else {
      guard bytes.count <= limits.json - json.count else { throw CouchError.tooLarge(limits.json) }
      json += bytes
    }
  }

  private mutating func begin(_ head: MultipartHead) async throws {
    // The first part is the JSON.
    guard input != nil else { return }
    guard let attachment = next(named: head.fileName) else {
      throw CouchError.badRequest("The body has more parts than attachments that follow.")
    }
    guard case .follows(_, _, let encoding) = attachment.source else { return }
    let sink = try await AttachmentSink(
      store, attachment, isCompressed: encoding == .gzip, limit: limits.attachment)
    current = (attachment, sink)
  }

  /// The attachment that a part is: by the name of the part if it has one, otherwise by the order.
  private mutating func next(named name: String?) -> IncomingAttachment? {
    let position = name.flatMap { name in wanted.firstIndex { $0.name.utf8.elementsEqual(name.utf8) } } ?? 0
    return wanted.indices.contains(position) ? wanted.remove(at: position) : nil
  }

  private mutating func end() async throws {
    if let current {
      let attachment = current.attachment
      var sink = current.sink
      uploads[attachment.name] = try await sink.finish(name: attachment.name, type: attachment.contentType)
      self.current = nil
    } else if input == nil {
      let input = try json.withUnsafeBytes { try DocumentInput($0, mayBeRemoved: mayBeRemoved) }
      json = []
      wanted = input.attachments.filter { if case .follows = $0.source { true } else { false } }
      // The content of each is a file, so what is too much is refused before it arrives.
      guard wanted.count <= limits.attachments else {
        throw CouchError.tooManyParts(limit: limits.attachments + 1)
      }
      self.input = input
    }
  }

  /// - Returns: The document, and its attachments by name.
  package func finish() throws(CouchError) -> (input: DocumentInput, uploads: Attachments) {
    guard let input else { throw CouchError.badRequest("The body has no document.") }
    guard wanted.isEmpty else {
      throw CouchError.badRequest("The content of \(wanted.count) attachments is missing.")
    }
    return (input, uploads)
  }
}

/// The body of a request or a reply with a document and the content of its attachments: `multipart/related`.
package struct RelatedDocumentBody: AsyncSequence, Sendable {
  private let writer = MultipartWriter()
  private let text: [UInt8]
  private let attachments: [DocumentAttachment]

  /// - Parameters:
  ///   - text: The JSON, with the attachments that follow in the same order.
  ///   - attachments: Saved attachments.
  package init(_ text: [UInt8], _ attachments: [DocumentAttachment]) {
    self.text = text
    self.attachments = attachments
  }

  package var contentType: String { writer.contentType("multipart/related") }

  /// The number of bytes; `nil` if it exceeds an `Int64`.
  package var length: Int64? {
    writer.contentLength(
      of: [(.document, Int64(text.count))] + attachments.map { ($0.head, $0.length ?? -1) })
  }

  package func makeAsyncIterator() -> Iterator { Iterator(body: self, writer: writer) }

  package struct Iterator: AsyncIteratorProtocol {
    fileprivate let body: RelatedDocumentBody
    fileprivate var writer: MultipartWriter
    /// The number of parts that were begun.
    private var begun = 0
    private var reader: AttachmentReader?

    fileprivate init(body: RelatedDocumentBody, writer: MultipartWriter) {
      self.body = body
      self.writer = writer
    }

    package mutating func next() async throws -> [UInt8]? {
      if let reader {
        let chunk = try await reader.next()
        if !chunk.isEmpty { return chunk }
        self.reader = nil
      }
      defer { begun += 1 }
      switch begun {
      case 0: return writer.begin(.document) + body.text
      case 1...body.attachments.count:
        let attachment = body.attachments[begun - 1]
        let reader = try await AttachmentReader(attachment)
        self.reader = reader
        return writer.begin(attachment.head) + (try await reader.next())
      case body.attachments.count + 1: return writer.end()
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
