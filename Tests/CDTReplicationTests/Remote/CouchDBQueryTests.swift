import CDTDatastore
import CDTJSON
import CDTQuery
import CDTTestSupport
import Foundation
import Testing

@testable import CDTImport
@testable import CDTRemote
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
          _ = try? await RemoteDatastore(database).createIndex([
            "fields": .array(fields.map { .string($0.path) })
          ])
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

  @Test func `local documents are not among the results`() async throws {
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

  @Test func `an import into a CouchDB and its export give the same documents`() async throws {
    try await withCouchDatabase { database in
      let name = try #require(database.url.split(separator: "/").last)
      let url = try "\(#require(couchURL))/\(name)"
      let sound = #"{"sound.txt":{"content_type":"text/plain","data":"bWVvdw=="}}"#
      let lines =
        (0..<2_500).map { #"{"_id":"doc\#(10_000 + $0)","_rev":"7-x","number":\#($0)}"# }
        + [#"{"_id":"e\u0301","_attachments":\#(sound)}"#, #"{"_id":"\u00e9"}"#]
      let first = try await RemoteImportTests.run(url, [lines.joined(separator: "\n")])
      #expect(first.message.hasSuffix("2502 imported\n"))
      #expect(first.status == 0)

      let again = #"{"_id":"doc10000"}"# + "\n" + #"{"_id":"new"}"#
      let failing = try await RemoteImportTests.run(url, [again])
      #expect(failing.status == 65)
      let skipping = try await RemoteImportTests.run(url, [again], "--on-conflict", "skip")
      #expect(skipping.message.hasSuffix("1 imported, 1 skipped\n"))
      let replacing = try await RemoteImportTests.run(
        url, [#"{"_id":"doc10000","n":1}"#, #"{"_id":"e\u0301","n":2}"#], "--on-conflict", "replace")
      #expect(replacing.message.hasSuffix("0 imported, 2 replaced\n"))

      let end = try await BuiltProgram("cdtquery", ["export", url, "--attachments"]).ended()
      #expect(end.status == 0)
      try await withStores { store, _ in
        try await withTemporaryDirectory(inMemory: true) { directory in
          let file = "\(directory)/export.jsonl"
          try Data(end.output.utf8).write(to: URL(filePath: file))
          let report = try await DocumentImporter(into: store).run([file])
          #expect(report.imported == 2_503)
        }
        #expect(try await store.document(withID: "doc12499").body == ["number": 2_499])
        #expect(try await store.document(withID: "doc10000").body == ["n": 1])
        let copy = try await store.document(withID: "e\u{301}")
        #expect(copy.body == ["n": 2])
        #expect(try await copy.attachments["sound.txt"]?.data() == Data("meow".utf8))
      }
    }
  }
}
