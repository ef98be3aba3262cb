import CDTDatastore
import CDTJSON
import CDTQuery
import CDTTestSupport
import Testing

@testable import CDTRemote
@testable import CDTReplication

@Suite struct RemoteDatastoreTests {
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
        #expect(try await remote.find(["_id": .string(id)]).isEmpty)
      }
      try await served.remote.deleteDocument(withID: "a/b c")
      let error = await #expect(throws: DatastoreError.self) { try await remote.document(withID: "a/b c") }
      #expect(error?.message.contains("is deleted") == true)
    }
  }

  @Test func `linked documents are read by their ids after the results`() async throws {
    try await withServedStore { served in
      let remote = RemoteDatastore(try served.database())
      for (id, body) in [
        ("a", ["n": 2, "to": ["x", "none", "_all_docs"]]), ("b", ["n": 1, "to": "gone"]),
        ("c", ["n": 1, "other": "x"]), ("gone", [:]), ("x", ["v": 1]),
      ] as [(String, JSONObject)] {
        try await served.remote.createDocument(from: DocumentDraft(id: id, body: body))
      }
      try await served.remote.deleteDocument(withID: "gone")
      for (sort, limit) in [([], nil), (["n"], nil), (["n"], 2), ([.descending("_id")], 1)]
        as [([SortField], Int?)]
      {
        let query = try Query(
          ["n": ["$gt": 0]], limit: limit, fields: ["n"], sort: sort, include: ["to": "to", "o": "other"])
        let expected = try await served.remote.page(query)
        var given: [String] = []
        let included = try await remote.forEachIncluding(query) { given.append($0.json.text) }
        #expect(given == expected.documents.map(\.json.text))
        #expect(included.json() == expected.included.json(), "\(query)")
        let error = await #expect(throws: QueryError.self) { try await remote.find(query) }
        #expect(error?.path == "include")
      }
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
      let changes = try RemoteDatastore(served.database()).liveChanges()
      let waiting = Task {
        for try await _ in changes { return true }
        return false
      }
      try await Task.sleep(for: .milliseconds(50))
      waiting.cancel()
      let result = await waiting.result
      do {
        #expect(try result.get() == false)
      } catch {
        #expect(error is CancellationError)
      }
    }
  }

  @Test func `a page that would be too long is read in smaller ones`() async throws {
    try await withServedStore { served in
      let text = JSONValue.string(String(repeating: "x", count: 30_000))
      for number in 0..<12 {
        try await served.remote.createDocument(
          from: DocumentDraft(id: "doc\(number)", body: ["text": text, "number": .int(Int64(number))]))
      }
      let remote = RemoteDatastore(
        try served.database(), textIndex: nil, retries: nil, replyLimit: 100_000)
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
