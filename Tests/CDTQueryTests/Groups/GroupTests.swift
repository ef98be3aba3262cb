import CDTDatastore
import CDTJSON
import Testing

@testable import CDTQuery
@testable import CDTSelector

@Suite struct GroupTests {
  private static let orders = [
    #"{"_id":"a","city":"Bern","amount":7,"items":[{"name":"tea","price":2},{"name":"cup","price":5.50}]}"#,
    #"{"_id":"b","city":"Bern","amount":5.5,"items":[{"name":"tea","price":1.5}]}"#,
    #"{"_id":"c","city":"Zug","amount":1,"items":[]}"#,
    #"{"_id":"d","city":null,"amount":"none"}"#,
    #"{"_id":"e","amount":2}"#,
    #"{"_id":"f","city":"Zug"}"#,
  ]

  private static func withOrders<R>(
    _ indexes: [[SortField]] = [], _ body: (Datastore) throws -> R
  ) throws -> R {
    try withTemporaryDatastore { store in
      for text in orders {
        var body = try JSONObject(parsing: text)
        let id = body.removeValue(forKey: "_id")?.stringValue
        try store.createDocument(from: DocumentDraft(id: id, body: body))
      }
      for fields in indexes { try store.ensureIndexed(fields) }
      return try body(store)
    }
  }

  struct City: Decodable, Equatable {
    var city: String?
    var n: Int
    var total: Double
  }

