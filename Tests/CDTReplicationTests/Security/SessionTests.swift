import CDTDatastore
import CDTServerTestSupport
import CDTTestSupport
import Foundation
import Synchronization
import Testing

@testable import CDTReplication

/// Session cookies, which end before a replication does.
@Suite struct SessionTests {
  /// The statuses of replies.
  private final class Statuses: Sendable {
    private let seen = Mutex<[Int]>([])

    var interceptor: HTTPInterceptor {
      HTTPInterceptor(reply: { reply in self.seen.withLock { $0.append(reply.status) } })
    }

    func count(_ status: Int) -> Int { seen.withLock { $0.count { $0 == status } } }
    var all: [Int] { seen.withLock { $0 } }
  }

  /// The database of a user, and the statuses of the replies.
  private static func database(of served: ServedStore) throws -> (RemoteDatabase, Statuses) {
    let statuses = Statuses()
    var database = try served.database(.session(ServedUser.name, ServedUser.password))
    database.interceptors = [statuses.interceptor]
    return (database, statuses)
  }

  @Test func `a replication outlasts its sessions`() async throws {
    try await withServedUser { served, user in
      let (database, _) = try Self.database(of: served)
      var replication = Replication(.both, with: database)
      replication.isContinuous = true
      let replicator = Replicator(replication, of: served.local)
      let running = Task { try await replicator.replicate() }
      // A session lasts 600 seconds. A pause in which nothing is sent, then replies with new cookies, then a pause that is too long.
      for pause in [0, 540, 120, 120, 601] {
        user.clock.advance(by: .seconds(pause))
        try await Self.exchange(served)
      }
      replicator.stop()
      _ = try await running.value
    }
  }

  /// Writes to both ends, and waits until the other end has it.
  private static func exchange(_ served: ServedStore) async throws {
    for (one, other) in [(served.local, served.remote), (served.remote, served.local)] {
      let id = try await one.createDocument(from: DocumentDraft(body: [:])).id
      try await eventually("the document has arrived") {
        try await other.read { try $0.allDocumentIDs() }.contains(id)
      }
    }
  }

  @Test func `a session that ends in the middle of a run is renewed`() async throws {
    try await withServedUser { served, user in
      let (database, statuses) = try Self.database(of: served)
      for number in 0..<60 {
        try await served.remote.createDocument(from: DocumentDraft(id: "doc\(number)", body: [:]))
      }
      var replication = Replication(.pull, with: database)
      replication.batchSize = 10
      let replicator = Replicator(replication, of: served.local)
      var isChanged = false
      for try await status in replicator.run() where status.done >= 20 && !isChanged {
        isChanged = true
        try user.setPassword()
      }
      // Whatever was left when the password changed.
      try await served.remote.createDocument(from: DocumentDraft(id: "last", body: [:]))
      try await replicator.replicate()
      #expect(try StoreContent(of: served.local).differences(from: StoreContent(of: served.remote)) == [])
      #expect(!statuses.all.contains { $0 >= 500 })
    }
  }

  @Test func `a session that ends during a continuous run is renewed`() async throws {
    try await withServedUser { served, user in
      let (database, statuses) = try Self.database(of: served)
      var replication = Replication(.both, with: database)
      replication.isContinuous = true
      let replicator = Replicator(replication, of: served.local)
      let running = Task { try await replicator.replicate() }
      try await Self.exchange(served)
      #expect(statuses.count(401) == 0)
      try user.setPassword()
      try await Self.exchange(served)
      #expect(statuses.count(401) > 0)
      replicator.stop()
      _ = try await running.value
    }
  }

  /// A stand-in whose sessions are numbered: `allows` tells whether it accepts a session.
  private static func standIn(
    _ status: @escaping @Sendable (_ login: Int) -> Int = { _ in 200 },
    body: String = "{}", _ allows: @escaping @Sendable (_ session: Int) -> Bool
  ) async throws -> ScriptedServer {
    let logins = Mutex(0)
    return try await ScriptedServer { request in
      if request.hasPrefix("POST /_session ") {
        let number = logins.withLock { logins in
          logins += 1
          return logins
        }
        return .init(
          status: status(number),
          headers: ["Set-Cookie": "AuthSession=\(number); Max-Age=600; HttpOnly"], body: body)
      }
      let session = ScriptedServer.field("cookie", of: request)?.split(separator: "=").last.flatMap {
        Int($0)
      }
      return .init(status: session.map(allows) == true ? 404 : 401)
    }
  }

