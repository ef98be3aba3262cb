import CDTDatastore
import CDTJSON
import CDTTestSupport
import Foundation
import Synchronization
import Testing

@testable import CDTReplication

/// Replication with a CouchDB whose administrator has set limits, members and times.
///
/// The tests change settings of the CouchDB and reset them, so each runs alone.
@Suite(
  .serialized,
  .enabled(
    if: couchURL != nil, "needs a CouchDB: make test-couchdb COUCHDB=http://admin:password@127.0.0.1:5984"))
struct CouchDBSettingsTests {
  /// Runs `body` while a setting of the CouchDB has another value.
  private static func withSetting(
    _ name: String, _ value: String, _ body: () async throws -> Void
  ) async throws {
    let before = try await change("PUT", name, value)
    let result: Result<Void, any Error>
    do {
      result = .success(try await body())
    } catch {
      result = .failure(error)
    }
    _ = before.isEmpty ? try await change("DELETE", name, nil) : try await change("PUT", name, before)
    try result.get()
  }

  /// Sets a setting, and gives the value that it had; an empty text if it had none.
  private static func change(_ method: String, _ name: String, _ value: String?) async throws -> String {
    let answer = try await CouchDBAdministrator.ask(
      method, "_node/_local/_config/\(name)", json: value.map { .string($0) })
    return answer.stringValue ?? ""
  }

  private static func replicate(
    _ direction: Replication.Direction, _ store: Datastore, _ database: RemoteDatabase,
    _ change: (inout Replication) -> Void = { _ in }
  ) async throws -> ReplicationResult {
    var replication = Replication(direction, with: database)
    change(&replication)
    return try await Replicator(replication, of: store).replicate()
  }

  /// A database's URL without credentials.
  private static func plain(_ database: RemoteDatabase, _ credentials: Credentials?) throws -> RemoteDatabase
  {
    try RemoteDatabase("\(database.url)", credentials: credentials)
  }

  @Test func `a document over the limit is listed, and a request over the limit is split`() async throws {
    try await withStores { left, right in
      try await withCouchDatabase(sameAs: left) { database in
        for number in 0..<100 {
          let text = String(repeating: "x", count: 5_000)
          try await left.createDocument(
            from: DocumentDraft(id: "doc\(number)", body: ["text": .string(text)]))
        }
        let large = String(repeating: "x", count: 30_000)
        try await left.createDocument(from: DocumentDraft(id: "large", body: ["text": .string(large)]))
        try await Self.withSetting("couchdb/max_document_size", "20000") {
          try await Self.withSetting("chttpd/max_http_request_size", "60000") {
            let result = try await Self.replicate(.push, left, database)
            #expect(result.rejected.map(\.id) == ["large"])
            #expect(result.pushed.revisionsWritten == 100)
          }
        }
        #expect(try await Self.replicate(.pull, right, database).pulled.revisionsWritten == 100)
      }
    }
  }

  @Test func `only members replicate, and only admins replicate design documents`() async throws {
    try await withStores { left, right in
      try await left.createDocument(from: DocumentDraft(id: "a", body: [:]))
      try await withCouchDatabase(sameAs: left) { database in
        let (member, other) = ("m\(UUID().uuidString)", "o\(UUID().uuidString)")
        var revisions: [String: String] = [:]
        for name in [member, other] {
          let user: JSONValue = [
            "name": .string(name), "password": "the password", "roles": [], "type": "user",
          ]
          revisions[name] =
            try await CouchDBAdministrator.ask("PUT", "_users", "/org.couchdb.user%3A\(name)", json: user)[
              "rev"]?.stringValue
        }
        let name = try #require(URL(string: database.url)?.lastPathComponent)
        try await CouchDBAdministrator.ask(
          "PUT", name, "/_security",
          json: [
            "admins": ["names": [], "roles": []], "members": ["names": [.string(member)], "roles": []],
          ])
        for credentials in [Credentials.basic(member, "the password"), .session(member, "the password")] {
          _ = try await Self.replicate(.pull, right, Self.plain(database, credentials))
        }
        #expect(try await right.read { try $0.documentCount() } == 1)
        try await right.createDocument(from: DocumentDraft(id: "b", body: [:]))
        try await right.createDocument(from: DocumentDraft(id: "_design/d", body: [:]))
        let result = try await Self.replicate(
          .push, right, Self.plain(database, .session(member, "the password")))
        #expect(result.rejected.map(\.id) == ["_design/d"])
        #expect(result.pushed.revisionsWritten == 1)
        for (credentials, code) in [
          (Credentials.basic(other, "the password"), ReplicationError.Code.forbidden),
          (.session(other, "the password"), .forbidden), (.basic(member, "wrong"), .unauthorized),
          (.session(member, "wrong"), .unauthorized), (nil, .unauthorized),
        ] as [(Credentials?, ReplicationError.Code)] {
          let error = await #expect(throws: ReplicationError.self) {
            _ = try await Self.replicate(.pull, right, Self.plain(database, credentials))
          }
          #expect(error?.code == code)
        }
        for (name, revision) in revisions {
          try await CouchDBAdministrator.ask(
            "DELETE", "_users", "/org.couchdb.user%3A\(name)?rev=\(revision)")
        }
      }
    }
  }

  @Test func `a session that expires during a run is renewed`() async throws {
    try await withStores { left, _ in
      try await withCouchDatabase(sameAs: left) { database in
        let (_, name, password) = try CouchDBAdministrator.account()
        for number in 0..<20 {
          try await left.createDocument(from: DocumentDraft(id: "doc\(number)", body: [:]))
        }
        let count = Mutex(0)
        let refused = Mutex(0)
        var session = try Self.plain(database, .session(name, password))
        session.interceptors = [
          HTTPInterceptor { request in
            let number = count.withLock { count in
              count += 1
              return count
            }
            guard number == 8 else { return }
            let cookie = request.headers.first { $0.name.lowercased() == "cookie" }?.value ?? ""
            try await eventually("the session has expired") {
              try await CouchDBAdministrator.user(of: cookie) == nil
            }
          } reply: { reply in
            if reply.status == 401 { refused.withLock { $0 += 1 } }
          }
        ]
        let other = session
        try await Self.withSetting("chttpd_auth/timeout", "2") {
          let result = try await Self.replicate(.push, left, other) { $0.batchSize = 5 }
          #expect(result.pushed.revisionsWritten == 20)
        }
        #expect(refused.withLock { $0 } > 0)
      }
    }
  }
}
