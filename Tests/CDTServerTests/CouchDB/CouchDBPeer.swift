import CDTJSON
import CDTServerTestSupport
import Foundation
import Testing

/// The CouchDB that the tests replicate with, named by the environment variable `COUCHDB`.
enum CouchDBPeer {
  private static let environment = ProcessInfo.processInfo.environment

  static var isConfigured: Bool { url != nil }

  static let reason: Comment =
    "needs a CouchDB: make test-couchdb COUCHDB=http://admin:password@127.0.0.1:5984"

  private static var url: String? { environment["COUCHDB"].flatMap { $0.isEmpty ? nil : $0 } }

  /// 8 MB that can't be compressed; 100 MB if `COUCHDB_LARGE` is 1.
  static var largeContent: [UInt8] {
    var state: UInt64 = 0x9E37_79B9_7F4A_7C15
    return (0..<(environment["COUCHDB_LARGE"] == "1" ? 100_000_000 : 8_000_000)).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(truncatingIfNeeded: state >> 56)
    }
  }

  /// Runs a test with a CouchDB and a server of ours. What the test leaves in the CouchDB is deleted.
  static func with(
    _ body: (_ pair: ReplicationPair) async throws -> Void
  ) async throws {
    let couch = try RemoteServer(url: try #require(url))
    try await withServer { server in
      let name = "cdt-test-\(UUID().uuidString.lowercased())"
      let pair = ReplicationPair(
        couch: RemoteDatabase(existing: name, at: couch),
        ours: RemoteDatabase(existing: "db", at: try RemoteServer(server)))
      do {
        try await pair.couch.json("PUT", "?q=2")
        try await body(pair)
      } catch {
        try? await pair.couch.delete()
        throw error
      }
      try await pair.couch.delete()
    }
  }
}

/// A database at CouchDB and one of ours.
struct ReplicationPair: Sendable {
  let couch: RemoteDatabase
  let ours: RemoteDatabase

  /// Which of the two is the source. CouchDB's replicator does the work in both cases.
  enum Direction: String, Sendable, CaseIterable, CustomTestStringConvertible {
    case fromOurs, toOurs

    var testDescription: String { self == .fromOurs ? "from our server" : "to our server" }
    var opposite: Direction { self == .fromOurs ? .toOurs : .fromOurs }
  }

  func source(_ direction: Direction) -> RemoteDatabase { direction == .fromOurs ? ours : couch }
  func target(_ direction: Direction) -> RemoteDatabase { direction == .fromOurs ? couch : ours }

  /// Lets CouchDB replicate, and returns its reply.
  @discardableResult
  func replicate(_ direction: Direction, _ options: JSONObject = [:]) async throws -> JSONValue {
    var request: JSONObject = [
      "source": .string(source(direction).url), "target": .string(target(direction).url),
    ]
    for (name, value) in options { request[name] = value }
    return try await couch.server.json("POST", "/_replicate", .object(request))
  }

  /// Lets our server replicate, and returns its reply.
  @discardableResult
  func replicateByOurs(_ direction: Direction, _ options: JSONObject = [:]) async throws -> JSONValue {
    var request: JSONObject = ["source": .string(ours.name), "target": .string(couch.url)]
    if direction == .toOurs {
      (request["source"], request["target"]) = (request["target"], request["source"])
    }
    for (name, value) in options { request[name] = value }
    return try await ours.server.json("POST", "/_replicate", .object(request))
  }

  /// Compares the databases.
  func expectSameContent(sourceLocation: SourceLocation = #_sourceLocation) async throws {
    let (left, right) = (try await DatabaseContent(of: couch), try await DatabaseContent(of: ours))
    #expect(left.differences(from: right) == [], sourceLocation: sourceLocation)
  }
}
