import CDTDatastore
import CDTJSON
import Testing

@testable import CDTQuery
@testable import CDTSelector

/// `_id` and `_rev` are fields of an index like any other.
@Suite struct DocumentFieldIndexTests {
  static let definitions: [[SortField]] = [
    ["type", "_id"], ["_id"], ["_rev", "a"], [.descending("_id"), "type"], ["type", .descending("_rev")],
    ["tags", "_id"], ["_rev", "_id"],
  ]

  private static func body(_ number: Int) -> JSONObject {
    [
      "type": .string("t\(number % 3)"), "a": .int(Int64(number % 4)),
      "tags": .array((0..<number % 3).map { .string("tag \($0)") }),
    ]
  }

  private static func fill(_ store: Datastore) throws {
    for number in 0..<40 {
      try store.createDocument(from: DocumentDraft(id: "d\(number * 7 % 40)", body: body(number)))
    }
  }

  /// What is asked, with the revision of a document.
  private static func requests(_ store: Datastore) throws -> [JSONObject] {
    let revision = JSONValue.string(try store.document(withID: "d7").revisionID.description)
    var requests: [JSONObject] = [
      ["selector": ["_rev": revision]], ["selector": ["_rev": ["$gte": revision]], "sort": ["_rev"]],
      ["selector": ["_rev": revision, "a": ["$gte": 0]]], ["selector": ["_rev": ["$ne": revision]]],
      ["selector": ["_rev": ["$in": [revision, "1-x"]], "a": ["$in": [0, 1, 2, 3]]]],
      ["selector": ["_id": ["$gt": "d2", "$lt": "d5"]]], ["selector": ["_id": ["$gt": 7]]],
      ["selector": ["_id": "d7", "type": "t1"]], ["selector": ["_id": ["$exists": false]]],
      ["selector": ["_id": ["$beginsWith": "d1"], "type": "t1"], "sort": ["_id"]],
      ["selector": ["type": "t1", "_id": ["$gte": "d3"]], "sort": [["_id": "desc"]], "limit": 4],
      ["selector": ["tags": "tag 0", "_id": ["$nin": ["d1", "d2"]]], "sort": ["_id"]],
      ["selector": ["$or": [["_id": "d3"], ["_rev": revision], ["type": "t2", "_id": ["$lt": "d2"]]]]],
    ]
    for selector in [[:], ["type": "t1"], ["type": ["$in": ["t0", "t2"]]], ["tags": "tag 1"]] as [JSONValue] {
      for sort in [
        ["_id"], [["_id": "desc"]], ["_rev"], [["_rev": "desc"]], ["type", "_id"],
        [["type": "desc"], ["_id": "desc"]], ["type", ["_id": "desc"]], ["type", "_rev"], ["_rev", "a"],
        ["tags"],
        ["tags", "_id"],
      ] as [JSONValue] {
        requests.append(["selector": selector, "sort": sort])
        requests.append(["selector": selector, "sort": sort, "skip": 3, "limit": 5])
      }
    }
    return requests
  }

