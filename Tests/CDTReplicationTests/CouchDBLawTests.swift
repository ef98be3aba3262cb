import CDTDatastore
import CDTTestSupport
import Foundation
import Testing

@testable import CDTReplication

/// Replication with a CouchDB.
@Suite(
  .enabled(
    if: couchURL != nil, "needs a CouchDB: make test-couchdb COUCHDB=http://admin:password@127.0.0.1:5984"))
struct CouchDBLawTests {
  /// Runs `body` with two stores and the name of a new database.
  private static func withDatabase(
    _ body: (_ left: Datastore, _ right: Datastore, _ database: RemoteDatabase) async throws -> Void
  ) async throws {
    try await withStores { left, right in
      try await withCouchDatabase { try await body(left, right, $0) }
    }
  }

  private static func replicate(
    _ direction: Replication.Direction, _ store: Datastore, _ database: RemoteDatabase, batchSize: Int = 1_000
  ) async throws -> ReplicationResult {
    var replication = Replication(direction, with: database)
    replication.createsDatabase = true
    replication.batchSize = batchSize
    return try await Replicator(replication, of: store).replicate()
  }

  /// Replicates until a few runs in turn have found nothing to do.
  private static func settle(_ stores: [Datastore], _ database: RemoteDatabase) async throws {
    var quiet = 0
    for _ in 0..<100 where quiet < 6 {
      quiet += 1
      for store in stores {
        let result = try await replicate(.both, store, database)
        if result.pushed.revisionsWritten + result.pulled.revisionsWritten > 0 { quiet = 0 }
      }
      try await Task.sleep(for: .milliseconds(50))
    }
  }

  @Test(arguments: 0..<40) func `two stores that replicate with a CouchDB are equal afterwards`(
    _ number: UInt64
  ) async throws {
    let seed = testSeed(number + 3_000)
    try await Self.withDatabase { left, right, database in
      var (one, other) = (RandomHistory(seed: seed), RandomHistory(seed: seed &+ 1_000_000))
      for round in 0..<3 {
        try one.change(left, times: 20)
        try other.change(right, times: 20)
        for store in [left, right, left] {
          let result = try await Self.replicate(.both, store, database, batchSize: [3, 10, 1_000][round])
          #expect(result.rejected == [], "seed \(seed)")
        }
        if try await CouchDBAdministrator.hasCluster { try await Self.settle([left, right], database) }
        let differences = try StoreContent(of: left).differences(from: StoreContent(of: right))
        #expect(differences == [], "seed \(seed), round \(round)")
      }
      let again = try await Self.replicate(.both, left, database)
      #expect(again.pushed.revisionsWritten + again.pulled.revisionsWritten == 0)
    }
  }

  @Test func `documents that a CouchDB rejects are listed, and the others arrive`() async throws {
    try await Self.withDatabase { left, right, database in
      _ = try await Self.replicate(.push, left, database)
      try await left.createDocument(
        from: DocumentDraft(
          id: "_design/rules",
          body: [
            "language": "javascript",
            "validate_doc_update":
              "function (doc) { if (doc.bad) throw({forbidden: 'bad documents are refused'}); }",
          ]))
      _ = try await Self.replicate(.push, left, database)
      for number in 0..<20 {
        try await left.createDocument(
          from: DocumentDraft(id: "doc\(number)", body: number % 5 == 0 ? ["bad": true] : [:]))
      }
      var picture = DocumentDraft(id: "picture", body: ["bad": true])
      picture.attachments["a"] = DocumentAttachment(
        data: Data(repeating: 1, count: 100_000), name: "a", contentType: "image/png")
      try await left.createDocument(from: picture)
      try await left.createDocument(
        from: DocumentDraft(id: "large", body: ["text": .string(String(repeating: "x", count: 9_000_000))]))
      let result = try await Self.replicate(.push, left, database)
      #expect(Set(result.rejected.map(\.id)) == ["doc0", "doc5", "doc10", "doc15", "picture", "large"])
      #expect(result.rejected.count { $0.reason == "forbidden: bad documents are refused" } == 5)
      #expect(try await Self.replicate(.pull, right, database).pulled.revisionsWritten == 17)
    }
  }

  @Test func `a database that was deleted and created again is filled again`() async throws {
    try await Self.withDatabase { left, right, database in
      try await left.createDocument(from: DocumentDraft(id: "a", body: [:]))
      _ = try await Self.replicate(.push, left, database)
      try await deleteCouchDatabase(database)
      #expect(try await Self.replicate(.push, left, database).pushed.revisionsWritten == 1)
      #expect(try await Self.replicate(.pull, right, database).pulled.revisionsWritten == 1)
    }
  }
}
