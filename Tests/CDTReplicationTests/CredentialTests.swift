import CDTDatastore
import CDTReplication
import CouchDB
import Foundation
import Testing

/// What servers get to see of credentials.
@Suite struct CredentialTests {
  /// Pulls from a scripted server, which is not a database, and returns the error.
  private static func pull(
    from url: String, _ credentials: Credentials?, attempts: Int = 1
  ) async throws -> ReplicationError? {
    try await withStores { store, _ in
      var replication = Replication(.pull, with: try RemoteDatabase("\(url)/db", credentials: credentials))
      replication.retries.maximumAttempts = attempts
      replication.retries.firstPause = .milliseconds(1)
      do {
        try await Replicator(replication, of: store).replicate()
        return nil
      } catch {
        return error as? ReplicationError
      }
    }
  }

  private static func authorization(_ request: String) -> String? {
    ScriptedServer.field("authorization", of: request)
  }

  @Test func `an API key is exchanged for a token, once`() async throws {
    let server = try await ScriptedServer { request in
      request.hasPrefix("POST /identity/token")
        ? .init(body: #"{"access_token":"token-1","expires_in":3600}"#) : .init(status: 404)
    }
    let error = try await Self.pull(
      from: server.url, .iam(apiKey: "key+1", tokenURL: "\(server.url)/identity/token"))
    #expect(error?.code == .notFound)
    let exchanges = server.requests.filter { $0.hasPrefix("POST /identity/token") }
    #expect(exchanges.count == 1)
    #expect(exchanges.first?.hasSuffix("apikey=key%2B1") == true)
    let others = server.requests.filter { !$0.hasPrefix("POST /identity/token") }
    #expect(others.count == 1)
    #expect(others.allSatisfy { Self.authorization($0) == "Bearer token-1" })
    await server.close()
  }

  @Test func `a token that is no longer accepted is renewed`() async throws {
    let server = try await ScriptedServer { request in
      if request.hasPrefix("POST /token") {
        return .init(body: #"{"access_token":"token-\#(UUID().uuidString)","expires_in":3600}"#)
      }
      return .init(status: 401)
    }
    let error = try await Self.pull(from: server.url, .iam(apiKey: "key", tokenURL: "\(server.url)/token"))
    #expect(error?.code == .unauthorized)
    let tokens = Set(server.requests.compactMap(Self.authorization))
    #expect(tokens.count == 2)
    await server.close()
  }

  @Test func `an API key that is refused ends the replication without telling it`() async throws {
    let server = try await ScriptedServer { _ in .init(status: 400, body: #"{"errorMessage":"key secret"}"#) }
    let error = try await Self.pull(from: server.url, .iam(apiKey: "secret", tokenURL: "\(server.url)/token"))
    #expect(error?.code == .unauthorized)
    #expect(error?.message.contains("secret") == false)
    await server.close()
  }

  @Test func `the URL of a token server is not part of errors`() async throws {
    let server = try await ScriptedServer { _ in .init(status: 400) }
    let url = server.url.replacingOccurrences(of: "//", with: "//bx:hidden@")
    let error = try await Self.pull(from: server.url, .iam(apiKey: "key", tokenURL: "\(url)/token?k=hidden"))
    #expect(error?.code == .unauthorized)
    #expect(error?.message.contains("hidden") == false)
    let unreachable = try await Self.pull(
      from: server.url, .iam(apiKey: "key", tokenURL: "http://bx:hidden@127.0.0.1:1/token?k=hidden"))
    #expect(unreachable?.code == .unreachable)
    #expect(unreachable?.message.contains("hidden") == false)
    await server.close()
  }

  @Test func `a bearer token is sent with each request`() async throws {
    let server = try await ScriptedServer { _ in .init(status: 404) }
    _ = try await Self.pull(from: server.url, .bearer("token"))
    #expect(server.requests.map(Self.authorization) == ["Bearer token"])
    await server.close()
  }

  @Test(arguments: [false, true]) func `a server that asks for a pause gets it`(isTime: Bool) async throws {
    let server = try await ScriptedServer { _ in
      let text = isTime ? HTTPDate.text(Int64(Date.now.timeIntervalSince1970) + 2) : "1"
      return .init(status: 429, headers: ["Retry-After": text])
    }
    let start = ContinuousClock.now
    let error = try await Self.pull(from: server.url, nil, attempts: 2)
    #expect(error?.status == 429)
    #expect(server.requests.count == 2)
    #expect(ContinuousClock.now - start >= .seconds(1))
    await server.close()
  }
}
