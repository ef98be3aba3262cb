import CDTJSON
import CouchDB
import Glibc
import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Closes a connection whose client makes no progress: one that does not read its reply, or sends a body too slowly.
///
/// The framework closes connections that are idle between requests. It also reads what is left of a body after the reply,
/// so that clients that send first and read then get an error; here, that has a limit. If a client wants the connection
/// closed after the reply, the framework closes it without reading the rest, so this class closes it instead.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  /// How long a client may make no progress.
  private let time: TimeAmount
  /// The maximum number of bytes that are read after the reply.
  private let unreadLimit: Int

  /// The number of bytes of a body that are progress.
  private static let leastProgress = 1_024

  /// The requests and the replies that were begun and ended.
  private var requests = (begun: 0, ended: 0)
  private var replies = (begun: 0, ended: 0)
  /// The bytes of the body since the sender was last looked at, and since the reply.
  private var received = 0
  private var unread = 0
  /// The number of the request after whose reply the connection ends, and the end of that reply.
  private var last: Int?
  private var lastReply: EventLoopFuture<Void>?
  private var checkOfSender: Scheduled<Void>?

  init(time: TimeAmount, unreadLimit: Int) {
    self.time = time
    self.unreadLimit = unreadLimit
  }

  private var isReading: Bool { requests.begun > requests.ended }

  /// The system ends connections whose client takes nothing of what is sent: only it knows, as its buffers may hold
  /// megabytes.
  ///
  /// Source: tcp(7), TCP_USER_TIMEOUT.
  func channelActive(context: ChannelHandlerContext) {
    let milliseconds = CInt(clamping: time.nanoseconds / 1_000_000)
    _ = context.channel.setOption(
      ChannelOptions.Types.SocketOption(level: .tcp, name: .init(rawValue: TCP_USER_TIMEOUT)),
      value: SocketOptionValue(max(1, milliseconds))
    )
    context.fireChannelActive()
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    checkOfSender?.cancel()
  }

  // MARK: Requests

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      requests.begun += 1
      unread = 0
      // It can't be written into another reply. Clients go on after a pause without it.
      if head.headerFields[.expect]?.lowercased() == "100-continue", replies.ended == requests.begun - 1 {
        context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
      }
      var head = head
      if head.wantsClose {
        head.headerFields[.connection] = nil
        last = last ?? requests.begun
      }
      return context.fireChannelRead(wrapInboundOut(.head(head)))
    case .body(let bytes):
      received += bytes.readableBytes
      if replies.ended == requests.begun {
        unread += bytes.readableBytes
        if unread > unreadLimit { return context.close(promise: nil) }
      }
    case .end:
      requests.ended += 1
      checkOfSender?.cancel()
      checkOfSender = nil
      closeAfterLast(context)
    }
    context.fireChannelRead(data)
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    if isReading, checkOfSender == nil { checkSenderLater(context) }
    context.fireChannelReadComplete()
  }

  private func checkSenderLater(_ context: ChannelHandlerContext) {
    received = 0
    checkOfSender = context.eventLoop.assumeIsolatedUnsafeUnchecked().scheduleTask(in: time) {
      if self.received >= Self.leastProgress { return self.checkSenderLater(context) }
      if self.replies == (self.requests.ended, self.requests.ended) { self.refuse(context) }
      context.close(promise: nil)
    }
  }

  /// Tells a sender that its request took too long.
  private func refuse(_ context: ChannelHandlerContext) {
    let text = CouchError.slowRequest.json.utf8Text
    let head = HTTPResponse(
      status: .requestTimeout,
      headerFields: [.contentType: Reply.json, .contentLength: "\(text.count)", .connection: "close"])
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    context.write(wrapOutboundOut(.body(ByteBuffer(bytes: text))), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
  }

  // MARK: Replies

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch unwrapOutboundIn(data) {
    case .head(var head):
      replies.begun += 1
      if replies.begun == last { head.headerFields[.connection] = "close" }
      return context.write(wrapOutboundOut(.head(head)), promise: promise)
    case .body: context.write(data, promise: promise)
    case .end:
      replies.ended += 1
      guard replies.ended == last else { return context.write(data, promise: promise) }
      let promise = promise ?? context.eventLoop.makePromise()
      lastReply = promise.futureResult
      context.writeAndFlush(data, promise: promise)
      closeAfterLast(context)
    }
  }

  /// Ends the connection if the client wants that, when it has sent its request and the reply is sent.
  private func closeAfterLast(_ context: ChannelHandlerContext) {
    guard let last, let lastReply, requests.ended >= last else { return }
    lastReply.assumeIsolatedUnsafeUnchecked().whenComplete { _ in context.close(promise: nil) }
  }
}

extension HTTPRequest {
  /// Whether the client wants the connection to end after the reply: `Connection: close`, in any spelling.
  fileprivate var wantsClose: Bool {
    guard let field = headerFields[.connection] else { return false }
    return field.lowercased().split(separator: ",").contains {
      $0.filter { $0 != " " && $0 != "\t" } == "close"
    }
  }
}

extension CouchError {
  fileprivate static let slowRequest = CouchError(
    408, "request_timeout", "The request was sent too slowly; send it again.")
}
