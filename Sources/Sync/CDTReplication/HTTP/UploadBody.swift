import CouchDB
import NIOCore
import Synchronization

/// A body in parts that are small enough for a slow network to take each within `RemoteDatabase.timeout`.
struct UploadBody: AsyncSequence, Sendable {
  enum Content: Sendable {
    case json(ByteBuffer)
    case multipart(RelatedDocumentBody)
  }

  /// The maximum length of a part. A network with 40 kbit/s needs 26 seconds for it.
  static let part = 128 * 1024

  let content: Content
  let progress = UploadProgress()

  init(_ content: Content) {
    self.content = content
  }

  /// The number of bytes.
  var length: Int64? {
    switch content {
    case .json(let bytes): Int64(bytes.readableBytes)
    case .multipart(let body): body.length
    }
  }

  func makeAsyncIterator() -> Iterator { Iterator(self) }

  struct Iterator: AsyncIteratorProtocol {
    private let progress: UploadProgress
    private var parts: RelatedDocumentBody.Iterator?
    /// The rest of the last part.
    private var rest = ByteBuffer()

    fileprivate init(_ body: UploadBody) {
      progress = body.progress
      switch body.content {
      case .json(let bytes): rest = bytes
      case .multipart(let body): parts = body.makeAsyncIterator()
      }
    }

    mutating func next() async throws -> ByteBuffer? {
      progress.advance()
      while rest.readableBytes == 0 {
        guard let next = try await parts?.next() else {
          progress.end()
          return nil
        }
        rest = ByteBuffer(bytes: next)
      }
      return rest.readSlice(length: Swift.min(rest.readableBytes, UploadBody.part))
    }
  }
}

/// The server has taken nothing of a body for too long.
struct UploadStalled: Error {}

/// The time at which a server last took a part of a body.
final class UploadProgress: Sendable {
  /// `nil` before the first part, and after the last one.
  private let last = Mutex<ContinuousClock.Instant?>(nil)

  fileprivate func advance() { last.withLock { $0 = .now } }
  fileprivate func end() { last.withLock { $0 = nil } }

  /// Whether the server has taken nothing of a body that has begun for a time.
  func isStalled(for time: Duration) -> Bool {
    last.withLock { $0.map { ContinuousClock.now - $0 >= time } ?? false }
  }

  /// Waits until the server has taken nothing for a time.
  func waitForStall(of limit: Duration) async throws {
    var end = ContinuousClock.now + limit
    while end > .now {
      try await Task.sleep(until: end, clock: .continuous)
      end = (last.withLock { $0 } ?? .now) + limit
    }
  }
}
