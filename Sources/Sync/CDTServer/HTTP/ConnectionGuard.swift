import CDTJSON
import CDTPlatform
import CouchDB
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Closes a connection whose client makes no progress: one that does not read its reply, or sends a body too slowly. Notices
/// when a client is gone.
///
/// The framework closes connections that are idle between requests. For it, they are idle as soon as it has handed over a
/// reply, so this class closes them when the reply is sent. The framework also reads what is left of a body after the reply,
/// so that clients that send first and read then get an error; here, that has a limit. A reply to a request whose rest may
/// exceed it says that the connection ends. If a client wants the connection closed after the reply, the framework closes
/// it without reading the rest, so this class closes it instead.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  /// The time that a client may make no progress.
  private let time: TimeAmount
  /// The maximum number of bytes that are read after the reply.
  private let unreadLimit: Int

  /// The requests and the replies that were begun and ended.
  private var requests = (begun: 0, ended: 0)
  private var replies = (begun: 0, ended: 0)
  /// The bytes of the body since the sender was last looked at, and since the reply.
  private var received = 0
  private var unread = 0
  /// The bytes of the body that are still to come, by its `Content-Length`.
  private var announced: Int?
  /// The number of the request after whose reply the connection ends.
  private var last: Int?
  /// Succeeds when the newest reply is sent.
  private var replySent: EventLoopFuture<Void>?
  private let sent: SentBytes
  private let connection: ClientConnection
  private var checkOfSender: Scheduled<Void>?
  private var checkOfReader: Scheduled<Void>?
  /// The number of bytes that the client had received when it was last seen to read, and the time of that.
  private var lastRead = (received: 0, at: NIODeadline.now())

  /// The number of times in ``time`` that a reader is looked at.
  private static let looks: Int64 = 12

  init(time: TimeAmount, unreadLimit: Int, sent: SentBytes, connection: ClientConnection) {
    self.time = time
    self.unreadLimit = unreadLimit
    self.sent = sent
    self.connection = connection
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
      connection.leastProgress.store(ClientConnection.defaultProgress, ordering: .relaxed)
      announced = head.headerFields[.contentLength].flatMap { Int($0) }
      // It can't be written into another reply. Clients go on after a pause without it.
      if head.headerFields[.expect]?.lowercased() == "100-continue", replies.ended == requests.begun - 1 {
        context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
      }
      var head = head
      if head.wantsClose {
        head.headerFields[.connection] = nil
        last = last ?? requests.begun
      }
      // The end of its body is uncertain.
      if head.unknownTransferCoding != nil { last = last ?? requests.begun }
      return context.fireChannelRead(wrapInboundOut(.head(head)))
    case .body(let bytes):
      received += bytes.readableBytes
      announced = announced.map { $0 - bytes.readableBytes }
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
      if self.received >= self.connection.leastProgress.load(ordering: .relaxed) {
        return self.checkSenderLater(context)
      }
      if self.replies == (self.requests.ended, self.requests.ended) {
        context.refuse(.slowRequest)
      }
      context.close(promise: nil)
    }
  }

  /// Of malformed HTTP no more can be read.
  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard let error = error as? HTTPParserError else { return context.fireErrorCaught(error) }
    if isReading {
      // The error goes to the task that reads the body, which answers it.
      last = last ?? requests.begun
      requests.ended = requests.begun
      checkOfSender?.cancel()
      context.fireErrorCaught(error)
      return closeAfterLast(context)
    }
    guard replies == (requests.ended, requests.ended), last == nil else {
      return context.fireErrorCaught(error)
    }
    last = 0
    context.refuse(.unreadable(error))
    context.close(promise: nil)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .inputClosed? = event as? ChannelEvent { endInput(context) }
    context.fireUserInboundEventTriggered(event)
  }

  /// A client has ended its side of the connection. Whether it still reads, or is gone, shows when something is sent: the
  /// system of one that is gone refuses it, and then the connection is closed.
  private func endInput(_ context: ChannelHandlerContext) {
    connection.inputClosed.happen()
    guard !isReading, requests.ended > replies.ended, replies.begun == replies.ended else { return }
    // Clients skip it, at any time before the reply (RFC 9110, 15.2).
    context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
  }

  // MARK: Replies

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if checkOfReader == nil {
      lastRead = (sent.progress(on: context.channel)?.received ?? 0, .now())
      checkReaderLater(context)
    }
    switch unwrapOutboundIn(data) {
    case .head(var head):
      replies.begun += 1
      // Otherwise the client might send its next request on a connection that is just being closed.
      if isReading, replies.begun == requests.begun, announced ?? .max > unreadLimit {
        last = last ?? requests.begun
      }
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
    let pause = TimeAmount.nanoseconds(max(1, time.nanoseconds / Self.looks))
    checkOfReader = context.eventLoop.assumeIsolatedUnsafeUnchecked().scheduleTask(in: pause) {
      self.checkOfReader = nil
      guard let now = self.sent.progress(on: context.channel), now.waiting > 0 else { return }
      if now.received != self.lastRead.received {
        self.lastRead = (now.received, .now())
      } else if .now() - self.lastRead.at >= self.time {
        return context.close(promise: nil)
      }
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

extension ChannelHandlerContext {
  /// Answers a request after which the connection ends.
  func refuse(_ error: CouchError) {
    let text = error.json.utf8Text
    var head = HTTPResponse(
      status: .init(code: error.status),
      headerFields: [.contentType: Reply.json, .contentLength: "\(text.count)", .connection: "close"])
    head.headerFields[.retryAfter] = error.status == 503 ? Reply.retryAfter : nil
    write(NIOAny(HTTPResponsePart.head(head)), promise: nil)
    write(NIOAny(HTTPResponsePart.body(ByteBuffer(bytes: text))), promise: nil)
    writeAndFlush(NIOAny(HTTPResponsePart.end(nil)), promise: nil)
  }
}

extension HTTPRequest {
  /// The coding of the body, unless it is in chunks alone or not encoded; `nil` if it is.
  var unknownTransferCoding: String? {
    let codings = headerFields[values: .transferEncoding].joined(separator: ", ")
    return codings.isEmpty || codings.lowercased() == "chunked" ? nil : codings
  }

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

  /// The error of a request whose bytes can't be read.
  static func unreadable(_ error: HTTPParserError) -> CouchError {
    guard case .headerOverflow = error else { return badRequest("The request is not well-formed HTTP/1.1.") }
    return CouchError(
      431, "headers_too_large", "The request has too many headers, or too long ones; leave some out.")
  }
}

/// Counts what a connection sends, and how much of it the client has received.
///
/// As the first handler of a pipeline, it counts bytes of the network: with encryption. To close from here drops what waits.
final class SentBytes: ChannelOutboundHandler, RemovableChannelHandler {
  typealias OutboundIn = IOData
  typealias OutboundOut = IOData

  private var written = 0

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    written += unwrapOutboundIn(data).readableBytes
    context.write(data, promise: promise)
  }

  /// The bytes that the client has received since the connection was opened, and those that wait, here or in the system;
  /// `nil` if the connection is closed.
  func progress(on channel: any Channel) -> (received: Int, waiting: Int)? {
    guard let here = try? channel.syncOptions?.getOption(.bufferedWritableBytes),
      let inSystem = inSystem(channel)
    else { return nil }
    return (written - here - inSystem, here + inSystem)
  }

  private func inSystem(_ channel: any Channel) -> Int? {
    let count = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable {
      (socket: NIOBSDSocket.Handle) in Sockets.unsentBytes(socket)
    }
    return count ?? nil
  }
}
