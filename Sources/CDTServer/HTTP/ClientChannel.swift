import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// The connection of a client, from the bytes of the network to the parts of requests and replies.
///
/// When it is closed, the task that answers its requests is cancelled, and when that task is cancelled, it is closed at once.
struct ClientChannel: HTTPChannelHandler {
  struct Value: ServerChildChannelValue {
    fileprivate let http: NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>
    fileprivate let connection: ClientConnection
    var channel: any Channel { http.channel }
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
      try pipeline.configureHTTPServerPipeline(
        withPipeliningAssistance: false, withErrorHandling: false, withOutboundHeaderValidation: false,
        withEncoderConfiguration: .init(), withDecoderLimitConfiguration: lengths)
      try pipeline.addHandler(OldProtocol())
      try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: false))
      try pipeline.addHandler(ConnectionLimit.Handler(connections))
      let time = TimeAmount(limits.idleTime)
      try pipeline.addHandler(
        ConnectionGuard(time: time, unreadLimit: limits.requestLength, sent: sent, connection: connection))
      try pipeline.addHandler(HTTPConnectionStateHandler(idleTimeout: limits.idleTime, logger: logger))
      return Value(
        http: try NIOAsyncChannel(
          wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true)),
        connection: connection)
    }
  }

  func handle(value: Value, logger: Logger) async {
    let task = Task {
      await ClientConnection.$current.withValue(value.connection) {
        await handleHTTP(asyncChannel: value.http, logger: logger)
      }
    }
    value.channel.closeFuture.whenComplete { _ in task.cancel() }
    await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      // What waits to be sent is dropped: a client that does not read would keep it waiting.
      value.channel.eventLoop.execute {
        let network = try? value.channel.pipeline.syncOperations.context(handlerType: SentBytes.self)
        network?.close(promise: nil)
      }
    }
  }
}
