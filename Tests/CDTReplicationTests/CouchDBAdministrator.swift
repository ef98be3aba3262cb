import CDTDatastore
import CDTJSON
import Foundation
import Testing

@testable import CDTReplication

/// The CouchDB that the environment variable `COUCHDB` names.
let couchURL = ProcessInfo.processInfo.environment["COUCHDB"].flatMap { $0.isEmpty ? nil : $0 }

/// Runs `body` with a database of the CouchDB, which does not exist yet and is deleted afterwards.
func withCouchDatabase(_ body: (RemoteDatabase) async throws -> Void) async throws {
  let url = try #require(couchURL)
  let database = try RemoteDatabase("\(url)/cdt-law-\(UUID().uuidString.lowercased())")
  do {
    try await body(database)
  } catch {
    try? await deleteCouchDatabase(database)
    throw error
  }
  try await deleteCouchDatabase(database)
}

/// Runs `body` with a database of the CouchDB that has the documents of a store, which is deleted afterwards.
func withCouchDatabase(sameAs store: Datastore, _ body: (RemoteDatabase) async throws -> Void) async throws {
  try await withCouchDatabase { database in
    var replication = Replication(.push, with: database)
    replication.createsDatabase = true
    let result = try await Replicator(replication, of: store).replicate()
    #expect(result.rejected == [])
    try await body(database)
  }
}

func deleteCouchDatabase(_ database: RemoteDatabase) async throws {
  let connection = RemoteConnection(database, concurrentRequests: 1)
  let reply = try await connection.send(.init(.DELETE, "", json: []))
  #expect(reply.status == 200)
  _ = await reply.refusal()
  await connection.close()
}

/// The administrator of the CouchDB.
enum CouchDBAdministrator {
  /// The URL of the CouchDB without the name and the password that it has, and these.
  static func account() throws -> (url: String, name: String, password: String) {
    var parts = try #require(couchURL.flatMap { URLComponents(string: $0) })
    let (name, password) = (parts.user ?? "", parts.password ?? "")
    (parts.user, parts.password) = (nil, nil)
    return (try #require(parts.string), name, password)
  }

  /// Asks the server for what is not in a database, or in one of its own.
  @discardableResult
  static func ask(
    _ method: String, _ resource: String, _ path: String = "", json: JSONValue? = nil
  ) async throws -> JSONValue {
    let (url, name, password) = try account()
    let connection = RemoteConnection(
      try RemoteDatabase("\(url)/\(resource)", credentials: .basic(name, password)), concurrentRequests: 1)
    let result: Result<(status: Int, json: JSONValue), any Error>
    do {
      let reply = try await connection.send(
        .init(.init(rawValue: method), path, json: Array((json?.text ?? "").utf8)))
      result = .success((reply.status, try await reply.json()))
    } catch {
      result = .failure(error)
    }
    await connection.close()
    let (status, answer) = try result.get()
    #expect((200..<300).contains(status), "\(method) \(resource)\(path): \(answer.text)")
    return answer
  }

  /// The name of the user of a session; `nil` if the CouchDB does not accept its cookie.
  static func user(of cookie: String) async throws -> String? {
    var database = try RemoteDatabase("\(try account().url)/_session")
    database.interceptors = [HTTPInterceptor { $0.headers.append((name: "Cookie", value: cookie)) }]
    let connection = RemoteConnection(database, concurrentRequests: 1)
    let reply = try await connection.send(.init(""))
    let name = reply.status == 200 ? try await reply.json()["userCtx"]?["name"]?.stringValue : nil
    if reply.status != 200 { _ = await reply.refusal() }
    await connection.close()
    return name
  }

  /// Whether the CouchDB has several nodes. One of them may answer from a copy of a database that is behind.
  static var hasCluster: Bool {
    get async throws { (try await ask("GET", "_membership")["cluster_nodes"]?.arrayValue?.count ?? 1) > 1 }
  }
}
