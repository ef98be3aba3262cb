import CDTPlatform
import NIOCore

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