  private static func logins(_ server: ScriptedServer) -> Int {
    server.requests.count { $0.hasPrefix("POST /_session ") }
  }

  private static func pull(_ server: ScriptedServer) async throws -> ReplicationError? {
    try await withStores { store, _ in
      var replication = Replication(
        .pull, with: try RemoteDatabase("\(server.url)/db", credentials: .session("ana", "password")))
      replication.retries.firstPause = .milliseconds(1)
      replication.retries.maximumAttempts = 3
      do {
        try await Replicator(replication, of: store).replicate()
        return nil
      } catch {
        return error as? ReplicationError
      }
    }
  }

  @Test func `a cookie is renewed before it expires`() async throws {
    let server = try await Self.standIn { _ in true }
    let start = ContinuousClock.now
    let passed = Mutex(0)
    var database = try RemoteDatabase("\(server.url)/db", credentials: .session("ana", "password"))
    database.now = { start + .seconds(passed.withLock { $0 }) }
    let connection = RemoteConnection(database, concurrentRequests: 4)
    for seconds in [0, 479, 480] {
      passed.withLock { $0 = seconds }
      #expect(try await connection.send(.init("")).status == 404)
    }
    #expect(Self.logins(server) == 2)
    #expect(
      server.requests.compactMap { ScriptedServer.field("cookie", of: $0) } == [
        "AuthSession=1", "AuthSession=1", "AuthSession=2",
      ])
    await connection.close()
    await server.close()
  }

  @Test func `a renewal that fails for a moment does not end the run`() async throws {
    // The second login, which is the first renewal, fails.
    let server = try await Self.standIn({ $0 == 2 ? 503 : 200 }) { $0 > 2 }
    #expect(try await Self.pull(server)?.code == .notFound)
    #expect(Self.logins(server) == 3)
    await server.close()
  }

  @Test func `a server that accepts no session is asked twice`() async throws {
    let server = try await Self.standIn { _ in false }
    #expect(try await Self.pull(server)?.code == .unauthorized)
    #expect(Self.logins(server) == 2)
    await server.close()
  }

  @Test func `a password that is no longer right ends the run`() async throws {
    let server = try await Self.standIn({ $0 == 1 ? 200 : 401 }) { _ in false }
    #expect(try await Self.pull(server)?.code == .unauthorized)
    #expect(Self.logins(server) == 2)
    await server.close()
  }

  @Test(arguments: [1, 2]) func `a user whom the server has locked is told so`(login: Int) async throws {
    // The first login, or the renewal of its session.
    let server = try await Self.standIn(
      { $0 < login ? 200 : 403 }, body: #"{"error":"forbidden","reason":"Account of password is locked."}"#
    ) { _ in false }
    let error = try await Self.pull(server)
    #expect(error?.code == .forbidden)
    #expect(error?.message.hasSuffix("answers 403, forbidden: Account of … is locked.") == true)
    #expect(Self.logins(server) == login)
    await server.close()
  }

  @Test func `requests at the same time share a login and a renewal`() async throws {
    let server = try await Self.standIn { $0 > 1 }
    let connection = RemoteConnection(
      try RemoteDatabase("\(server.url)/db", credentials: .session("ana", "password")), concurrentRequests: 4)
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<40 { group.addTask { try await connection.send(.init("")).status } }
      for try await status in group { #expect(status == 404) }
    }
    #expect(Self.logins(server) == 2)
    await connection.close()
    await server.close()
  }

  @Test func `a server without sessions gets the name and the password`() async throws {
    let server = try await ScriptedServer { _ in .init(status: 404) }
    _ = try await Self.pull(server)
    #expect(
      server.requests.map { ScriptedServer.field("authorization", of: $0) } == [
        nil, "Basic YW5hOnBhc3N3b3Jk",
      ])
    await server.close()
  }
}
