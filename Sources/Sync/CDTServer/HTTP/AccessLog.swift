import CDTPlatform
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Synchronization

/// A request in the log: a line at the level `info` when its reply is sent or its client has left.
///
/// It has the path without the query, whose parameters can have keys of documents, and nothing of headers and bodies.
struct AccessLog: Sendable {
  let logger: Logger
  let request: Request
  let method: HTTPRequest.Method
  let start: ContinuousClock.Instant
  let peer: String

  /// The same reply, which is logged when its body is sent. If requests are not logged, nothing changes.
  func following(_ response: Response, id: String, user: String?) -> Response {
    guard logger.logLevel <= .info else { return response }
    let status = response.status
    if request.method == .head || response.body.contentLength == 0 {
      write(status, id, user, bytes: 0)
      return response
    }
    var response = response
    let (body, length) = (response.body, response.headers[.contentLength])
    response.body = ResponseBody(contentLength: body.contentLength) { writer in
      let counter = ByteCounter()
      defer { write(status, id, user, bytes: counter.count) }
      try await body.write(CountingWriter(base: writer, counter: counter))
    }
    response.headers[.contentLength] = length
    return response
  }

  private func write(_ status: HTTPResponse.Status, _ id: String, _ user: String?, bytes: Int) {
    var metadata: Logger.Metadata = [
      "method": "\(method)", "path": "\(request.uri.path.prefix(1_000))",
      "status": .stringConvertible(status.code),
      "milliseconds": .milliseconds(since: start),
      "bytes": .stringConvertible(bytes), "client": "\(peer)", "request": "\(id)",
    ]
    if let user { metadata["user"] = "\(user)" }
    logger.info("request", metadata: metadata)
  }
}

extension Logger.MetadataValue {
  /// The time since an instant, with three digits after the point.
  static func milliseconds(since start: ContinuousClock.Instant) -> Logger.MetadataValue {
    .stringConvertible(((ContinuousClock.now - start) / .microseconds(1)).rounded() / 1_000)
  }
}

/// The number of bytes of a body that were sent.
private final class ByteCounter: Sendable {
  private let sum = Atomic(0)

  func add(_ count: Int) { sum.add(count, ordering: .relaxed) }

  var count: Int { sum.load(ordering: .relaxed) }
}

/// Counts the bytes of a body.
private struct CountingWriter: ResponseBodyWriter {
  var base: any ResponseBodyWriter
  let counter: ByteCounter

  mutating func write(_ buffer: ByteBuffer) async throws {
    try await base.write(buffer)
    counter.add(buffer.readableBytes)
  }

  consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
    try await base.finish(trailingHeaders)
  }
}
