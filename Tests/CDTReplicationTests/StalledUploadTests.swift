import CDTDatastore
import CDTTestSupport
import Foundation
import Glibc
import NIOCore
import Testing

@testable import CDTReplication

/// Servers that take what they are sent slowly, or not at all.
@Suite struct StalledUploadTests {
  /// Runs `body` with the port of a server that accepts connections and reads nothing.
  private static func withSilentServer(_ body: (UInt16) async throws -> Void) async throws {
    let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { Glibc.close(server) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(server, $0, length) == 0 && listen(server, 8) == 0 && getsockname(server, $0, &length) == 0
      }
    }
    try #require(isBound)
    try await body(UInt16(bigEndian: address.sin_port))
  }

  @Test(.timeLimit(.usual))
  func `a server that stops reading a body is given up after the time for which it may be silent`()
    async throws
  {
    try await Self.withSilentServer { port in
      var database = try RemoteDatabase("http://127.0.0.1:\(port)/db")
      database.timeout = .seconds(3)
      let connection = RemoteConnection(database, concurrentRequests: 1)
      // More than the system's buffers hold.
      let body = ByteBuffer(repeating: 0x20, count: 64 << 20)
      let error = await #expect(throws: ReplicationError.self) {
        _ = try await connection.send(.init(.POST, "/_bulk_docs", json: body))
      }
      await connection.close()
      #expect(error?.code == .unreachable)
      // On a busy machine, the HTTP client may notice the silence first, and closes the connection.
      let reasons = [
        "the server has stopped reading", "the connection was closed while the request was sent",
        "the server has stopped answering",
      ]
      #expect(reasons.contains { error?.message.hasSuffix($0) == true }, "\(error?.message ?? "")")
    }
  }

  @Test func `a body is sent in small parts, and whole`() async throws {
    let bytes = ByteBuffer(bytes: (0..<400_000).map { UInt8(truncatingIfNeeded: $0) })
    let body = UploadBody(.json(bytes))
    #expect(body.length == 400_000)
    // A redirect sends it again.
    for _ in 0..<2 {
      var whole = ByteBuffer()
      for try await part in body {
        #expect(part.readableBytes <= UploadBody.part)
        whole.writeImmutableBuffer(part)
      }
      #expect(whole == bytes)
    }
  }
}
