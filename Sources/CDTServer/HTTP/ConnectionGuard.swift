import CDTJSON
import CouchDB
import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Closes a connection whose client makes no progress: one that does not read its reply, or sends a body too slowly.
///
/// The framework closes connections that are idle between requests. It also reads what is left of a body after the reply,
/// so that clients that send first and read then get an error; here, that has a limit.
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
  private var checkOfSender: Scheduled<Void>?
  private var checkOfReader: Scheduled<Void>?

  init(time: TimeAmount, unreadLimit: Int) {
    self.time = time
    self.unreadLimit = unreadLimit
  }

  private var isReading: Bool { requests.begun > requests.ended }

  func handlerRemoved(context: ChannelHandlerContext) {
    checkOfSender?.cancel()
    checkOfReader?.cancel()
  }

  // MARK: Requests

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      requests.begun += 1
      unread = 0
      if head.headerFields[.expect]?.lowercased() == "100-continue" {
        context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
      }
      return context.fireChannelRead(wrapInboundOut(.head(head.withPlainConnectionField)))
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
    case .head: replies.begun += 1
    case .body: break
    case .end: replies.ended += 1
    }
    context.write(data, promise: promise)
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    checkOfReader?.cancel()
    checkOfReader =
      context.channel.isWritable
      ? nil
      : context.eventLoop.assumeIsolatedUnsafeUnchecked().scheduleTask(in: time) {
        context.close(promise: nil)
      }
    context.fireChannelWritabilityChanged()
  }
}

extension HTTPRequest {
  /// The same request with `Connection: close` as the framework knows it, if the client wants that in any spelling.
  fileprivate var withPlainConnectionField: HTTPRequest {
    guard let field = headerFields[.connection], field != "close" else { return self }
    let tokens = field.lowercased().split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }
    guard tokens.contains("close") else { return self }
    var request = self
    request.headerFields[.connection] = "close"
    return request
  }
}

extension CouchError {
  fileprivate static let slowRequest = CouchError(
    408, "request_timeout", "The request was sent too slowly; send it again.")
}
