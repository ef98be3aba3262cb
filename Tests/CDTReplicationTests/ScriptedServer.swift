import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// A server that answers each request with what a closure returns, and remembers the requests.
final class ScriptedServer: Sendable {
  struct Reply: Sendable {
    var status = 200
    var contentType = "application/json"
    var headers: [String: String] = [:]
    var body = "{}"
    /// Sent instead of the body.
    var bytes: [UInt8]?
    /// Whether it is sent; otherwise the server is silent.
    var isSent = true
  }

  /// Requests as they were received, with head and body.
  fileprivate final class Log: Sendable {
    let requests = Mutex<[String]>([])
  }

  private let log = Log()
  private let channel: any Channel
  let port: Int

  var requests: [String] { log.requests.withLock { $0 } }
  /// The number of requests.
  var count: Int { log.requests.withLock { $0.count } }
  var url: String { "http://127.0.0.1:\(port)" }

  /// The value of a header field of a request, and `nil` if it has none.
  static func field(_ name: String, of request: String) -> String? {
    let head = request.split(separator: "\r\n\r\n", maxSplits: 1).first ?? ""
    return head.split(separator: "\r\n").dropFirst().first { $0.lowercased().hasPrefix("\(name):") }
      .map { String($0.dropFirst(name.utf8.count + 1).drop { $0 == " " }) }
  }

  init(
    tls: TLSConfiguration? = nil, _ reply: @escaping @Sendable (_ request: String) -> Reply
  ) async throws {
    let tls = try tls.map { try NIOSSLContext(configuration: $0) }
    channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { [log] channel in
        channel.eventLoop.makeCompletedFuture {
          if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
          try channel.pipeline.syncOperations.addHandler(Answering(log, reply))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    port = channel.localAddress?.port ?? 0
  }

  func close() async {
    try? await channel.close()
  }
}

/// Answers one request of a connection, and closes it.
private final class Answering: ChannelInboundHandler, Sendable {
  typealias InboundIn = ByteBuffer

  private let log: ScriptedServer.Log
  private let reply: @Sendable (String) -> ScriptedServer.Reply
  private let text = Mutex("")

  init(_ log: ScriptedServer.Log, _ reply: @escaping @Sendable (String) -> ScriptedServer.Reply) {
    self.log = log
    self.reply = reply
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let request = text.withLock { text in
      text += String(buffer: unwrapInboundIn(data))
      return text
    }
    guard Self.isWhole(request) else { return }
    log.requests.withLock { $0.append(request) }
    let reply = reply(request)
    guard reply.isSent else { return }
    let fields = reply.headers.map { "\($0.key): \($0.value)\r\n" }.joined()
    let answer = """
      HTTP/1.1 \(reply.status) Scripted\r
      Content-Type: \(reply.contentType)\r
      Content-Length: \(reply.bytes?.count ?? reply.body.utf8.count)\r
      Connection: close\r
      \(fields)\r

      """
    let channel = context.channel
    let bytes = Array(answer.utf8) + (reply.bytes ?? Array(reply.body.utf8))
    channel.writeAndFlush(ByteBuffer(bytes: bytes)).whenComplete { _ in channel.close(promise: nil) }
  }

  private static func isWhole(_ request: String) -> Bool {
    let parts = request.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return false }
    let length = parts[0].lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
      .flatMap { Int($0.dropFirst(15).drop { $0 == " " }) }
    return parts[1].utf8.count >= length ?? 0
  }
}
