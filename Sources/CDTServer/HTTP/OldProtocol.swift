import NIOCore
import NIOHTTP1

/// Answers requests of HTTP/1.0, whose clients know neither chunks nor interim replies: a reply ends with the connection.
final class OldProtocol: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  /// Whether each request without a reply is one of HTTP/1.0, the oldest first.
  private var areOld = CircularBuffer<Bool>()

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
    let isOld = head.version.major < 1 || head.version == .http1_0
    areOld.append(isOld)
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
    if (100..<200).contains(head.status.code) {
      guard areOld.first != true else {
        promise?.succeed()
        return
      }
    } else if areOld.popFirst() == true {
      head.version = .http1_0
    }
    context.write(wrapOutboundOut(.head(head)), promise: promise)
  }
}
