import CDTTestSupport
import Foundation
import Glibc
import Testing

/// What a server tells systemd.
@Suite(.timeLimit(.usual)) struct ServiceManagerTests {
  /// The socket of a service manager.
  private final class NotifySocket: Sendable {
    private let socket: Int32

    /// - Parameter name: A path, or an abstract address that begins with `@`.
    init(_ name: String) throws {
      socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
      var timeout = timeval(tv_sec: 60, tv_usec: 0)
      setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
      let isAbstract = name.hasPrefix("@")
      let bytes = isAbstract ? [0] + Array(name.utf8.dropFirst()) : Array(name.utf8) + [0]
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      try #require(bytes.count <= MemoryLayout.size(ofValue: address.sun_path))
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
      let length = (MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 0) + bytes.count
      let status = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, socklen_t(length)) }
      }
      try #require(status == 0, "\(errno)")
    }

    deinit { close(socket) }

    /// The next message.
    func receive() -> String {
      var bytes = [UInt8](repeating: 0, count: 1_000)
      let count = recv(socket, &bytes, bytes.count, 0)
      return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
  }

  @Test(arguments: [false, true])
  func `a service manager hears when the server is ready, reads its files again, and ends`(
    isAbstract: Bool
  ) throws {
    let directory = try ServerDirectory()
    let name = isAbstract ? "@cdt-\(UUID().uuidString)" : directory.path("notify")
    let manager = try NotifySocket(name)
    let server = try ServerProgram(directory.path("people"), environment: ["NOTIFY_SOCKET": name])
    #expect(manager.receive() == "READY=1")
    server.hangUp()
    let reloading = manager.receive().split(separator: "\n")
    #expect(reloading.first == "RELOADING=1")
    #expect(reloading.last?.wholeMatch(of: /MONOTONIC_USEC=[0-9]+/) != nil, "\(reloading)")
    #expect(manager.receive() == "READY=1")
    server.terminate()
    #expect(manager.receive() == "STOPPING=1")
    #expect(server.wait() == 0)
  }

  @Test(arguments: ["", "/nowhere/notify", "@nobody", "@\(String(repeating: "x", count: 200))"])
  func `a server runs without the service manager that it was told of`(name: String) throws {
    let directory = try ServerDirectory()
    let server = try ServerProgram(directory.path("people"), environment: ["NOTIFY_SOCKET": name])
    server.terminate()
    #expect(server.wait() == 0)
  }

  @Test func `a hang-up ends a server that has nothing to read again`() throws {
    let directory = try ServerDirectory()
    let server = try ServerProgram(directory.path("people"))
    server.hangUp()
    #expect(server.wait() == -SIGHUP)
  }
}
