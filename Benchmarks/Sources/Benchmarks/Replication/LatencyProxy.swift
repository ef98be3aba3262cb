import Dispatch
import Glibc
import Synchronization

/// Passes connections on to a server, each byte as late as if the server were far away.
final class LatencyProxy: Sendable {
  let address: ServerAddress

  private let target: ServerAddress
  private let delay: Int64
  private let listener: Int32

  /// - Parameter roundTrip: The latency there and back, in milliseconds.
  init(to target: ServerAddress, roundTrip: Int) throws {
    self.target = target
    delay = Int64(roundTrip) * 500_000
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listener = listener
    let isListening = withUnsafeMutablePointer(to: &name) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && listen(listener, 64) == 0
          && getsockname(listener, $0, &length) == 0
      }
    }
    guard isListening else { throw BenchError("the proxy can't listen: \(String(cString: strerror(errno)))") }
    address = ServerAddress(host: "127.0.0.1", port: UInt16(bigEndian: name.sin_port), user: target.user)
    DispatchQueue(label: "proxy").async { [self] in accept() }
  }

  /// Refuses further connections.
  func close() {
    shutdown(listener, Int32(SHUT_RDWR))
  }

  private func accept() {
    while case let client = Glibc.accept(listener, nil, nil), client >= 0 {
      guard let server = try? HTTPConnection(target) else {
        Glibc.close(client)
        continue
      }
      var one: Int32 = 1
      setsockopt(client, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
      let both = DispatchGroup()
      Passage(from: client, to: server.socket, delay: delay).start(in: both)
      Passage(from: server.socket, to: client, delay: delay).start(in: both)
      both.notify(queue: .global()) {
        Glibc.close(client)
        withExtendedLifetime(server) {}
      }
    }
    Glibc.close(listener)
  }
}

/// One direction of a connection: a thread reads, another writes what it has read, later.
private final class Passage: Sendable {
  private struct Piece: Sendable {
    let bytes: [UInt8]
    let due: Int64
  }

  private let source: Int32
  private let target: Int32
  private let delay: Int64
  private let pieces = Mutex<[Piece]>([])
  private let arrived = DispatchSemaphore(value: 0)
  /// Bounds what is under way, at more than what loopback carries within the delay.
  private let room = DispatchSemaphore(value: 1_024)

  init(from source: Int32, to target: Int32, delay: Int64) {
    (self.source, self.target, self.delay) = (source, target, delay)
  }

  func start(in group: DispatchGroup) {
    DispatchQueue(label: "read").async(group: group) { [self] in read() }
    DispatchQueue(label: "write").async(group: group) { [self] in write() }
  }

  private func read() {
    var buffer = [UInt8](repeating: 0, count: 64 * 1_024)
    while true {
      let count = recv(source, &buffer, buffer.count, 0)
      room.wait()
      let piece = Piece(bytes: Array(buffer.prefix(max(0, count))), due: Clock.monotonic.now + delay)
      pieces.withLock { $0.append(piece) }
      arrived.signal()
      if count <= 0 { return }
    }
  }

  private func write() {
    while true {
      arrived.wait()
      let piece = pieces.withLock { $0.removeFirst() }
      room.signal()
      Clock.monotonic.sleep(until: piece.due)
      // The end of what comes from one side, and the end of the other one, end both.
      if piece.bytes.isEmpty || !send(piece.bytes) { break }
    }
    shutdown(target, Int32(SHUT_WR))
    shutdown(source, Int32(SHUT_RD))
    // What still arrives has room.
    for _ in 0..<1_024 { room.signal() }
  }

  private func send(_ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        Glibc.send(target, $0.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }
}
