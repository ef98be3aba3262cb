import FoundationEssentials
import Glibc

/// A connection to a server for one request, written with as little as possible between the socket and the figures.
final class HTTPConnection {
  /// For `poll` and its like.
  let socket: Int32

  private let address: ServerAddress

  init(_ address: ServerAddress) throws {
    self.address = address
    socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { throw BenchError("no socket: \(String(cString: strerror(errno)))") }
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_port = address.port.bigEndian
    guard inet_pton(AF_INET, address.host, &name.sin_addr) == 1 else {
      throw BenchError("\(address.host) is no IPv4 address")
    }
    let status = withUnsafePointer(to: &name) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0 else {
      throw BenchError("\(address.url) can't be reached: \(String(cString: strerror(errno)))")
    }
    var one: Int32 = 1
    setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
  }

  deinit { close(socket) }

  // MARK: Requests

  /// Sends the head of a request, after whose reply the server closes the connection.
  func send(_ method: String, _ path: String, type: String = "application/json", length: Int? = nil) throws {
    var head = "\(method) \(path) HTTP/1.1\r\nHost: \(address.host):\(address.port)\r\nConnection: close\r\n"
    if let user = address.user {
      head += "Authorization: Basic \(Data(user.utf8).base64EncodedString())\r\n"
    }
    if let length { head += "Content-Type: \(type)\r\nContent-Length: \(length)\r\n" }
    try send(Array((head + "\r\n").utf8))
  }

  func send(_ bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { bytes in
        let rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
        return Glibc.send(socket, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { throw BenchError("\(address.url) has closed the connection") }
      sent += count
    }
  }

  /// Sends a request with a body, and receives its reply, which must be a success.
  @discardableResult
  static func exchange(
    _ address: ServerAddress, _ method: String, _ path: String, _ body: [UInt8]? = nil
  ) throws -> [UInt8] {
    let connection = try HTTPConnection(address)
    try connection.send(method, path, length: body?.count)
    if let body { try connection.send(body) }
    var content: [UInt8] = []
    let head = try connection.receive { content += $0 }
    guard head.isSuccess else {
      throw BenchError(
        "\(method) \(path): \(head.status) \(String(decoding: content.prefix(200), as: UTF8.self))")
    }
    return content
  }

  // MARK: Replies

  struct Head {
    let status: Int
    var isSuccess: Bool { (200..<300).contains(status) }
  }

  /// Receives a reply to its end, and gives its content in pieces to `body`.
  func receive(_ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Head {
    var reader = HTTPReader()
    var buffer = [UInt8](repeating: 0, count: 64 * 1_024)
    while true {
      let count = recv(socket, &buffer, buffer.count, 0)
      guard count >= 0 else { throw BenchError("\(address.url): \(String(cString: strerror(errno)))") }
      guard count > 0 else { break }
      try buffer.withUnsafeBytes { try reader.take(UnsafeRawBufferPointer(rebasing: $0[..<count]), body) }
    }
    guard let status = reader.status, reader.isComplete else {
      throw BenchError("\(address.url) has cut a reply")
    }
    return Head(status: status)
  }
}
