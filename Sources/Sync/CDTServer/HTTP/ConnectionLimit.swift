import CDTPlatform
import CouchDB
import NIOCore
import NIOHTTPTypes
import Synchronization

/// Bounds the number of open connections.
///
/// Some connections above the limit are accepted to be told so; the system holds back those above them.
final class ConnectionLimit: Sendable {
  /// The number of connections that are served.
  let maximum: Int
  private let open = Atomic(0)

  /// The number of connections above the limit that are accepted.
  static let refused = 100

  /// - Parameter maximum: The wanted limit. Half of the file descriptors that the system allows are for connections, the
  ///   others for the datastores.
  init(_ maximum: Int) {
    self.maximum = max(1, min(maximum, CurrentProcess.maximumDescriptors / 2 - Self.refused))
  }

  /// Counts a connection.
  ///
  /// - Returns: Whether it is served.
  fileprivate func enter() -> Bool { open.add(1, ordering: .relaxed).newValue <= maximum }

  fileprivate func leave() { open.subtract(1, ordering: .relaxed) }

  /// Handles one connection.
  final class Handler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart

    private let limit: ConnectionLimit
    private var isServed = false
    private var hasReplied = false

    init(_ limit: ConnectionLimit) {
      self.limit = limit
    }

    func handlerAdded(context: ChannelHandlerContext) { isServed = limit.enter() }

    func handlerRemoved(context: ChannelHandlerContext) { limit.leave() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      if isServed { return context.fireChannelRead(data) }
      guard !hasReplied else { return }
      hasReplied = true
      context.refuse(.tooManyConnections)
      context.close(promise: nil)
    }
  }
}

extension CouchError {
  fileprivate static let tooManyConnections = CouchError(
    503, "service_unavailable", "The server has too many connections; try again later.")
}
