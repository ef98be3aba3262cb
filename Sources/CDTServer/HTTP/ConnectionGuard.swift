import CDTJSON
import CouchDB
import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Closes a connection whose client makes no progress: one that does not read its reply, or sends a body too slowly.
///
/// The framework closes connections that are idle between requests. For it, they are idle as soon as it has handed over a
/// reply, so this class closes them when the reply is sent. The framework also reads what is left of a body after the reply,
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
  /// The number of the request after whose reply the connection ends.
  private var last: Int?
  /// When the newest reply is sent.
  private var replySent: EventLoopFuture<Void>?
  private let sent = SentBytes()
  private var checkOfSender: Scheduled<Void>?
  private var checkOfReader: Scheduled<Void>?

  init(time: TimeAmount, unreadLimit: Int) {
    self.time = time
    self.unreadLimit = unreadLimit
  }

  private var isReading: Bool { requests.begun > requests.ended }

  func handlerAdded(context: ChannelHandlerContext) {
    // It fails if the connection is closed already.
    try? context.pipeline.syncOperations.addHandler(sent, position: .first)
  }

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
    if checkOfReader == nil { checkReaderLater(context) }
    switch unwrapOutboundIn(data) {
    case .head(var head):
      replies.begun += 1
      if replies.begun == last { head.headerFields[.connection] = "close" }
      return context.write(wrapOutboundOut(.head(head)), promise: promise)
    case .body: context.write(data, promise: promise)
    case .end:
      replies.ended += 1
      let promise = promise ?? context.eventLoop.makePromise()
      replySent = promise.futureResult
      guard replies.ended == last else { return context.write(data, promise: promise) }
      context.writeAndFlush(data, promise: promise)
      closeAfterLast(context)
    }
  }

  /// The system's buffers may hold megabytes, so only a look into them shows whether the client reads.
  private func checkReaderLater(_ context: ChannelHandlerContext) {
    let received = sent.progress(on: context.channel)?.received
    checkOfReader = context.eventLoop.assumeIsolatedUnsafeUnchecked().scheduleTask(in: time) {
      self.checkOfReader = nil
      guard let now = self.sent.progress(on: context.channel), now.waiting > 0 else { return }
      if now.received == received { return context.close(promise: nil) }
      self.checkReaderLater(context)
    }
  }

  /// Ends the connection if the client wants that, when it has sent its request and the reply is sent.
  private func closeAfterLast(_ context: ChannelHandlerContext) {
    guard let last, replies.ended >= last, requests.ended >= last else { return }
    close(context: context, mode: .all, promise: nil)
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    guard mode == .all, replies.begun == replies.ended, let replySent else {
      return context.close(mode: mode, promise: promise)
    }
    replySent.assumeIsolatedUnsafeUnchecked().whenComplete { _ in context.close(mode: mode, promise: promise)
    }
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
