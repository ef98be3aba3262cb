import NIOCore
import Synchronization

/// Passes the reply of a server to a client, which learns that the connection ends with it.
final class ProxiedReply: ChannelInboundHandler, Sendable {
  typealias InboundIn = ByteBuffer

  private struct State {
    /// The number of bytes until the connection is cut.
    var rest: Int
    var isFirst = true
    var wasCut = false
    var lastWrite: EventLoopFuture<Void>?
  }

  private let client: (any Channel)?
  private let onRefusal: @Sendable () -> Void
  private let state: Mutex<State>

  init(to client: (any Channel)?, upTo limit: Int, onRefusal: @escaping @Sendable () -> Void) {
    self.client = client
    self.onRefusal = onRefusal
    state = Mutex(State(rest: limit))
  }

  var wasCut: Bool { state.withLock { $0.wasCut } }

  /// Calls a closure when the client has got everything.
  func whenPassed(_ body: @escaping @Sendable () -> Void) {
    guard let write = state.withLock({ $0.lastWrite }) else { return body() }
    write.whenComplete { _ in body() }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = unwrapInboundIn(data)
    let part = state.withLock { state -> ByteBuffer in
      var text = bytes
      if state.isFirst {
        state.isFirst = false
        text = Self.closing(bytes)
      }
      let length = min(state.rest, text.readableBytes)
      state.wasCut = length < text.readableBytes
      if state.rest != .max { state.rest -= length }
      return text.readSlice(length: length) ?? text
    }
    if bytes.readableBytesView.starts(with: "HTTP/1.1 412".utf8) { onRefusal() }
    if let client {
      let write = client.writeAndFlush(part)
      state.withLock { $0.lastWrite = write }
    }
    if wasCut { context.close(promise: nil) }
  }

  /// A reply with the field that ends the connection after it.
  private static func closing(_ reply: ByteBuffer) -> ByteBuffer {
    let view = reply.readableBytesView
    guard let end = view.firstRange(of: Array("\r\n".utf8)) else { return reply }
    var closing = ByteBuffer(bytes: view[..<end.upperBound])
    closing.writeString("Connection: close\r\n")
    closing.writeBytes(view[end.upperBound...])
    return closing
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }
}
