import CDTDatastore
import CDTReplication
import Foundation
import Testing

/// What follows a redirect, and what does not.
@Suite struct RedirectTests {
  private static let secrets = ["password", "cGFzc3dvcmQ", "token", "api-key", "cookie-1", "app-secret"]

  /// Pulls through a server, and returns the error.
  private static func pull(from url: String, _ credentials: Credentials?) async throws -> ReplicationError? {
    try await withStores { store, _ in
      var database = try RemoteDatabase("\(url)/db", credentials: credentials)
      database.interceptors = [HTTPInterceptor { $0.headers.append((name: "X-App", value: "app-secret")) }]
      var replication = Replication(.pull, with: database)
      replication.retries.maximumAttempts = 1
      do {
        try await Replicator(replication, of: store).replicate()
        return nil
      } catch {
        return error as? ReplicationError
      }
    }
  }

  private static func expectNothingSecret(in requests: [String]) {
    for request in requests {
      for secret in secrets { #expect(!request.contains(secret), "\(request)") }
    }
  }

  @Test(arguments: [301, 302, 303, 307, 308])
  func `credentials and the fields of interceptors do not follow to another server`(_ status: Int)
    async throws
  {
    for credentials in [
      Credentials.basic("ana", "password"), .bearer("token"), .session("ana", "password"),
    ] {
      let other = try await ScriptedServer { _ in .init(status: 404) }
      let target = "\(other.url)/db"
      let server = try await ScriptedServer { request in
        request.hasPrefix("POST /_session")
          ? .init(headers: ["Set-Cookie": "AuthSession=cookie-1; Max-Age=600"])
          : .init(status: status, headers: ["Location": target])
      }
      let error = try await Self.pull(from: server.url, credentials)
      #expect(error?.code == .notFound)
      #expect(other.requests.count == 1)
      #expect(other.requests.allSatisfy { ScriptedServer.field("accept", of: $0) == "application/json" })
      Self.expectNothingSecret(in: other.requests)
      await server.close()
      await other.close()
    }
  }

  @Test func `a redirect does not lead to a host that is not permitted`() async throws {
    let other = try await ScriptedServer { _ in .init(status: 404) }
    let target = "\(other.url)/db"
    let server = try await ScriptedServer { _ in .init(status: 307, headers: ["Location": target]) }
    try await withStores { store, _ in
      var database = try RemoteDatabase("\(server.url)/db")
      let url = server.url
      database.permitsHost = { host, port in url == "http://\(host):\(port)" }
      #expect(database.isPermitted)
      let replicator = Replicator(Replication(.pull, with: database), of: store)
      let error = await #expect(throws: ReplicationError.self) { try await replicator.replicate() }
      #expect(error?.code == .forbidden)
    }
    #expect(server.count == 1)
    #expect(other.requests.isEmpty)
    await server.close()
    await other.close()
  }

  @Test func `credentials do not come back with a redirect back`() async throws {
    let server = try await ScriptedServer { request in
      // The other server is this one by its other name.
      let port = ScriptedServer.field("host", of: request)?.split(separator: ":").last ?? ""
      return request.hasPrefix("GET /db ")
        ? .init(status: 302, headers: ["Location": "http://localhost:\(port)/there"])
        : request.hasPrefix("GET /there ")
          ? .init(status: 302, headers: ["Location": "http://127.0.0.1:\(port)/back"]) : .init(status: 404)
    }
    _ = try await Self.pull(from: server.url, .basic("ana", "password"))
    #expect(server.requests.count == 3)
    Self.expectNothingSecret(in: Array(server.requests.dropFirst()))
    await server.close()
  }

  @Test(arguments: [301, 302, 303, 307, 308])
  func `a login is not sent to another server`(_ status: Int) async throws {
    let other = try await ScriptedServer { _ in
      .init(headers: ["Set-Cookie": "AuthSession=x"], body: #"{"access_token":"x"}"#)
    }
    let target = other.url
    let server = try await ScriptedServer { _ in .init(status: status, headers: ["Location": "\(target)/in"])
    }
    for credentials in [
      Credentials.session("ana", "password"), .iam(apiKey: "api-key", tokenURL: "\(server.url)/token"),
    ] {
      let error = try await Self.pull(from: server.url, credentials)
      #expect(error?.status == status)
      #expect(error?.message.contains("redirects to another server; use its URL") == true)
    }
    #expect(other.requests == [])
    await server.close()
    await other.close()
  }

  @Test func `a redirect of a login at the same server is followed`() async throws {
    let server = try await ScriptedServer { request in
      if request.hasPrefix("POST /_session ") { return .init(status: 307, headers: ["Location": "/login"]) }
      if request.hasPrefix("POST /login ") { return .init(headers: ["Set-Cookie": "AuthSession=cookie-1"]) }
      return .init(status: 404)
    }
    let error = try await Self.pull(from: server.url, .session("ana", "password"))
    #expect(error?.code == .notFound)
    #expect(server.requests.compactMap { ScriptedServer.field("cookie", of: $0) } == ["AuthSession=cookie-1"])
    #expect(server.requests.dropFirst().first?.hasSuffix("name=ana&password=password") == true)
    await server.close()
  }

  @Test func `a cookie of another server is not taken`() async throws {
    let other = try await ScriptedServer { _ in
      .init(status: 503, headers: ["Set-Cookie": "AuthSession=theirs; Max-Age=600"])
    }
    let target = "\(other.url)/db"
    let server = try await ScriptedServer { request in
      request.hasPrefix("POST /_session")
        ? .init(headers: ["Set-Cookie": "AuthSession=cookie-1; Max-Age=600"])
        : .init(status: 302, headers: ["Location": target])
    }
    try await withStores { store, _ in
      var replication = Replication(
        .pull, with: try RemoteDatabase("\(server.url)/db", credentials: .session("ana", "password")))
      replication.retries.maximumAttempts = 3
      replication.retries.firstPause = .milliseconds(1)
      await #expect(throws: ReplicationError.self) {
        try await Replicator(replication, of: store).replicate()
      }
    }
    let cookies = server.requests.compactMap { ScriptedServer.field("cookie", of: $0) }
    #expect(cookies == Array(repeating: "AuthSession=cookie-1", count: 3))
    await server.close()
    await other.close()
  }

  @Test(arguments: [301, 302, 307, 308])
  func `a database that has moved at its server is replicated with`(_ status: Int) async throws {
    try await withServedStore { served in
      let target = served.server.url
      let front = try await ScriptedServer { request in
        let path = request.split(separator: " ", maxSplits: 2).dropFirst().first ?? ""
        return .init(status: status, headers: ["Location": "\(target)\(path)"])
      }
      try await served.remote.createDocument(from: DocumentDraft(id: "a", body: [:]))
      let large = DocumentAttachment(
        data: Data(repeating: 1, count: 300_000), name: "a", contentType: "image/png")
      try await served.local.createDocument(from: DocumentDraft(id: "b", body: [:], attachments: [large]))
      let replication = Replication(.both, with: try RemoteDatabase("\(front.url)/db"))
      let result = try await Replicator(replication, of: served.local).replicate()
      #expect(result.pulled.revisionsWritten == 1 && result.pushed.revisionsWritten == 1)
      #expect(try StoreContent(of: served.local).differences(from: StoreContent(of: served.remote)) == [])
      await front.close()
    }
  }

  @Test(arguments: ["65536", "99999999999999999999", "0"])
  func `a redirect to a port that does not exist is not followed`(_ port: String) async throws {
    let server = try await ScriptedServer { _ in
      .init(status: 302, headers: ["Location": "http://127.0.0.1:\(port)/db"])
    }
    #expect(try await Self.pull(from: server.url, nil)?.status == 302)
    let token = Credentials.iam(apiKey: "api-key", tokenURL: "http://127.0.0.1:\(port)/token")
    #expect(try await Self.pull(from: server.url, token)?.code == .invalidRequest)
    await server.close()
  }

  @Test func `redirects without end are an error`() async throws {
    let server = try await ScriptedServer { _ in .init(status: 302, headers: ["Location": "/db"]) }
    let error = try await Self.pull(from: server.url, nil)
    #expect(error?.status == 302)
    #expect(server.requests.count == 6)
    await server.close()
  }
}
