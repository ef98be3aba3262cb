import CDTDatastore
import CDTJSON
import CouchDB
import NIOCore

extension RemoteEnd {
  /// The maximum number of documents in a request.
  private static var pageCount: Int { 1_000 }
  private static var limits: RelatedDocumentReader<ByteBufferView>.Limits {
    .init(json: 64 * 1024 * 1024, attachment: .max)
  }

  func read(
    _ wanted: [RevisionDifference], _ body: (TransferredRevision) async throws -> Void
  ) async throws {
    for start in stride(from: 0, to: wanted.count, by: Self.pageCount) {
      let page = Array(wanted[start..<min(wanted.count, start + Self.pageCount)])
      if !lacksBulkGet, try await readTogether(page, body) { continue }
      for document in page { try await read(document, body) }
    }
  }

  /// Reads documents with `_bulk_get`.
  ///
  /// - Returns: Whether the server can do this.
  private func readTogether(
    _ wanted: [RevisionDifference], _ body: (TransferredRevision) async throws -> Void
  ) async throws -> Bool {
    let documents = wanted.flatMap { document in
      document.missing.map { revision -> JSONValue in
        var entry: JSONObject = ["id": .string(document.id), "rev": .string(revision.description)]
        if !document.ancestors.isEmpty {
          entry["atts_since"] = .array(document.ancestors.map { .string($0.description) })
        }
        return .object(entry)
      }
    }
    var request = RemoteConnection.Request(
      .POST, "/_bulk_get?revs=true&latest=true&attachments=true", ["docs": .array(documents)])
    request.accept = "multipart/mixed"
    let reply = try await connection.send(request)
    guard reply.status == 200 else {
      guard [400, 404, 405, 406, 415, 501].contains(reply.status) else { throw await reply.failure() }
      lacksBulkGet = true
      return false
    }
    guard let boundary = try? MultipartBoundary(contentType: reply.contentType) else {
      // A server that sends JSON in spite of the request would hold the whole reply in memory.
      lacksBulkGet = true
      return false
    }
    try await readParts(of: reply, boundary, body)
    return true
  }

  /// Reads one document.
  private func read(
    _ wanted: RevisionDifference, _ body: (TransferredRevision) async throws -> Void
  ) async throws {
    let since =
      wanted.ancestors.isEmpty
      ? "" : "&atts_since=\(PercentCoding.encode(RevisionID.parameter(wanted.ancestors)))"
    // A URL may have 8,000 characters.
    for start in stride(from: 0, to: wanted.missing.count, by: 40) {
      let revisions = OpenRevisions.revisions(
        Array(wanted.missing[start..<min(wanted.missing.count, start + 40)]))
      var request = RemoteConnection.Request(
        "\(Self.path(wanted.id))?revs=true&latest=true&open_revs=\(PercentCoding.encode(revisions.parameter))\(since)"
      )
      request.accept = "multipart/mixed"
      let reply = try await connection.send(request)
      // The document was purged in the meantime.
      if reply.status == 404 { return }
      guard reply.status == 200 else { throw await reply.failure() }
      try await readParts(of: reply, try MultipartBoundary(contentType: reply.contentType), body)
    }
  }

  private static let design = "_design/"

  /// Whether a document can have an id. Other names that begin with an underscore are resources of the server, or local
  /// documents.
  static func isDocumentID(_ id: String) -> Bool {
    !id.isEmpty && (!id.hasPrefix("_") || (id.hasPrefix(design) && id.utf8.count > design.utf8.count))
  }

  /// The path of a document.
  static func path(_ id: String) -> String {
    guard id.hasPrefix(design) else { return "/\(PercentCoding.encode(id))" }
    return "/\(design)\(PercentCoding.encode(String(id.dropFirst(design.count))))"
  }

  private func readParts(
    of reply: RemoteConnection.Reply, _ boundary: MultipartBoundary,
    _ body: (TransferredRevision) async throws -> Void
  ) async throws {
    var reader = MultipartReader<ByteBufferView>(boundary: boundary, maximumParts: .max)
    var part: Part?
    func take(_ event: MultipartReader<ByteBufferView>.Event) async throws {
      switch event {
      case .part(let head): part = try Part(head, into: store, limits: Self.limits)
      case .bytes(let bytes): try await part?.take(bytes)
      case .endOfPart:
        if let revision = try await part?.finish() { try await body(revision) }
        part = nil
      case .end: break
      }
    }
    do {
      var chunks = reply.body.makeAsyncIterator()
      while let buffer = try await Self.next(&chunks, identity) {
        var chunk = buffer.readableBytesView
        while let event = try reader.next(&chunk) { try await take(event) }
      }
      try reader.finish()
    } catch let error as CouchError {
      // A connection that was cut ends a reply in the middle, if its length is not known.
      throw ReplicationError(.invalidReply, "\(identity): \(error)", isTransient: true)
    }
  }

  private static func next(
    _ chunks: inout some AsyncIteratorProtocol<ByteBuffer, any Error>, _ request: String
  ) async throws -> ByteBuffer? {
    do {
      return try await chunks.next()
    } catch let error as CancellationError {
      throw error
    } catch {
      try Task.checkCancellation()
      throw ReplicationError(connection: error, request)
    }
  }

  /// A part of a reply: a revision, or the message that it is missing.
  private struct Part {
    private let isMissing: Bool
    private var document: RelatedDocumentReader<ByteBufferView>
    /// For the parts of the part.
    private var inner: MultipartReader<ByteBufferView>?

    init(
      _ head: MultipartHead, into store: Datastore, limits: RelatedDocumentReader<ByteBufferView>.Limits
    ) throws {
      let type = head["Content-Type"] ?? "application/json"
      isMissing = type.contains("error=")
      document = RelatedDocumentReader(into: store, limits: limits)
      if head.mediaType == "multipart/related" {
        inner = MultipartReader(boundary: try MultipartBoundary(contentType: type), maximumParts: .max)
      }
    }

    mutating func take(_ bytes: ByteBufferView) async throws {
      if isMissing { return }
      guard inner != nil else { return try await document.take(.bytes(bytes)) }
      var chunk = bytes
      while let event = try inner?.next(&chunk) { try await document.take(event) }
    }

    mutating func finish() async throws -> TransferredRevision? {
      if isMissing { return nil }
      if inner == nil { try await document.take(.endOfPart) }
      try inner?.finish()
      let (input, uploads) = try document.finish()
      guard let id = input.document.id, let revision = input.revisionID else {
        throw CouchError.badRequest("a revision has no _id or no _rev")
      }
      return TransferredRevision(id: id, revision: revision, content: .parsed(input), attachments: uploads)
    }
  }
}
