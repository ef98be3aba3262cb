import CDTTestSupport
import NIOCore
import NIOPosix
import Synchronization

/// Passes connections on to a server, and disturbs some: it refuses them, answers in the server's place that it is
/// overloaded, delays them, or cuts them after some bytes.
final class FaultyProxy: Sendable {
  let port: Int
  private let channel: any Channel
  private let state: Mutex<State>

  private struct State {
    var random: SeededGenerator
    /// How many of 100 connections are disturbed.
    var faults: Int
    var disturbed = 0
    var open: [ObjectIdentifier: any Channel] = [:]
  }

  enum Fault: Sendable {
    case none, refusal, delay
    case status(Int)
    /// Cut after so many bytes in both directions together.
    case cut(Int)
  }

  init(to target: Int, seed: UInt64, faults: Int) async throws {
    state = Mutex(State(random: SeededGenerator(seed: seed), faults: faults))
    let box = ProxyBox()
    channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.autoRead, value: false)
      .childChannelInitializer { channel in
        guard let proxy = box.proxy else { return channel.close() }
        return proxy.begin(channel, to: target)
      }
      .bind(host: "127.0.0.1", port: 0).get()
    port = channel.localAddress?.port ?? 0
    box.proxy = self
  }

  func close() async {
    try? await channel.close()
    cutAll()
  }

  /// How many connections were disturbed.
  var disturbed: Int { state.withLock { $0.disturbed } }

  /// Changes how many of 100 connections are disturbed.
  func setFaults(_ faults: Int) { state.withLock { $0.faults = faults } }

  /// Cuts every connection.
  func cutAll() {
    for channel in state.withLock({ Array($0.open.values) }) { channel.close(promise: nil) }
  }

  private func fault() -> Fault {
    state.withLock { state in
      guard Int.random(in: 0..<100, using: &state.random) < state.faults else { return .none }
      state.disturbed += 1
      switch Int.random(in: 0..<8, using: &state.random) {
      case 0: return .refusal
      case 1: return .delay
      case 2: return .status([429, 500, 503].randomElement(using: &state.random) ?? 500)
      default: return .cut(Int.random(in: 1..<20_000, using: &state.random))
      }
    }
  }

  private func begin(_ client: any Channel, to target: Int) -> EventLoopFuture<Void> {
    let key = ObjectIdentifier(client)
    state.withLock { $0.open[key] = client }
    client.closeFuture.whenComplete { _ in self.state.withLock { _ = $0.open.removeValue(forKey: key) } }
    let fault = fault()
    switch fault {
    case .refusal: return client.close()
    case .status(let status):
      let reply =
        "HTTP/1.1 \(status) Fault\r\nContent-Length: 0\r\nRetry-After: 0\r\nConnection: close\r\n\r\n"
      return client.pipeline.addHandler(Replying(reply)).flatMap { client.setOption(.autoRead, value: true) }
    default: break
    }
    let budget = Budget(bytes: { if case .cut(let bytes) = fault { bytes } else { Int.max } }())
    let pause: TimeAmount = { if case .delay = fault { .milliseconds(50) } else { .zero } }()
    return client.eventLoop.scheduleTask(in: pause) {}.futureResult.flatMap {
      ClientBootstrap(group: client.eventLoop)
        .channelOption(.autoRead, value: false)
        .connect(host: "127.0.0.1", port: target)
    }.flatMap { server in
      let glue = client.pipeline.addHandler(Passing(to: server, budget))
        .flatMap { server.pipeline.addHandler(Passing(to: client, budget)) }
      return glue.flatMap { client.setOption(.autoRead, value: true) }
        .flatMap { server.setOption(.autoRead, value: true) }
    }
  }
}

private final class ProxyBox: Sendable {
  private let value = Mutex<FaultyProxy?>(nil)
  var proxy: FaultyProxy? {
    get { value.withLock { $0 } }
    set { value.withLock { $0 = newValue } }
  }
}

/// The number of bytes until a connection is cut.
private final class Budget: Sendable {
  private let bytes: Mutex<Int>

  init(bytes: Int) {
    self.bytes = Mutex(bytes)
  }

  func take(_ count: Int) -> Int {
    bytes.withLock { bytes in
      let taken = min(count, bytes)
      if bytes != .max { bytes -= taken }
      return taken
    }
  }
}

/// Passes what one side sends to the other.
private final class Passing: ChannelInboundHandler, Sendable {
  typealias InboundIn = ByteBuffer

  private let other: any Channel
  private let budget: Budget

  init(to other: any Channel, _ budget: Budget) {
    self.other = other
    self.budget = budget
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var buffer = unwrapInboundIn(data)
    let length = buffer.readableBytes
    let taken = budget.take(length)
    guard let part = buffer.readSlice(length: taken) else { return }
    other.writeAndFlush(part, promise: nil)
    guard taken < length else { return }
    context.close(promise: nil)
    other.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    other.close(promise: nil)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }
}

/// Answers whatever is sent, and closes the connection.
private final class Replying: ChannelInboundHandler, Sendable {
  typealias InboundIn = ByteBuffer

  private let reply: String

  init(_ reply: String) {
    self.reply = reply
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let channel = context.channel
    channel.writeAndFlush(ByteBuffer(string: reply)).whenComplete { _ in channel.close(promise: nil) }
  }
}
