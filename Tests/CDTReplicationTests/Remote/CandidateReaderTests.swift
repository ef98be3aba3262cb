import CDTDatastore
import CDTQuery
import CDTTestSupport
import Testing

@testable import CDTRemote
@testable import CDTReplication

/// Servers that behave as ours does not.
@Suite struct CandidateReaderTests {
  /// Runs `body` with a database whose resources have given replies, in turn.
  private static func withServer(
    _ reply: @escaping @Sendable (_ request: String) -> String,
    _ body: (RemoteDatastore, ScriptedServer) async throws -> Void
  ) async throws {
    let server = try await ScriptedServer { .init(body: reply($0)) }
    try await body(RemoteDatastore("\(server.url)/db"), server)
    await server.close()
  }

  private static let noRows = #"{"rows":[]}"#

  @Test func `a document that arrives twice is taken once`() async throws {
    try await Self.withServer { request in
      if request.hasPrefix("GET") { return Self.noRows }
      return request.contains("bookmark")
        ? #"{"docs":[{"_id":"b","_rev":"1-b","a":1}],"bookmark":"2"}"#
        : #"{"docs":[{"_id":"a","_rev":"1-a","a":1},{"_id":"b","_rev":"1-b","a":1}],"bookmark":"1"}"#
    } _: { remote, _ in
      let found = try await remote.find(["a": 1], limit: 3)
      #expect(found.map(\.id) == ["a", "b"])
    }
  }

  @Test(.timeLimit(.usual))
  func `if the server is silent over a query, all documents are read`() async throws {
    let server = try await ScriptedServer { request in
      if request.contains("/_find") { return .init(isSent: false) }
      if request.contains("startkey=%22_design") { return .init(body: Self.noRows) }
      return .init(
        body:
          #"{"rows":[{"id":"a","doc":{"_id":"a","_rev":"1-a","a":1}},{"id":"b","doc":{"_id":"b","_rev":"1-b"}}]}"#
      )
    }
    var database = try RemoteDatabase("\(server.url)/db")
    database.timeout = .milliseconds(200)
    let remote = RemoteDatastore(database)
    let found = try await remote.find(["a": 1])
    #expect(found.map(\.id) == ["a"])
    #expect(server.requests.count { $0.contains("/_find") } == 1)
    await server.close()
  }

  @Test(arguments: ["indexes", "nouveau"])
  func `an index for words is not used`(_ member: String) async throws {
    try await Self.withServer { request in
      if request.contains("startkey") {
        return #"{"rows":[{"id":"_design/x","doc":{"_id":"_design/x","_rev":"1-a","\#(member)":{}}}]}"#
      }
      if request.hasPrefix("POST /db/_explain") { return #"{"index":{"type":"text"}}"# }
      return #"{"rows":[{"id":"a","doc":{"_id":"a","_rev":"1-a","a":1}}]}"#
    } _: { remote, server in
      let found = try await remote.find(["a": 1])
      #expect(found.map(\.id) == ["a"])
      #expect(!server.requests.contains { $0.hasPrefix("POST /db/_find") })
    }
  }

  @Test(arguments: [
    #"{"docs":1}"#, #"{"docs":[{"_id":"a"}]}"#, #"{"docs":[{"_id":"a","_rev":"x"}]}"#, #"{"docs":[1]}"#, "[",
  ])
  func `a reply that is not CouchDB's is an error`(_ reply: String) async throws {
    try await Self.withServer {
      $0.hasPrefix("GET") ? Self.noRows : reply
    } _: { remote, _ in
      let error = await #expect(throws: ReplicationError.self) { try await remote.find(["a": 1]) }
      #expect(error?.code == .invalidReply)
    }
  }

  @Test func `a request that fails for a reason that may pass is repeated`() async throws {
    let server = try await ScriptedServer { _ in .init(status: 503) }
    var retries = RetryPolicy()
    (retries.maximumAttempts, retries.firstPause) = (3, .milliseconds(1))
    let remote = RemoteDatastore(try RemoteDatabase("\(server.url)/db"), retries: retries)
    let error = await #expect(throws: ReplicationError.self) { try await remote.find(["a": 1]) }
    #expect(error?.code == .unreachable)
    #expect(server.requests.count == 3)
    await server.close()
  }
}
