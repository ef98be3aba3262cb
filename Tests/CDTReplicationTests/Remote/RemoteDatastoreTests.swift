import CDTDatastore
import CDTJSON
import CDTQuery
import CDTTestSupport
import Testing

@testable import CDTReplication

@Suite struct RemoteDatastoreTests {
  /// Runs `body` with 1,000 documents behind a server.
  private static func withThousand(
    _ body: (Datastore, RemoteDatastore) async throws -> Void
  ) async throws {
    try await withServedStore { served in
      try await served.remote.write { transaction in
        for number in 0..<1_000 {
          let body: JSONObject = [
            "number": .int(Int64(number)), "name": .string("name \(number % 10)"),
            "pet": ["age": .int(Int64(number % 7))],
            "tags": number % 100 == 0 ? ["red", .int(Int64(number))] : "blue",
          ]
          try transaction.createDocument(from: DocumentDraft(id: "doc\(1_000 + number)", body: body))
        }
      }
      try await body(served.remote, RemoteDatastore(try served.database()))
    }
  }

  struct Transfer: Sendable, CustomTestStringConvertible {
    let request: JSONObject
    let results, transferred: Int
    var testDescription: String { request.text }

    init(_ request: JSONObject, results: Int, transferred: Int) {
      self.request = request
      self.results = results
      self.transferred = transferred
    }
  }

  static let transfers = [
    // Decided by the server.
    Transfer(["selector": ["number": 7]], results: 1, transferred: 1),
    Transfer(["selector": ["number": ["$in": [7, 8]]]], results: 2, transferred: 2),
    Transfer(["selector": ["name": "name 3"]], results: 100, transferred: 100),
    Transfer(["selector": ["name": ["$beginsWith": "name 4"]]], results: 100, transferred: 100),
    Transfer(["selector": ["tags": "red"]], results: 10, transferred: 10),
    Transfer(["selector": ["tags": ["$size": 2]]], results: 10, transferred: 10),
    Transfer(["selector": ["number": ["$gte": 990]]], results: 10, transferred: 10),
    Transfer(["selector": ["number": ["$lt": 5]]], results: 5, transferred: 5),
    Transfer(["selector": ["pet.age": 3]], results: 143, transferred: 143),
    Transfer(["selector": ["name": ["$ne": "name 3"]]], results: 900, transferred: 900),
    Transfer(["selector": ["$or": [["number": 1], ["number": 2]]]], results: 2, transferred: 2),
    Transfer(["selector": ["tags": ["$elemMatch": ["$gt": 800, "$lt": 1000]]]], results: 1, transferred: 1),
    Transfer(["selector": ["nothing": ["$exists": true]]], results: 0, transferred: 0),
    Transfer(["selector": ["$or": []]], results: 0, transferred: 0),
    Transfer(["selector": ["_id": "doc1500"]], results: 1, transferred: 1),
    Transfer(["selector": ["_id": ["$in": ["doc1500", "doc1501", "none"]]]], results: 2, transferred: 2),
    Transfer(["selector": ["_id": ["$gte": "doc1990"]]], results: 10, transferred: 10),
    // A page.
    Transfer(["selector": [:], "limit": 10], results: 10, transferred: 10),
    Transfer(["selector": [:], "limit": 10, "sort": ["_id"]], results: 10, transferred: 10),
    Transfer(
      ["selector": [:], "skip": 5, "limit": 5, "sort": [["_id": "desc"]]], results: 5, transferred: 10),
    Transfer(["selector": ["name": "name 3"], "limit": 10], results: 10, transferred: 10),
    // Partly decided here.
    Transfer(["selector": ["number": 7, "name": ["$regex": "7$"]]], results: 1, transferred: 1),
    Transfer(
      ["selector": ["number": ["$gte": 990], "name": ["$gt": "name 5"]]], results: 4, transferred: 10),
    Transfer(
      ["selector": ["name": "name 3"], "sort": ["number"], "limit": 10], results: 10, transferred: 100),
    // Decided here.
    Transfer(["selector": ["name": ["$regex": "3$"]]], results: 100, transferred: 1_000),
    Transfer(["selector": ["number": ["$not": ["$mod": [100, 0]]]]], results: 990, transferred: 1_000),
  ]

  @Test func `the server does what it can`() async throws {
    try await Self.withThousand { _, remote in
      for transfer in Self.transfers {
        let before = remote.documentsRead
        let results = try await remote.find(Query(request: transfer.request))
        #expect(results.count == transfer.results, "\(transfer.request.text)")
        let transferred = remote.documentsRead - before
        #expect(transferred == transfer.transferred, "\(transfer.request.text)")
      }
    }
  }

  @Test func `a count transfers only the fields of the selector, or nothing`() async throws {
    try await Self.withThousand { store, remote in
      try await store.createDocument(from: DocumentDraft(id: "_design/x", body: ["number": 1]))
      #expect(try await remote.count(["number": ["$lt": 5]]) == 6)
      let before = remote.documentsRead
      #expect(try await remote.count([:]) == 1_001)
      #expect(remote.documentsRead == before)
    }
  }