  @Test func `rows are decoded`() async throws {
    try Self.withOrders { store in
      let totals = try GroupQuery(
        Query(["city": ["$gt": nil]]), by: ["city"], [.count(as: "n"), .sum("amount", as: "total")])
      let cities = try store.read { try $0.group(City.self, totals) }
      #expect(cities == [City(city: "Bern", n: 2, total: 12.5), City(city: "Zug", n: 2, total: 1)])
      let error = #expect(throws: QueryError.self) {
        let least = try GroupQuery(by: ["city"], [.count(as: "n"), .minimum("amount", as: "total")])
        return try store.read { try $0.group(City.self, least) }
      }
      #expect(error?.code == .undecodable)
      #expect(
        error?.message
          == #"the row {"city":null,"n":1,"total":"none"} can't be decoded as City: total: expected a number, found a string; "#
          + "give the property the name and the type of a member of the row, optional if documents can lack it"
      )
    }
  }

  struct Town: Decodable { var town: String, n: Int }

  @Test func `a row type whose property is not a member of the rows is an error that shows the row`()
    async throws
  {
    try Self.withOrders { store in
      let counts = try GroupQuery(Query(["city": ["$gt": nil]]), by: ["city"], [.count(as: "n")])
      let error = #expect(throws: QueryError.self) {
        try store.read { try $0.group(Town.self, counts) }
      }
      #expect(
        error?.message
          == #"the row {"city":"Bern","n":2} can't be decoded as Town: there is no member "town"; give the property the "#
          + "name and the type of a member of the row, optional if documents can lack it")
    }
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let request: String
    let rows: [String]
  }

  static let cases = [
    Case(
      testDescription: "a group for each value, one for null and one for missing",
      request: #"{"selector": {}, "group": {"by": ["city"], "aggregates": {"n": {"$count": {}}}}}"#,
      rows: [#"{"n":1}"#, #"{"city":null,"n":1}"#, #"{"city":"Bern","n":2}"#, #"{"city":"Zug","n":2}"#]),
    Case(
      testDescription: "every function",
      request: #"""
        {"selector": {"city": {"$type": "string"}}, "group": {"by": ["city"], "aggregates": {
          "sum": {"$sum": "amount"}, "mean": {"$avg": "amount"}, "least": {"$min": "amount"},
          "most": {"$max": "amount"}, "last": {"$max": "_id"}}}}
        """#,
      rows: [
        #"{"city":"Bern","sum":12.5,"mean":6.25,"least":5.5,"most":7,"last":"b"}"#,
        #"{"city":"Zug","sum":1,"mean":1,"least":1,"most":1,"last":"f"}"#,
      ]),
    Case(
      testDescription: "no number",
      request: #"""
        {"selector": {"_id": "d"}, "group": {"by": [], "aggregates": {
          "sum": {"$sum": "amount"}, "mean": {"$avg": "amount"}, "most": {"$max": "amount"}, "none": {"$min": "x"}}}}
        """#,
      rows: [#"{"sum":0,"mean":null,"most":"none","none":null}"#]),
    Case(
      testDescription: "without fields, one row also of no document",
      request: #"{"selector": {"city": "Rome"}, "group": {"aggregates": {"n": {"$count": {}}}}}"#,
      rows: [#"{"n":0}"#]),
    Case(
      testDescription: "elements of an array",
      request: #"""
        {"selector": {}, "group": {"by": ["items.name"], "unwind": "items",
          "aggregates": {"n": {"$count": {}}, "total": {"$sum": "items.price"}}}}
        """#,
      rows: [#"{"items":{"name":"cup"},"n":1,"total":5.5}"#, #"{"items":{"name":"tea"},"n":2,"total":3.5}"#]),
    Case(
      testDescription: "several values behind an array are an array",
      request: #"{"selector": {"items": {"$size": 2}}, "group": {"by": ["items.name"]}}"#,
      rows: [#"{"items":{"name":["tea","cup"]}}"#]),
    Case(
      testDescription: "having, sort and page",
      request: #"""
        {"selector": {}, "group": {"by": ["city"], "aggregates": {"n": {"$count": {}}, "sum": {"$sum": "amount"}},
          "having": {"city": {"$exists": true}}}, "sort": [{"n": "desc"}, {"sum": "asc"}], "skip": 1, "limit": 1}
        """#,
      rows: [#"{"city":"Bern","n":2,"sum":12.5}"#]),
    Case(
      testDescription: "by the id",
      request: #"""
        {"selector": {}, "group": {"by": ["_id"], "unwind": "items", "aggregates": {"n": {"$count": {}}},
          "having": {"_id": {"$gt": "a"}}}, "sort": [{"_id": "desc"}]}
        """#,
      rows: [#"{"_id":"b","n":1}"#]),
  ]

  @Test(arguments: cases) func groups(_ c: Case) throws {
    let query = try GroupQuery(request: JSONObject(parsing: c.request))
    let indexes: [[[SortField]]] = [
      [], [["city", "amount"]], [[.descending("city"), "amount", "_id"]], [["items.name"], ["items"]],
    ]
    for indexes in indexes {
      try Self.withOrders(indexes) { store in
        let rows = try store.read { try $0.group(query) }
        #expect(rows.map(\.text) == c.rows, "\(indexes)")
      }
    }
  }

  struct Refusal: Sendable, CustomTestStringConvertible {
    let request, error: String
    var testDescription: String { request }
  }

  static let refusals = [
    Refusal(request: #"{"group": {}}"#, error: "by: a group needs fields or aggregates; name a field"),
    Refusal(request: #"{"group": 1}"#, error: "group: this must be an object, not 1"),
    Refusal(
      request: #"{"group": {"bye": []}}"#,
      error: #"bye: a group has no key "bye"; its keys are by, aggregates, unwind and having"#),
    Refusal(
      request: #"{"group": {"by": [1]}}"#, error: "by[0]: this must be the path of a field, not 1"),
    Refusal(
      request: #"{"group": {"by": ["a..b"]}}"#,
      error:
        #"by[0]: the path "a..b" has an empty segment; name every segment; write "\." for a dot in a name"#),
    Refusal(
      request: #"{"group": {"by": ["$city"]}}"#,
      error: #"by[0]: a name that begins with a dollar sign must be escaped; write "\$city""#),
    Refusal(
      request: #"{"group": {"by": ["a", "a.b"]}}"#,
      error: #"by[1]: "a.b" overlaps another field of "by"; name one of them"#),
    Refusal(
      request: #"{"group": {"aggregates": {"n": {"$summ": "a"}}}}"#,
      error: #"aggregates.n.$summ: unknown function "$summ" (did you mean "$sum"?)"#),
    Refusal(
      request: #"{"group": {"aggregates": {"n": {"$median": "a"}}}}"#,
      error:
        #"aggregates.n.$median: unknown function "$median" (use $count, $sum, $avg, $min or $max)"#),
    Refusal(
      request: #"{"group": {"aggregates": {"n": "a"}}}"#,
      error: #"aggregates.n: this must be an object with one function, {"$sum": "amount"}, not "a""#),
    Refusal(
      request: #"{"group": {"aggregates": {"n": {"$count": "a"}}}}"#,
      error: #"aggregates.n.$count: this must be {}, not "a""#),
    Refusal(
      request: #"{"group": {"aggregates": {"a.b": {"$sum": "a"}}}}"#,
      error:
        #"aggregates.a.b: "a.b" can't be the name of an aggregate; use one without dots, dollar signs and backslashes, such as total"#
    ),
    Refusal(
      request: #"{"group": {"by": ["n.x"], "aggregates": {"n": {"$sum": "a"}}}}"#,
      error: #"aggregates.n: the rows already have a member "n"; use another name"#),
    Refusal(
      request: #"{"group": {"by": ["a"], "unwind": "_id"}}"#,
      error: #"unwind: "_id" is never an array; name a field of the documents"#),
    Refusal(
      request: #"{"group": {"by": ["city"], "having": {"cty": 1}}}"#,
      error: #"having.cty: the rows have no member "cty" (did you mean "city"?)"#),
    Refusal(
      request: #"{"group": {"by": ["city"], "having": {"city": {"$gtt": 1}}}}"#,
      error: #"having.city.$gtt: unknown operator "$gtt" (did you mean "$gt"?)"#),
    Refusal(
      request: #"{"group": {"by": ["city"]}, "sort": ["amount"]}"#,
      error: #"sort[0]: the rows have no member "amount" (they have city)"#),
    Refusal(
      request: #"{"group": {"by": ["city"]}, "fields": ["city"]}"#,
      error: #"fields: "fields" can't be combined with groups; name them in "by""#),
  ]

  @Test(arguments: refusals) func rejects(_ c: Refusal) throws {
    var request = try JSONObject(parsing: c.request)
    request["selector"] = [:]
    let error = #expect(throws: QueryError.self) { try GroupQuery(request: request) }
    #expect(error?.description == c.error)
  }

  @Test func `a group has at most 32 fields and 32 aggregates`() throws {
    let paths = (0..<33).map { "f\($0)" }
    _ = try GroupQuery(by: Array(paths.dropLast()), (0..<32).map { .count(as: "n\($0)") })
    let fields = #expect(throws: QueryError.self) { try GroupQuery(by: paths) }
    #expect(fields?.description == "by: a group has at most 32 fields, not 33; use fewer")
    let aggregates = #expect(throws: QueryError.self) { try GroupQuery(by: [], paths.map { .count(as: $0) }) }
    #expect(aggregates?.code == .tooLarge)
    #expect(aggregates?.path == "aggregates")
  }

  @Test func `parts that were changed are checked when the query runs`() throws {
    try Self.withOrders { store in
      var query = try GroupQuery(by: ["city"])
      query.fields = []
      #expect(throws: QueryError.self) { try store.read { try $0.group(query) } }
      query = try GroupQuery(by: ["city"])
      query.query.skip = -1
      #expect(throws: QueryError.self) { try store.read { try $0.group(query) } }
    }
  }

  @Test func `an index that has every field answers alone`() throws {
    try Self.withOrders([["city", "amount"]]) { store in
      let query = try GroupQuery(Query(["city": ["$gte": "A"]]), by: ["city"], [.sum("amount", as: "sum")])
      let explanation = try store.read { try $0.explain(query) }
      #expect(explanation.json["groups"] == "from the index alone, in its order")
      #expect(explanation.json["covered"] == true)
      #expect(explanation.description.contains("├ groups: from the index alone, in its order\n"))
      let other = try GroupQuery(by: ["amount"], [.count()])
      #expect(try store.read { try $0.explain(other) }.json["groups"] == "from the index alone")
      let more = try GroupQuery(by: ["city"], [.sum("price", as: "sum")])
      #expect(try store.read { try $0.explain(more) }.json["groups"] == "from the documents")
    }
  }

  @Test func `an index in the order of the groups is taken before other indexes`() throws {
    try Self.withOrders([["amount", "city"], ["city"]]) { store in
      let explanation = try store.read { try $0.explain(GroupQuery(by: ["city"], [.count()])) }
      #expect(explanation.json["groups"] == "from the index alone, in its order")
    }
  }

  @Test func `a page of an index has the groups of null and missing fields`() throws {
    try Self.withOrders([["city", "amount"]]) { store in
      let rows = try store.group(by: ["city"], .count(as: "n"), .sum("amount", as: "sum"), limit: 2)
      #expect(rows.map(\.text) == [#"{"n":1,"sum":2}"#, #"{"city":null,"n":1,"sum":0}"#])
      try store.write { transaction in
        try transaction.createDocument(from: DocumentDraft(id: "g", body: ["city": "Ulm", "amount": 3]))
        let query = try GroupQuery(by: ["city"], [.sum("amount", as: "sum")])
        #expect(try transaction.group(query).map { $0["sum"] } == [2, 0, 12.5, 3, 1])
      }
    }
  }

  @Test func `without a sort, a page ends the reading of an index in its order`() throws {
    try withTemporaryDatastore { store in
      try store.write { transaction in
        for number in 0..<2_000 {
          let body: JSONObject = ["city": .int(Int64(number / 4))]
          try transaction.createDocument(from: DocumentDraft(id: "d\(number)", body: body))
        }
      }
      try store.ensureIndexed([.descending("city")])
      let rows = try store.group(by: ["city"], .count(as: "n"), skip: 3, limit: 2)
      #expect(rows.map(\.text) == [#"{"city":3,"n":4}"#, #"{"city":4,"n":4}"#])
    }
  }

  @Test func `groups beyond the memory are sorted`() throws {
    try withTemporaryDatastore { store in
      try store.write { transaction in
        for number in 0..<3_000 {
          let body: JSONObject = [
            "city": .string("city \(number % 1_000)"), "amount": .double(Double(number) / 8),
          ]
          try transaction.createDocument(from: DocumentDraft(id: "d\(number)", body: body))
        }
      }
      let query = try GroupQuery(
        by: ["city"],
        [.count(), .sum("amount", as: "sum"), .average("amount", as: "mean"), .maximum("city", as: "last")])
      let groups = try ResolvedGroups(query)
      let rows = try store.read { transaction in
        let engine = try QueryEngine(transaction)
        let plan = try engine.planner(groups.documents, .groups).plan()
        return try engine.run(GroupPlan(groups: groups, plan: plan), memory: 20_000).rows
      }
      #expect(rows.count == 1_000)
      #expect(try store.read { try $0.group(query) }.map(\.text) == rows.map(\.text))
      #expect(rows.first?.text == #"{"city":"city 0","count":3,"sum":375,"mean":125,"last":"city 0"}"#)
    }
  }

  @Test func `a group is one row, though its least value has given memory back`() throws {
    try withTemporaryDatastore { store in
      let long = JSONValue.string(String(repeating: "z", count: 100_000))
      for (id, body) in [
        ("1", ["g": "a", "x": long]), ("2", ["g": "b"]), ("3", ["g": "a", "x": "y"]), ("4", ["g": "b"]),
      ]
        as [(String, JSONObject)]
      {
        try store.createDocument(from: DocumentDraft(id: id, body: body))
      }
      let groups = try ResolvedGroups(GroupQuery(by: ["g"], [.count(), .minimum("x", as: "least")]))
      let rows = try store.read { transaction in
        let engine = try QueryEngine(transaction)
        let plan = try engine.planner(groups.documents, .groups).plan()
        return try engine.run(GroupPlan(groups: groups, plan: plan), memory: 20_000).rows
      }
      #expect(
        rows.map(\.text) == [#"{"g":"a","count":2,"least":"y"}"#, #"{"g":"b","count":2,"least":null}"#])
    }
  }

  @Test func `distinct values are those of elements, too`() async throws {
    try await withTemporaryDatastore { store in
      for (id, tags) in [("a", ["red", "blue", "red"]), ("b", "red"), ("c", []), ("d", nil)]
        as [(String, JSONValue)]
      {
        try await store.createDocument(from: DocumentDraft(id: id, body: ["tags": tags, "n": 1.0]))
      }
      let values: [JSONValue] = [nil, "blue", "red"]
      #expect(try await store.distinct("tags") == values)
      try await store.ensureIndexed(["tags", "n"])
      #expect(try await store.distinct("tags") == values)
      #expect(try await store.distinct("tags", where: ["tags": "blue"]) == ["blue", "red"])
      try await store.ensureIndexed(["tags"])
      #expect(try await store.distinct("tags", where: ["tags": "blue"]) == ["blue", "red"])
      #expect(try await store.distinct("n").map(\.text) == ["1"])
      #expect(try await store.distinct("_id") == ["a", "b", "c", "d"])
      let rows = try await store.group(by: ["tags"], .count(), unwind: "tags", having: ["count": 3])
      #expect(rows.map(\.text) == [#"{"tags":"red","count":3}"#])
    }
  }

  @Test func `conditions on a model's properties select the documents`() throws {
    struct Order: Codable, Sendable {
      var city: String?
      var amount = 0.0
    }
    try Self.withOrders { store in
      let orders = try ModelQuery(Order.self, where: { $0.amount > 1 })
      let rows = try store.read { try $0.group(GroupQuery(orders.query, by: ["city"], [.count()])) }
      #expect(rows.last?.text == #"{"city":"Bern","count":2}"#)
    }
  }
}
