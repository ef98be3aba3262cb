import CDTDatastore
import CDTJSON
import CDTTestSupport
import Testing

@testable import CDTIndex
@testable import CDTQuery
@testable import CDTSelector

/// Indexes that hold the documents of a selector.
@Suite struct PartialIndexTests {
  /// Tasks, of which every tenth is open.
  private func fill(_ store: Datastore, _ count: Int = 200) throws {
    try store.write { transaction in
      for number in 0..<count {
        try transaction.createDocument(
          from: DocumentDraft(
            id: "t\(1000 + number)",
            body: ["state": number % 10 == 0 ? "open" : "done", "due": .int(Int64(number * 7 % 50))]))
      }
    }
  }

  private func explain(_ store: Datastore, _ request: JSONObject) throws -> Explanation {
    try store.read { try $0.explain(Query(request: request)) }
  }

  private func reason(_ store: Datastore, _ request: JSONObject) throws -> String? {
    try explain(store, request).considered.first.map { "\($0.isUsed ? "used" : "not used"), \($0.reason)" }
  }

  @Test func `it holds the documents that match, as they change`() throws {
    try withTemporaryDatastore { store in
      try fill(store)
      let name = try store.ensureIndexed(["due"], .where(["state": "open"]), name: "open")
      #expect(try store.listIndexes().map(\.entries) == [20])
      #expect(try store.listIndexes()[0].json["where"] == ["state": ["$eq": "open"]])
      // The same, whether or not it is named.
      #expect(try store.ensureIndexed(["due"], .where(["$and": [["state": ["$eq": "open"]]]])) == name)
      var document = try store.document(withID: "t1001")
      document.body["state"] = "open"
      try store.updateDocument(from: document)
      #expect(try store.listIndexes().map(\.entries) == [21])
      try store.updateDocument(withID: "t1000") { $0.body["state"] = "gone" }
      try store.updateDocument(withID: "t1010") { $0.body["title"] = "same values" }
      try store.deleteDocument(withID: "t1020")
      #expect(try store.listIndexes().map(\.entries) == [19])
      // A revision that is made elsewhere, and wins.
      let rival = try #require(RevisionID("9-a"))
      try store.write {
        try $0.forceInsert(
          DocumentRevision(id: "t1030", revisionID: rival, body: ["state": "done", "due": 1]))
      }
      #expect(try store.listIndexes().map(\.entries) == [18])
      #expect(try store.checkIndexes() == [])
      #expect(try store.read { try $0.count(Query(["state": "open"])) } == 18)
    }
  }

