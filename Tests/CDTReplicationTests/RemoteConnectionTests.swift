import CDTGzip
import CDTTestSupport
import Foundation
import Testing

@testable import CDTRemote
@testable import CDTReplication

@Suite struct RemoteConnectionTests {
  /// The client's own check would end the process.
  @Test(arguments: [false, true]) func `a connection may be dropped`(isClosed: Bool) async throws {
    // Nobody listens at this port.
    let url = try #require(URL(string: "http://127.0.0.1:1/db"))
    let connection = RemoteConnection(try RemoteDatabase(url), concurrentRequests: 1)
    let error = await #expect(throws: ReplicationError.self) { _ = try await connection.send(.init("")) }
    #expect(error?.code == .unreachable)
    if isClosed { await connection.close() }
  }

  // MARK: Compressed replies

  private static func compressed(_ text: String) throws -> [UInt8] {
    let writer = try GzipWriter()
    var (chunk, bytes): (ArraySlice<UInt8>, [UInt8]) = (Array(text.utf8)[...], [])
    while let piece = writer.next(&chunk) { bytes += piece }
    return bytes + writer.finish()
  }

  /// The reply to a request with a user's session, where every reply has a content coding.
  private static func json(coding: String, _ bytes: [UInt8]) async throws -> (
    value: String?, requests: [String]
  ) {
    let login = try compressed("{}")
    let server = try await ScriptedServer { request in
      var headers = ["Content-Encoding": coding]
      let isLogin = request.hasPrefix("POST /_session ")
      if isLogin { headers["Set-Cookie"] = "AuthSession=1; Max-Age=600" }
      return .init(headers: headers, bytes: isLogin ? login : bytes)
    }
    let connection = RemoteConnection(
      try RemoteDatabase("\(server.url)/db", credentials: .session("ana", "password")), concurrentRequests: 1)
    let reply: String?
    do {
      reply = try await connection.send(.init("")).json()["a"]?.stringValue
    } catch {
      await connection.close()
      await server.close()
      throw error
    }
    await connection.close()
    await server.close()
    return (reply, server.requests)
  }

  @Test(arguments: ["gzip", "X-GZIP", "identity, gzip"])
  func `a reply that a proxy has compressed is read, and none is asked for`(coding: String) async throws {
    let long = String(repeating: "text ", count: 100_000)
    let (value, requests) = try await Self.json(coding: coding, Self.compressed(#"{"a":"\#(long)"}"#))
    #expect(value == long)
    #expect(requests.map { ScriptedServer.field("accept-encoding", of: $0) } == ["identity", "identity"])
  }

  @Test func `a compressed reply that is damaged or cut off may arrive whole the next time`() async throws {
    let whole = try Self.compressed(#"{"a":"b"}"#)
    var damaged = whole
    damaged[12] ^= 0x40
    for (bytes, reason) in [(Array(whole.dropLast(9)), "ends too early"), (damaged, "is damaged")] {
      let error = await #expect(throws: ReplicationError.self) {
        try await Self.json(coding: "gzip", bytes)
      }
      #expect(error?.message.hasSuffix("the compressed reply \(reason)") == true)
      #expect(error?.isTransient == true)
    }
  }

  @Test func `a reply in another coding is an error that names it`() async throws {
    let connection = try await ScriptedServer { _ in .init(headers: ["Content-Encoding": "br"]) }
    let remote = RemoteDatastore(try RemoteDatabase("\(connection.url)/db"))
    let error = await #expect(throws: ReplicationError.self) { try await remote.count([:]) }
    #expect(error?.code == .invalidReply)
    #expect(error?.message.contains("the content coding br, which was not asked for") == true)
    await connection.close()
  }

  @Test(arguments: [501, 505]) func `a request that a server does not implement is not tried again`(
    status: Int
  ) async throws {
    let server = try await ScriptedServer { _ in .init(status: status) }
    let remote = RemoteDatastore(try RemoteDatabase("\(server.url)/db"))
    let error = await #expect(throws: ReplicationError.self) { try await remote.count([:]) }
    #expect(error?.code == .refused)
    #expect(server.count == 1)
    await server.close()
  }
}
