import CDTServer
import CDTServerTestSupport
import Foundation
import Glibc
import Testing

/// Many connections at once.
@Suite struct ConnectionLimitTests {
  private static let request = "GET /_up HTTP/1.1\r\nHost: localhost\r\n\r\n"

  @Test func `a connection above the limit is told so, and others go on`() async throws {
    try await withServer({ $0.limits.connections = 3 }) { server in
      let port = server.port
      try await RawConnection.waiting { try Self.exceedLimit(port) }
    }
  }

  private static func exceedLimit(_ port: Int) throws {
    var open: [RawConnection] = []
    for _ in 0..<3 {
      let connection = try RawConnection(port: port)
      connection.send(request)
      #expect(connection.read(until: "}").hasPrefix("HTTP/1.1 200 "))
      open.append(connection)
    }
    let refused = try RawConnection.exchangeNow(port, request)
    #expect(refused.hasPrefix("HTTP/1.1 503 "))
    #expect(
      refused.hasSuffix(
        #"{"error":"service_unavailable","reason":"The server has too many connections; try again later."}"#))
    open[1].send(request)
    #expect(open[1].read(until: "}").hasPrefix("HTTP/1.1 200 "))
    open.removeLast()
    // The server sees the end of a connection a moment later.
    var reply = refused
    while reply.hasPrefix("HTTP/1.1 503 ") {
      reply = try RawConnection.exchangeNow(
        port, "GET /_up HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    }
    #expect(reply.hasPrefix("HTTP/1.1 200 "))
  }

  /// Both ends have a file for each connection, the server and this process.
  private static let files: Int = {
    var limit = rlimit()
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    guard getrlimit(resource, &limit) == 0 else { return 0 }
    limit.rlim_cur = limit.rlim_max
    setrlimit(resource, &limit)
    return Int(clamping: limit.rlim_max)
  }()

  @Test(.enabled(if: files >= 4_096, "the system allows too few open files"))
  func `connections that ask nothing leave a server that answers`() throws {
    let directory = try ServerDirectory()
    let server = try ServerProgram(directory.path)
    // `make torture` opens more than a server takes. Here tests beside this one start processes, and Foundation's
    // `Process.run` reads beyond its buffer if some 1,400 files are open (Swift 6.3, findMaximumOpenFromProcSelfFD).
    let wanted = ProcessInfo.processInfo.environment["SERVER_CONNECTIONS"].flatMap { Int($0) } ?? 500
    let count = min(wanted, Self.files / 2)
    let first = try RawConnection(port: server.port)
    let idle = try (0..<count).map { _ in try RawConnection(port: server.port) }
    first.send(Self.request)
    #expect(first.read(until: "}").hasPrefix("HTTP/1.1 200 "))
    idle[count / 2].send(Self.request)
    #expect(idle[count / 2].read(until: "}").hasPrefix("HTTP/1.1 200 "))
    server.terminate()
    #expect(server.wait() == 0)
  }
}
