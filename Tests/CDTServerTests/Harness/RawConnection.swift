import Foundation
import Glibc

/// A connection on which a test sends any bytes.
final class RawConnection: Sendable {
  private let socket: Int32

  struct Failure: Error {
    let call: String
    let code: Int32
  }

  init(port: Int) throws {
    socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard socket >= 0 else { throw Failure(call: "socket", code: errno) }
    var timeout = timeval(tv_sec: 60, tv_usec: 0)
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    // Otherwise the system may take 32 MB that nobody reads.
    var buffer: Int32 = 1 << 20
    setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &buffer, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(truncatingIfNeeded: port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0 else { throw Failure(call: "connect", code: errno) }
  }

  deinit { close(socket) }

  /// Sends bytes; the server may have closed the connection.
  func send(_ bytes: [UInt8]) {
    _ = bytes.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
  }

  func send(_ text: String) { send(Array(text.utf8)) }

  /// Ends this side of the connection; the server can still send.
  func endSending() { shutdown(socket, Int32(SHUT_WR)) }

  /// Lets the connection end like that of a process that is killed with data unread.
  func resetWhenClosed() {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(socket, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
  }

  /// Whether the server sends something, or closes the connection, within some milliseconds.
  func hasReply(within milliseconds: Int32) -> Bool {
    var wanted = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    return poll(&wanted, 1, milliseconds) > 0
  }

  /// What the server sends until it closes the connection, or until the text has an end.
  func read(until end: String? = nil) -> String {
    String(
      decoding: readBytes { bytes in end.map { String(decoding: bytes, as: UTF8.self).contains($0) } ?? false
      }, as: UTF8.self)
  }

  /// What the server sends until it closes the connection, or until `isWhole` accepts it.
  ///
  /// - Parameter pause: How long to wait before each 64 KiB.
  func readBytes(pausing pause: TimeInterval = 0, until isWhole: ([UInt8]) -> Bool = { _ in false })
    -> [UInt8]
  {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      if pause > 0 { Thread.sleep(forTimeInterval: pause) }
      let count = recv(socket, &buffer, buffer.count, 0)
      guard count > 0 else { break }
      bytes += buffer[..<count]
      if isWhole(bytes) { break }
    }
    return bytes
  }

  /// Sends a request with `Connection: close`, and reads the whole reply.
  static func exchange(_ port: Int, _ text: String) async throws -> String {
    try await waiting { try exchangeNow(port, text) }
  }

  /// Does it on this thread, which must be one that may wait.
  static func exchangeNow(_ port: Int, _ text: String) throws -> String {
    let connection = try RawConnection(port: port)
    connection.send(text)
    return connection.read()
  }

  /// Runs `body` on a thread that may wait: the server in this process needs those of Swift's concurrency.
  static func waiting<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      Thread { continuation.resume(with: Result { try body() }) }.start()
    }
  }
}
