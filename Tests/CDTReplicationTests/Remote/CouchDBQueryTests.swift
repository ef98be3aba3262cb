import CDTDatastore
import CDTJSON
import CDTQuery
import CDTTestSupport
import Foundation
import Testing

@testable import CDTReplication

/// Queries of a CouchDB.
@Suite(
  .enabled(
    if: couchURL != nil, "needs a CouchDB: make test-couchdb COUCHDB=http://admin:password@127.0.0.1:5984"))
struct CouchDBQueryTests {
  @Test(arguments: 0..<40) func `a CouchDB gives the matcher's answers`(_ number: UInt64) async throws {
    let seed = testSeed(number + 5_000)
    try await withStores { store, _ in
      var queries = RandomQueries(seed: seed)
      try queries.fill(store)
      try await withCouchDatabase(sameAs: store) { database in
        for fields in queries.indexes() {
          // Some can't be the fields of an index there.
          _ = try? await RemoteDatastore(database).createIndex(on: fields.map { SortField($0.path) })
        }
        if number % 3 == 0 { try await Self.makeSpecialIndexes(in: database) }
        // Their definitions are design documents.
        _ = try await Replicator(Replication(.pull, with: database), of: store).replicate()
        try await RemoteLawTests.expectAnswers(
          &queries,
          try QueriedDatabase(database, sameAs: store, hasShortPages: number % 2 == 0), seed: seed)
      }
    }
  }

  /// Indexes as only CouchDB has them: of some of the documents, and without a field.
  private static func makeSpecialIndexes(in database: RemoteDatabase) async throws {
    let remote = RemoteDatastore(database)
    for index: JSONObject in [["fields": ["a"], "partial_filter_selector": ["b": 1]], ["fields": []]] {
      let request = RemoteConnection.Request(.POST, "/_index", ["index": .object(index)])
      _ = try await remote.connection.send(request, expecting: 200).json()
    }
  }

  @Test func `a CouchDB does what it can`() async throws {
    try await withStores { store, _ in
      try await PushDownTests.fill(store)
      try await withCouchDatabase(sameAs: store) { database in
        try await PushDownTests.expectTransfers(from: RemoteDatastore(database))
      }
    }
  }

  @Test func `local documents are no results`() async throws {
    try await withStores { store, _ in
      try await withCouchDatabase(sameAs: store) { database in
        let remote = RemoteDatastore(database)
        let saved = try await remote.connection.send(.init(.PUT, "/_local/x", [:]), expecting: 201)
        _ = try await saved.json()
        let found = try await remote.find(["_id": ["$in": ["", "_local/x", "_all_docs", "_design/"]]])
        #expect(found == [])
      }
    }
  }

  @Test func `the project's golden files pass at a CouchDB`() async throws {
    try await RemoteCommandTests.expectGoldenFiles(at: #require(couchURL))
  }

}
