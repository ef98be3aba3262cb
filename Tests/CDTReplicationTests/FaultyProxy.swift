import CDTTestSupport
import NIOCore
import NIOPosix
import Synchronization

/// Passes requests on to a server, and disturbs some. It notes which revisions the requests carry or ask for.
///
/// Each request has a connection of its own.
final class FaultyProxy: Sendable {
  enum Fault: Sendable, Hashable {
    case none
    /// The connection is closed without an answer.
    case refusal
    /// The proxy answers in the server's place.
    case status(Int)
    /// The connection is cut after so many bytes of the request and the reply together.
    case cut(Int)
    case delay
    /// The server gets the request twice, and the client the second reply.
    case duplicate
    /// The request waits until a later one is answered, for a tenth of a second at most.
    case late
  }

  /// Which requests are disturbed.
  enum Plan: Sendable, Hashable {
    /// So many of 100, at random.
    case some(Int)
    /// The one with a number, so that the client repeats it.
    case one(Int)
    /// All of them, in the same way.
    case all(Fault)
  }

  let port: Int
  private let channel: any Channel
  private let target: Int
  private let state: Mutex<State>

  private struct State {
    var random: SeededGenerator
    var plan: Plan
    var requests = 0
    var disturbed = 0
    var transfers = TransferLog()
    var open: [ObjectIdentifier: any Channel] = [:]
    /// What waits for the answer of a later request.
    var held: [Int: EventLoopPromise<Void>] = [:]
  }

  init(to target: Int, seed: UInt64, _ plan: Plan) async throws {
    self.target = target
    state = Mutex(State(random: SeededGenerator(seed: seed), plan: plan))
    let box = ProxyBox()
    channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        guard let proxy = box.proxy else { return channel.close() }
        proxy.keep(channel)
        return channel.pipeline.addHandler(ProxiedRequest.Reader { proxy.take($0, from: channel) })
      }
      .bind(host: "127.0.0.1", port: 0).get()
    port = channel.localAddress?.port ?? 0
    box.proxy = self
  }

  func close() async {
    try? await channel.close()
    cutAll()
  }

  /// How many requests were disturbed.
  var disturbed: Int { state.withLock { $0.disturbed } }

  /// The revisions that were sent, and those that were sent again.
  var transfers: TransferLog {
    get { state.withLock { $0.transfers } }
    set { state.withLock { $0.transfers = newValue } }
  }

  /// Cuts every connection.
  func cutAll() {
    for channel in state.withLock({ Array($0.open.values) }) { channel.close(promise: nil) }
  }

  private func keep(_ channel: any Channel) {
    let key = ObjectIdentifier(channel)
    state.withLock { $0.open[key] = channel }
    channel.closeFuture.whenComplete { _ in self.state.withLock { _ = $0.open.removeValue(forKey: key) } }
  }

  // MARK: A request

  private func take(_ request: ProxiedRequest, from client: any Channel) {
    let (number, fault) = state.withLock { state in
      state.requests += 1
      let fault = Self.fault(&state)
      if fault != .none { state.disturbed += 1 }
      state.transfers.begin(state.requests, request)
      return (state.requests, fault)
    }
    client.closeFuture.whenComplete { _ in
      let earlier = self.state.withLock { state in
        state.held.keys.filter { $0 < number }.compactMap { state.held.removeValue(forKey: $0) }
      }
      // What waits for them uses the state.
      for turn in earlier { turn.succeed() }
    }
    let loop = client.eventLoop
    switch fault {
    case .none: pass(request, number, to: client)
    case .refusal:
      disturb(number)
      client.close(promise: nil)
    case .status(let status):
      disturb(number)
      let reply =
        "HTTP/1.1 \(status) Fault\r\nContent-Length: 0\r\nRetry-After: 0\r\nConnection: close\r\n\r\n"
      client.writeAndFlush(ByteBuffer(string: reply)).whenComplete { _ in client.close(promise: nil) }
    case .cut(let bytes): pass(request, number, to: client, upTo: bytes)
    case .delay: loop.scheduleTask(in: .milliseconds(50)) { self.pass(request, number, to: client) }
    case .duplicate: pass(request, number, to: nil, for: client) { self.pass(request, number, to: client) }
    case .late:
      let turn = loop.makePromise(of: Void.self)
      state.withLock { $0.held[number] = turn }
      loop.scheduleTask(in: .milliseconds(100)) {
        self.state.withLock { $0.held.removeValue(forKey: number) }?.succeed()
      }
      turn.futureResult.whenComplete { _ in self.pass(request, number, to: client) }
    }
  }

  private static func fault(_ state: inout State) -> Fault {
    func number(_ below: Int) -> Int { Int.random(in: 0..<below, using: &state.random) }
    let kinds: Int
    switch state.plan {
    case .all(let fault): return fault
    case .some(let percentage):
      guard number(100) < percentage else { return .none }
      kinds = 10
    case .one(let request):
      guard request == state.requests else { return .none }
      kinds = 7
    }
    switch number(kinds) {
    case 0: return .refusal
    case 1: return .status([429, 500, 503][number(3)])
    case 2...6: return .cut(1 + number(number(2) == 0 ? 500 : 20_000))
    case 7: return .delay
    case 8: return .duplicate
    default: return .late
    }
  }

  private func disturb(_ number: Int) { state.withLock { $0.transfers.disturb(number) } }

  /// Sends a request to the server.
  ///
  /// - Parameters:
  ///   - client: Who gets the reply; `nil` for nobody.
  ///   - owner: The connection without which the request is not needed.
  private func pass(
    _ request: ProxiedRequest, _ number: Int, to client: (any Channel)?, for owner: (any Channel)? = nil,
    upTo limit: Int = .max, then next: @escaping @Sendable () -> Void = {}
  ) {
    guard let owner = owner ?? client, owner.isActive else { return disturb(number) }
    let bytes = request.closing
    let reply = ProxiedReply(
      to: client, upTo: max(0, limit - bytes.readableBytes),
      onRefusal: { self.disturb(number) })
    ClientBootstrap(group: owner.eventLoop)
      .channelInitializer { $0.pipeline.addHandler(reply) }
      .connect(host: "127.0.0.1", port: target)
      .whenComplete { result in
        guard case .success(let server) = result else { return owner.close(promise: nil) }
        owner.closeFuture.whenComplete { _ in server.close(promise: nil) }
        let part = bytes.getSlice(at: bytes.readerIndex, length: min(limit, bytes.readableBytes)) ?? bytes
        server.writeAndFlush(part).whenComplete { _ in
          if limit < bytes.readableBytes { server.close(promise: nil) }
        }
        server.closeFuture.whenComplete { _ in
          if client != nil {
            if limit < bytes.readableBytes || reply.wasCut { self.disturb(number) }
            reply.whenPassed { owner.close(promise: nil) }
          }
          next()
        }
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