  private static func check(_ store: Datastore, _ context: String) throws {
    let documents = try store.read { try $0.allDocuments() }
    var requests = try requests(store)
    if let name = try store.listIndexes().first?.name {
      requests += requests.map { request in
        var forced = request
        forced["use_index"] = .string(name)
        return forced
      }
    }
    for request in requests {
      let query = try Query(request: request)
      var whole = query
      (whole.skip, whole.limit) = (0, nil)
      let given = try store.read { try $0.find(query) }.map(\.json.text)
      let expected = try query.find(in: documents).map(\.json.text)
      let isOrdered = !query.sort.isEmpty
      #expect(
        isOrdered ? given == expected : given.sorted() == expected.sorted(), "\(request.text), \(context)")
      #expect(
        try store.read { try $0.count(query) } == whole.find(in: documents).count,
        "\(request.text), \(context)")
    }
    #expect(try store.checkIndexes() == [], "\(context)")
  }

  @Test(arguments: definitions) func `an index of the document's own fields follows every change`(
    _ fields: [SortField]
  ) throws {
    try withTemporaryDatastore { store in
      try Self.fill(store)
      try Self.check(store, "without an index")
      try store.ensureIndexed(fields)
      try Self.check(store, "at first")
      // Every write changes the revision, whatever it changes beside.
      for number in 0..<10 {
        try store.updateDocument(withID: "d\(number)") { $0.body["b"] = .int(Int64(number)) }
      }
      try Self.check(store, "after updates of other fields")
      for number in 10..<20 {
        try store.updateDocument(withID: "d\(number)") { $0.body["type"] = "t1" }
        try store.deleteDocument(withID: "d\(number + 10)")
      }
      try Self.check(store, "after updates and deletions")
      try store.createDocument(from: DocumentDraft(id: "d20", body: Self.body(1)))
      for (id, revision) in [("d7", "9-winner"), ("d8", "1-loser"), ("d21", "9-alive")] {
        try store.write {
          try $0.forceInsert(
            DocumentRevision(id: id, revisionID: try #require(RevisionID(revision)), body: Self.body(5)))
        }
      }
      try Self.check(store, "with conflicts")
      try store.write { try $0.resolveConflicts(for: "d7") { _, leaves in leaves.last } }
      try store.deleteDocument(withID: "d21")
      try Self.check(store, "after conflicts")
      try store.rebuildIndexes()
      try Self.check(store, "rebuilt")
    }
  }

  struct Order: Sendable, CustomTestStringConvertible {
    let index: [SortField]
    let request: String
    let order: String
    var testDescription: String { "\(index) for \(request)" }
  }

  static let orders = [
    Order(
      index: ["type", "_id"], request: #"{"selector": {"type": "t1"}, "sort": ["_id"]}"#,
      order: "by the index"),
    Order(
      index: ["type", "_id"], request: #"{"selector": {"type": "t1"}, "sort": [{"_id": "desc"}]}"#,
      order: "by the index, backwards"),
    Order(
      index: ["type", "_id"], request: #"{"selector": {}, "sort": ["type", "_id"]}"#, order: "by the index"),
    Order(index: ["type", "_id"], request: #"{"selector": {}, "sort": ["type"]}"#, order: "by the index"),
    Order(index: ["_rev", "a"], request: #"{"selector": {}, "sort": ["_rev"]}"#, order: "by the index"),
    Order(
      index: ["_rev", "a"], request: #"{"selector": {}, "sort": [{"_rev": "desc"}]}"#,
      order: "by the index, backwards"),
    Order(
      index: ["type", .descending("_rev")],
      request: #"{"selector": {"type": "t1"}, "sort": [{"_rev": "desc"}]}"#, order: "by the index"),
    Order(
      index: ["type", .descending("_id")],
      request: #"{"selector": {"type": "t1"}, "sort": [{"_id": "desc"}]}"#, order: "by the index"),
  ]

  @Test(arguments: orders) func `the order of an index on them is read as it lies`(_ c: Order) throws {
    try withTemporaryDatastore { store in
      try store.write { transaction in
        for number in 0..<3_000 {
          var body = Self.body(number)
          body["n"] = .int(Int64(number))
          try transaction.createDocument(from: DocumentDraft(id: "d\(number)", body: body))
        }
      }
      let name = try store.ensureIndexed(c.index)
      var query = try Query(parsing: c.request)
      query.limit = 10
      query.useIndex = name
      let explanation = try store.read { try $0.explain(query) }
      #expect(explanation.json["order"] == .string(c.order))
      #expect(explanation.json["indexes"]?[0]?["used"] == true)
      // Sorting a thousand rows would take many times as many.
      let steps = try store.read { state in
        try QueryEngine(state).withRun(query, .documents) { run in
          while try run.next() != nil {}
          return run.takeSteps()
        }
      }
      #expect(steps < 2_000, "\(steps) steps\n\(explanation)")
      let found = try store.read { try $0.find(query) }.map(\.id)
      #expect(try found == query.find(in: store.read { try $0.allDocuments() }).map(\.id))
    }
  }
}