  @Test func `it is used where the selector implies its filter, and explain says why not`() throws {
    try withTemporaryDatastore { store in
      try fill(store)
      try store.ensureIndexed(["due"], .where(["state": ["$in": ["open", "new"]]]), name: "open")
      let filter = #"{"state":{"$in":["new","open"]}}"#
      #expect(
        try reason(store, ["selector": ["state": "open", "due": ["$gt": 30]]]) == "used, it costs least")
      #expect(try reason(store, ["selector": ["state": "open"]]) == "used, it costs least")
      for selector: JSONObject in [["due": ["$gt": 30]], ["state": "done"], ["state": ["$gte": "new"]]] {
        #expect(
          try reason(store, ["selector": .object(selector)])
            == "not used, it only holds documents that match \(filter), which the selector does not imply")
      }
      let named: JSONObject = ["selector": ["due": ["$gt": 30]], "use_index": "open"]
      #expect(try reason(store, named)?.hasPrefix("not used, it only holds") == true)
      #expect(try store.read { try $0.find(Query(request: named)) }.count == 76)
    }
  }

  @Test func `conditions that the filter implies are not left to the matcher`() throws {
    try withTemporaryDatastore { store in
      try fill(store)
      try store.ensureIndexed(["due"], .where(["state": "open"]), name: "open")
      let plan = try explain(store, ["selector": ["state": "open", "due": ["$gt": 30]], "fields": ["_id"]])
      #expect(plan.json["residual"] == "nothing" && plan.json["covered"] == true)
      let other = try explain(store, ["selector": ["state": "open", "title": "x"]])
      #expect(other.json["residual"] == #"{"title":{"$eq":"x"}}"#)
    }
  }

  @Test func `its order serves a sort where it is implied`() throws {
    try withTemporaryDatastore { store in
      try fill(store)
      try store.ensureIndexed(["due"], .where(["state": "open"]), name: "open")
      let request: JSONObject = ["selector": ["state": "open"], "sort": [["due": "desc"]], "limit": 3]
      #expect(try explain(store, request).json["order"] == "by the index, backwards")
      #expect(try store.read { try $0.find(Query(request: request)) }.map { $0.body["due"] } == [40, 40, 40])
      #expect(
        try explain(store, ["selector": [:], "sort": ["due"], "limit": 3]).json["order"] != "by the index")
    }
  }

  @Test func `branches of a disjunction use it each for itself`() throws {
    try withTemporaryDatastore { store in
      try fill(store, 2_000)
      try store.ensureIndexed(["due"], .where(["state": "open"]), name: "open")
      try store.ensureIndexed(["title"])
      let request: JSONObject = ["selector": ["$or": [["state": "open", "due": 7], ["title": "x"]]]]
      #expect(try explain(store, request).considered.map(\.isUsed) == [true, true])
      #expect(try differencesFromMatcher(store, [request]) == [])
    }
  }

  @Test func `it is kept with its filter when the file is lost, and in a backup`() throws {
    try withTemporaryDatastore { store in
      try fill(store)
      try store.ensureIndexed(["due"], .where(["state": "open"]), name: "open")
      try store.ensureIndexed(["due"], IndexOptions(where: ["state": "x"], unique: true), name: "unique")
      let definitions = try store.listIndexes().map(\.definition)
      let manager = try store.indexManager()
      manager.replaceDamagedFile()
      try store.updateIndexes()
      #expect(try store.listIndexes().map(\.definition) == definitions)
      #expect(try store.listIndexes().map(\.entries) == [20, 0])
      let saved = try store.indexDefinitionsJSON()
      for definition in definitions { try store.deleteIndex(named: definition.name) }
      #expect(try store.createIndexes(ofBackup: saved) == [])
      #expect(try store.listIndexes().map(\.definition) == definitions)
    }
  }

  @Test func `another filter under its name is refused`() throws {
    try withTemporaryDatastore { store in
      try store.ensureIndexed(["due"], .where(["state": "open"]), name: "open")
      let error = #expect(throws: QueryError.self) { try store.ensureIndexed(["due"], name: "open") }
      #expect(
        error?.description
          == #"name: the index "open" already exists with other options, {"where":{"state":{"$eq":"open"}}}; delete it or choose another name"#
      )
    }
  }

  @Test func `its statistics are of its own documents`() throws {
    try withTemporaryDatastore { store in
      try fill(store, 4_000)
      try store.ensureIndexed(["due"], .where(["due": 49]), name: "few")
      try store.ensureIndexed(["due"], name: "all")
      let view = try store.read { try $0.indexView(store.indexManager()) }
      let statistics = try #require(view.catalog.entry(named: "few")?.statistics)
      #expect(statistics.rows == 80 && statistics.documents == 4_000)
      #expect(
        statistics.fields[0].keys.allSatisfy { $0 == OrderKey(.int(49)) }
          && statistics.fields[0].keys.count == 80)
    }
  }

  @Test func `a design document defines it as CouchDB's does`() throws {
    try withTemporaryDatastore { store in
      try fill(store)
      let body: JSONObject = [
        "language": "query",
        "views": [
          "open": ["map": ["fields": ["due": "asc"], "partial_filter_selector": ["state": "open"]]],
          "one": ["map": ["fields": ["due": "asc"], "unique": true]],
        ],
      ]
      try store.createDocument(from: DocumentDraft(id: "_design/tasks", body: body))
      let indexes = try store.listIndexes()
      #expect(indexes.map(\.definition.options.filter) == [nil, ["state": ["$eq": "open"]]])
      #expect(indexes.map(\.definition.options.isUnique) == [true, false])
      #expect(try store.checkDesignDocuments() == [])
      // Another filter is another index.
      try store.updateDocument(withID: "_design/tasks") {
        $0.body["views"]?["open"]?["map"]?["partial_filter_selector"] = ["state": "done"]
      }
      try store.updateIndexes()
      #expect(try store.listIndexes().last?.entries == 180)
    }
  }
}