  @Test func `documents and revisions are read by their ids`() async throws {
    try await withServedStore { served in
      let remote = RemoteDatastore(try served.database())
      let first = try await served.remote.createDocument(
        from: DocumentDraft(id: "a/b c", body: ["number": 1]))
      var changed = first
      changed.body["number"] = 2
      let second = try await served.remote.updateDocument(from: changed)
      #expect(try await remote.document(withID: "a/b c").body == ["number": 2])
      #expect(try await remote.document(withID: "a/b c").revisionID == second.revisionID)
      #expect(try await remote.document(withID: "a/b c", revisionID: first.revisionID).body == ["number": 1])
      for id in ["", "none", "_all_docs", "_local/x", "_design/", "_design/none"] {
        let error = await #expect(throws: DatastoreError.self) { try await remote.document(withID: id) }
        #expect(error?.code == .notFound)
      }
      try await served.remote.deleteDocument(withID: "a/b c")
      let error = await #expect(throws: DatastoreError.self) { try await remote.document(withID: "a/b c") }
      #expect(error?.message.contains("is deleted") == true)
    }
  }

  @Test func `changes continue where the last ones ended`() async throws {
    try await withServedStore { served in
      let remote = RemoteDatastore(try served.database())
      for id in ["a", "b", "c"] {
        try await served.remote.createDocument(from: DocumentDraft(id: id, body: [:]))
      }
      let first = try await remote.changes(limit: 2)
      #expect(first.documents.map(\.id) == ["a", "b"])
      try await served.remote.deleteDocument(withID: "a")
      let rest = try await remote.changes(since: first.lastSequence)
      #expect(rest.documents.map(\.id) == ["c", "a"])
      #expect(rest.documents.map(\.isDeleted) == [false, true])
      let waiting = Task {
        for try await changes in remote.liveChanges(since: rest.lastSequence) { return changes.documents }
        return []
      }
      try await served.remote.createDocument(from: DocumentDraft(id: "d", body: [:]))
      #expect(try await waiting.value.map(\.id) == ["d"])
    }
  }

  @Test func `a query that waits for the server ends when its task is cancelled`() async throws {
    try await withServedStore { served in
      let remote = RemoteDatastore(try served.database())
      let waiting = Task {
        for try await _ in remote.liveChanges() { return true }
        return false
      }
      try await Task.sleep(for: .milliseconds(50))
      waiting.cancel()
      #expect((try? await waiting.value) != true)
    }
  }

  @Test func `a page that would be too long is read in smaller ones`() async throws {
    try await withServedStore { served in
      let text = JSONValue.string(String(repeating: "x", count: 3_000_000))
      for number in 0..<12 {
        try await served.remote.createDocument(
          from: DocumentDraft(id: "doc\(number)", body: ["text": text, "number": .int(Int64(number))]))
      }
      let remote = RemoteDatastore(try served.database())
      #expect(
        try await remote.find(["number": ["$gte": 2]], fields: ["number"], sort: ["number"]).count == 10)
      #expect(try await remote.find([:], fields: ["number"], sort: ["_id"]).map(\.id).first == "doc0")
      #expect(try await remote.count(["number": ["$gte": 2]]) == 10)
    }
  }

  @Test func `errors of the query are the same as of a store, and errors of the server have codes`()
    async throws
  {
    try await withServedStore { served in
      let remote = RemoteDatastore(try served.database())
      let words = await #expect(throws: QueryError.self) {
        try await remote.find(["$text": ["$search": "x"]])
      }
      #expect(words?.code == .textSearch)
      let missing = RemoteDatastore(try RemoteDatabase("\(served.server.url)/none"))
      for query: JSONObject in [[:], ["a": 1], ["_id": "x"]] {
        let error = await #expect(throws: ReplicationError.self) { try await missing.find(query) }
        #expect(error?.code == .notFound)
      }
      let error = await #expect(throws: ReplicationError.self) { try await missing.document(withID: "x") }
      #expect(error?.code == .notFound)
      let silent = await #expect(throws: ReplicationError.self) {
        try await RemoteDatastore("http://127.0.0.1:1/db").count([:])
      }
      #expect(silent?.code == .unreachable)
    }
  }

  @Test func `an explanation shows what is sent, what is left and the server's index`() async throws {
    try await withServedStore { served in
      try await served.remote.ensureIndexed(["age"], name: "by_age")
      let remote = RemoteDatastore(try served.database())
      var query = try Query(["age": 5, "name": ["$gt": "m"]], sort: ["age"])
      query.limit = 3
      #expect(
        try await remote.explain(query).description == """
          POST _find {"$and":[{"age":{"$gte":5}},{"$or":[{"age":{"$eq":5}},{"age":{"$elemMatch":{"$eq":5}}}]},\
          {"name":{"$gte":""}},{"$or":[{"name":{"$type":"string"}},{"name":{"$type":"array"}}]}]}, and the design documents
          ├ left to the matcher: {"name":{"$gt":"m"}}
          ├ order: sorted here
          ├ limit: 3, after all candidates
          └ index at the server: "by_age", json, [{"age":"asc"}]
          """)
      #expect(
        try await remote.explain(Query(["name": ["$regex": "x"]], sort: [.descending("_id")])).description
          == """
          POST _find {"$and":[{"name":{"$gte":""}},{"$or":[{"name":{"$type":"string"}},{"name":{"$elemMatch":{"$type":"string"}}}]}]}\
          , and the design documents
          ├ left to the matcher: {"name":{"$regex":"x"}}
          ├ order: sorted here
          └ index at the server: "_all_docs", special, [{"_id":"asc"}]
          """)
      #expect(
        try await remote.explain(Query(["a.b": ["$ne": 1]], sort: [.descending("_id")])).description == """
          GET _all_docs: every document, backwards
          ├ left to the matcher: {"a.b":{"$not":{"$eq":1}}}
          └ order: by the ids
          """)
    }
  }
}
