import AsyncHTTPClient
import CDTGzip
import NIOCore

/// The body of a reply as it arrives, without its content coding. What a proxy compresses is decompressed, although no
/// request asks for it.
///
/// Reading throws ``ReplicationError`` and `CancellationError`.
struct ReplyBody: AsyncSequence, Sendable {
  private let body: HTTPClientResponse.Body
  /// The codings in the order in which they were applied.
  private let codings: [String]
  /// The request, as errors name it.
  private let request: String

  init(_ response: HTTPClientResponse, to request: String) {
    body = response.body
    codings = response.headers[canonicalForm: "Content-Encoding"].map { $0.lowercased() }
      .filter { !$0.isEmpty && $0 != "identity" }
    self.request = request
  }

  func makeAsyncIterator() -> Iterator { Iterator(self) }

  struct Iterator: AsyncIteratorProtocol {
    private let request: String
    private let codings: [String]
    private var chunks: HTTPClientResponse.Body.AsyncIterator
    private var gzip: GzipReader?
    /// The bytes that are not decompressed yet.
    private var compressed = ByteBuffer().readableBytesView
    private var isEmpty = true

    fileprivate init(_ body: ReplyBody) {
      (request, codings) = (body.request, body.codings)
      chunks = body.body.makeAsyncIterator()
    }

    mutating func next() async throws -> ByteBuffer? {
      guard !codings.isEmpty else { return try await received() }
      do {
        let gzip = try reader()
        while true {
          if let content = try gzip.next(&compressed) { return ByteBuffer(bytes: content) }
          guard let chunk = try await received() else { break }
          compressed = chunk.readableBytesView
          isEmpty = isEmpty && compressed.isEmpty
        }
        if !isEmpty { try gzip.finish() }
        return nil
      } catch let error as GzipError {
        throw ReplicationError(error, request)
      }
    }

    private mutating func reader() throws -> GzipReader {
      if let gzip { return gzip }
      guard codings == ["gzip"] || codings == ["x-gzip"] else {
        throw ReplicationError(
          .invalidReply,
          "\(request): the reply has the content coding \(codings.joined(separator: ", ").prefix(40)), which was not asked for; turn it off at the server or the proxy"
        )
      }
      let new = try GzipReader(limit: .max)
      gzip = new
      return new
    }

    private mutating func received() async throws -> ByteBuffer? {
      do {
        return try await chunks.next()
      } catch let error as CancellationError {
        throw error
      } catch {
        try Task.checkCancellation()
        throw ReplicationError(connection: error, request)
      }
    }
  }
}

extension ReplicationError {
  /// An error of a reply that is compressed. One that is cut off or damaged may arrive whole the next time.
  fileprivate init(_ error: GzipError, _ request: String) {
    let reason =
      switch error {
      case .corrupt, .tooLarge: "the compressed reply is damaged"
      case .truncated: "the compressed reply ends too early"
      case .outOfMemory: "there is not enough memory for a compressed reply"
      }
    self.init(.invalidReply, "\(request): \(reason)", isTransient: true)
  }
}
