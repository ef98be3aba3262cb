import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import Synchronization

/// The connection of a client, from the bytes of the network to the parts of requests and replies.
///
/// Closing it cancels the task that answers its requests, and cancelling that task closes it at once.
struct ClientChannel: HTTPChannelHandler {
  /// A connection that was accepted. One that nobody handles is closed when it is released: a server that is cancelled drops those
  /// that wait, and NIO ends the process if their writers are not finished (https://github.com/apple/swift-nio/issues/2813).
  final class Value: ServerChildChannelValue {
    fileprivate typealias Parts = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    fileprivate let connection: ClientConnection
    private let http: Parts
    private let isHandled = Atomic(false)
    var channel: any Channel { http.channel }

    fileprivate init(_ http: Parts, _ connection: ClientConnection) {
      (self.http, self.connection) = (http, connection)
    }

    deinit {
      guard !isHandled.load(ordering: .relaxed) else { return }
      Task { [http] in try? await http.executeThenClose { _, _ in } }
    }

    /// The parts of requests and replies, for the task that closes the connection.
    fileprivate func handled() -> Parts {
      isHandled.store(true, ordering: .relaxed)
      return http
    }
  }

  let responder: HTTPChannelHandler.Responder
  let limits: ServerConfiguration.Limits
  let connections: ConnectionLimit

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
    channel.eventLoop.makeCompletedFuture {
      let connection = ClientConnection(on: channel.eventLoop)
      let pipeline = channel.pipeline.syncOperations
      var lengths = NIOHTTPDecoderLimitConfiguration()
      lengths.maxHeaderFieldSize = limits.headerLength
      lengths.maxHeaderListSize = limits.headerLength
      lengths.maxHeaderFieldCount = 100
      let sent = SentBytes()
      try pipeline.addHandler(sent, position: .first)
      // Parts are not ordered here, as they are answered one at a time, and errors are those of ConnectionGuard. HTTPTypes
      // has no invalid header fields.
      var encoding = HTTPResponseEncoder.Configuration()
      encoding.automaticallySetFramingHeaders = false
      try pipeline.configureHTTPServerPipeline(
        withPipeliningAssistance: false, withErrorHandling: false, withOutboundHeaderValidation: false,
        withEncoderConfiguration: encoding, withDecoderLimitConfiguration: lengths)
      try pipeline.addHandler(ReplyFraming())
      try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: false))
      try pipeline.addHandler(ConnectionLimit.Handler(connections))
      let time = TimeAmount(limits.idleTime)
      try pipeline.addHandler(
        ConnectionGuard(time: time, unreadLimit: limits.requestLength, sent: sent, connection: connection))
      try pipeline.addHandler(HTTPConnectionStateHandler(idleTimeout: limits.idleTime, logger: logger))
      let http = try Value.Parts(
        wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
      return Value(http, connection)
    }
  }

  func handle(value: Value, logger: Logger) async {
    let task = Task {
      await ClientConnection.$current.withValue(value.connection) {
        await handleHTTP(asyncChannel: value.handled(), logger: logger)
      }
    }
    value.channel.closeFuture.whenComplete { _ in task.cancel() }
    await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      // The bytes that wait to be sent are dropped: a client that does not read would keep it waiting.
      value.channel.eventLoop.execute {
        let network = try? value.channel.pipeline.syncOperations.context(handlerType: SentBytes.self)
        network?.close(promise: nil)
      }
    }
  }
}

/// The connection of a client, for the tasks that answer its requests.
final class ClientConnection: Sendable {
  /// The connection whose requests the task answers.
  @TaskLocal static var current = ClientConnection(on: nil)

  private let eventLoop: (any EventLoop)?

  init(on eventLoop: (any EventLoop)?) {
    self.eventLoop = eventLoop
  }

  /// The client sends no more, and may be gone. It may still read replies.
  let inputClosed = OneTimeEvent()

  /// The bytes of a body in the idle time that are progress; each request begins with the default.
  let leastProgress = Atomic(ClientConnection.defaultProgress)
  static let defaultProgress = 1_024

  /// Waits until the event loop has seen all that was written.
  ///
  /// Only then does a connection that can take no more hold back the next write: beside a busy event loop, a task would
  /// write megabytes for a client that does not read.
  func catchUp() async throws {
    try await eventLoop?.submit {}.get()
  }
}

extension ResponseBodyWriter {
  /// Writes a part of a long reply, at the pace of the client.
  mutating func send(_ buffer: ByteBuffer) async throws {
    try await write(buffer)
    try await ClientConnection.current.catchUp()
  }
}

/// Says in the head of a reply how it ends: after its length, with the last chunk, or with its head, as replies to HEAD do. Requests of
/// HTTP/1.0, whose clients know neither chunks nor interim replies, are answered with one that ends with the connection.
///
/// Source: RFC 9112, 6.3.
final class ReplyFraming: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  /// The requests without a reply, the oldest first.
  private var requests = CircularBuffer<(isOld: Bool, isHead: Bool)>()

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
    let isOld = head.version.major < 1 || head.version == .http1_0
    requests.append((isOld, head.method == .HEAD))
    guard isOld else { return context.fireChannelRead(data) }
    head.headers.replaceOrAdd(name: "Connection", value: "close")
    head.headers.remove(name: "Expect")
    // Not needed in HTTP/1.0. Every browser sends it, and only their requests can be led here by a foreign name.
    if !head.headers.contains(name: "Host"), let address = context.localAddress?.ipAddress {
      head.headers.add(name: "Host", value: address.contains(":") ? "[\(address)]" : address)
    }
    context.fireChannelRead(wrapInboundOut(.head(head)))
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard case .head(var head) = unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
    let isInterim = (100..<200).contains(head.status.code)
    let request = isInterim ? requests.first : requests.popFirst()
    let (isOld, isHead) = request ?? (false, false)
    if isOld {
      guard !isInterim else {
        promise?.succeed()
        return
      }
      head.version = .http1_0
    }
    if !head.status.mayHaveResponseBody {
      head.headers.remove(name: "Content-Length")
    } else if !isOld, !isHead, !head.headers.contains(name: "Content-Length") {
      head.headers.replaceOrAdd(name: "Transfer-Encoding", value: "chunked")
    }
    context.write(wrapOutboundOut(.head(head)), promise: promise)
  }
}
