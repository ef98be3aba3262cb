import CDTDatastore
import CDTJSON
import CDTServerTestSupport
import Testing

/// Views that are made of fields.
@Suite struct ViewTests {
  private static func view(_ fields: JSONValue, _ reduce: String, value: JSONValue = "total") -> JSONValue {
    ["map": ["fields": fields, "value": value], "reduce": .string(reduce)]
  }

  private static func withOrders(_ body: (RunningServer) async throws -> Void) async throws {
    try await withServer { server in
      let design: JSONValue = [
        "language": "query",
        "views": [
          "city": view(["city": "asc"], "_sum"), "stats": view(["city": "asc", "year": "asc"], "_stats"),
          "count": ["map": ["fields": ["city": "asc", "year": "asc"]], "reduce": "_count"],
          "all": view([:], "_sum"),
          "index": [
            "map": ["fields": ["city": "asc"]], "reduce": "_count", "options": ["def": ["fields": ["city"]]],
          ],
          "code": ["map": "function (doc) { emit(doc._id) }"],
        ],
      ]
      let saved = try await server.put("/db/_design/sales", design)
      #expect(saved.status == 201)
      let orders: [JSONValue] = [
        ["_id": "a", "city": "Bern", "year": 2025, "total": 7],
        ["_id": "b", "city": "Bern", "year": 2026, "total": 5.5],
        ["_id": "c", "city": "Zug", "year": 2026, "total": 1],
        ["_id": "d", "city": "Zug", "year": 2026, "total": 3],
        ["_id": "e", "city": "Zug"], ["_id": "f", "total": 100, "year": 2026],
        ["_id": "_design/g", "city": "Bern", "year": 2025, "total": 1_000],
      ]
      let written = try await server.post("/db/_bulk_docs", ["docs": .array(orders)])
      #expect(written.status == 201)
      try await body(server)
    }
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let rows: [String]
  }

  static let cases = [
    Case(testDescription: "city", rows: [#"{"key":null,"value":16.5}"#]),
    Case(
      testDescription: "city?group=true",
      rows: [#"{"key":"Bern","value":12.5}"#, #"{"key":"Zug","value":4}"#]),
    Case(
      testDescription: "city?group=true&descending=true&limit=1", rows: [#"{"key":"Zug","value":4}"#]),
    Case(testDescription: "city?group=true&skip=1", rows: [#"{"key":"Zug","value":4}"#]),
    Case(testDescription: "city?group=true&limit=0", rows: []),
    Case(testDescription: #"city?key="Bern""#, rows: [#"{"key":null,"value":12.5}"#]),
    Case(testDescription: #"city?startkey="C""#, rows: [#"{"key":null,"value":4}"#]),
    Case(
      testDescription: #"city?endkey="Zug"&inclusive_end=false&group=true"#,
      rows: [#"{"key":"Bern","value":12.5}"#]),
    Case(
      testDescription: #"city?startkey="Zug"&descending=true&group_level=1&limit=1"#,
      rows: [#"{"key":"Zug","value":4}"#]),
    Case(testDescription: #"city?startkey={}"#, rows: []),
    Case(
      testDescription: #"city?keys=["Zug","Rome","Bern"]&group=true"#,
      rows: [#"{"key":"Zug","value":4}"#, #"{"key":"Bern","value":12.5}"#]),
    Case(testDescription: "all", rows: [#"{"key":null,"value":116.5}"#]),
    Case(testDescription: "all?reduce=false&limit=1", rows: [#"{"id":"a","key":null,"value":7}"#]),
    Case(testDescription: "all?startkey=null&endkey=null", rows: [#"{"key":null,"value":116.5}"#]),
    Case(testDescription: "all?startkey=1", rows: []),
    Case(testDescription: "count", rows: [#"{"key":null,"value":4}"#]),
    Case(
      testDescription: "count?group_level=1",
      rows: [#"{"key":["Bern"],"value":2}"#, #"{"key":["Zug"],"value":2}"#]),
    Case(
      testDescription: "count?group=true",
      rows: [
        #"{"key":["Bern",2025],"value":1}"#, #"{"key":["Bern",2026],"value":1}"#,
        #"{"key":["Zug",2026],"value":2}"#,
      ]),
    Case(
      testDescription: #"count?startkey=["Bern"]&endkey=["Bern",{}]&group_level=1"#,
      rows: [#"{"key":["Bern"],"value":2}"#]),
    Case(
      testDescription: #"count?startkey=["Bern",2026]&endkey=["Zug",2026]&group=true"#,
      rows: [#"{"key":["Bern",2026],"value":1}"#, #"{"key":["Zug",2026],"value":2}"#]),
    Case(
      testDescription: #"count?startkey=["Bern",2025,1]&endkey=["Zug",2026,0]&group=true"#,
      rows: [#"{"key":["Bern",2026],"value":1}"#, #"{"key":["Zug",2026],"value":2}"#]),
    Case(testDescription: #"count?startkey=[]&endkey=["Zug"]"#, rows: [#"{"key":null,"value":2}"#]),
    Case(testDescription: #"count?endkey="Zug""#, rows: []),
    Case(testDescription: #"count?endkey={}"#, rows: [#"{"key":null,"value":4}"#]),
    Case(
      testDescription: #"count?reduce=false&startkey=["Zug"]"#,
      rows: [#"{"id":"c","key":["Zug",2026],"value":null}"#, #"{"id":"d","key":["Zug",2026],"value":null}"#]),
    Case(
      testDescription: "stats",
      rows: [#"{"key":null,"value":{"sum":16.5,"count":4,"min":1,"max":7,"sumsqr":89.25}}"#]),
    Case(
      testDescription: #"stats?key=["Zug",2026]&group=true"#,
      rows: [#"{"key":["Zug",2026],"value":{"sum":4,"count":2,"min":1,"max":3,"sumsqr":10}}"#]),
    Case(
      testDescription: "city?reduce=false&descending=true&limit=2",
      rows: [#"{"id":"d","key":"Zug","value":3}"#, #"{"id":"c","key":"Zug","value":1}"#]),
  ]

  @Test(arguments: cases) func `a part of a view`(wanted: Case) async throws {
    try await Self.withOrders { server in
      let reply = try await server.get("/db/_design/sales/_view/\(wanted.testDescription)".encoded)
      #expect(reply.status == 200)
      #expect(reply.json["rows"]?.arrayValue?.map(\.text) == wanted.rows)
    }
  }

  struct Refusal: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let status: Int
    let error: String
  }

  static let refusals = [
    Refusal(testDescription: "sales/_view/code", status: 501, error: "not_implemented"),
    Refusal(testDescription: "sales/_view/index", status: 501, error: "not_implemented"),
    Refusal(testDescription: "sales/_view/none", status: 404, error: "not_found"),
    Refusal(testDescription: "none/_view/city", status: 404, error: "not_found"),
    Refusal(testDescription: "sales/_view/city?include_docs=true", status: 400, error: "query_parse_error"),
    Refusal(testDescription: #"sales/_view/city?keys=["Bern"]"#, status: 400, error: "query_parse_error"),
    Refusal(
      testDescription: "sales/_view/city?reduce=false&group=true", status: 400, error: "query_parse_error"),
    Refusal(
      testDescription: #"sales/_view/city?startkey="b"&endkey="a""#, status: 400, error: "query_parse_error"),
    Refusal(testDescription: "sales/_view/city?group_level=-1", status: 400, error: "query_parse_error"),
    Refusal(testDescription: "sales/_view/city?reduce=5", status: 400, error: "query_parse_error"),
    Refusal(testDescription: "sales/_view/city?key=x", status: 400, error: "query_parse_error"),
  ]

  @Test(arguments: refusals) func `a request that a view can't answer is an error`(wanted: Refusal)
    async throws
  {
    try await Self.withOrders { server in
      let reply = try await server.get("/db/_design/\(wanted.testDescription)".encoded)
      #expect(reply.status == wanted.status)
      #expect(reply.json["error"] == .string(wanted.error))
    }
  }

  @Test func `a view follows changes, and errors of sums are values`() async throws {
    try await Self.withOrders { server in
      let path = "/db/_design/sales/_view"
      let order = try await server.get("/db/a").json
      _ = try await server.put(
        "/db/a", ["_rev": order["_rev"] ?? nil, "city": "Ulm", "year": 2027, "total": "none"])
      let rows = try await server.get("\(path)/city?group=true").json["rows"]
      #expect(rows?[0]?["value"] == 5.5)
      #expect(rows?[1]?["value"]?["error"] == "builtin_reduce_error")
      #expect(rows?[2]?["value"] == 4)
      let stats = try await server.get("\(path)/stats").json["rows"]
      #expect(stats?[0]?["value"]?["error"] == "builtin_reduce_error")
      let rest = try await server.post(
        "\(path)/city/queries", ["queries": [["key": "Zug"], ["reduce": false, "key": "Ulm"]]])
      #expect(rest.json["results"]?[0]?["rows"]?[0]?["value"] == 4)
      #expect(rest.json["results"]?[1]?["rows"]?[0]?["id"] == "a")
    }
  }

  @Test func `a view answers while there is a document that has expired and can't be deleted`() async throws {
    try await Self.withOrders { server in
      let revision = "\(Int.max - 1)-\(String(repeating: "f", count: 32))"
      let sent: JSONValue = ["_rev": .string(revision), "city": "Zug", "total": 1]
      #expect(try await server.put("/db/last?new_edits=false", sent).status == 201)
      let changed: JSONValue = ["_rev": .string(revision), "city": "Zug", "total": 1, "at": 1]
      #expect(try await server.put("/db/last", changed).status == 201)
      let index: JSONValue = ["index": ["fields": ["at"], "expireAfter": 1], "name": "expire"]
      #expect(try await server.post("/db/_index", index).status == 200)
      #expect(try await server.get("/db/last").status == 404)
      let reply = try await server.get("/db/_design/sales/_view/city")
      #expect(reply.status == 200)
      #expect(reply.json["rows"]?[0]?["value"] == 17.5)
    }
  }

  @Test func `a view without fields has the total`() async throws {
    try await Self.withOrders { server in
      let view: JSONValue = ["map": ["fields": [:], "value": "total"], "reduce": "_stats"]
      let body: JSONValue = ["language": "query", "views": ["total": view]]
      #expect(try await server.put("/db/_design/all", body).status == 201)
      let rows = try await server.get("/db/_design/all/_view/total").json["rows"]
      #expect(
        rows?.text == #"[{"key":null,"value":{"sum":116.5,"count":5,"min":1,"max":100,"sumsqr":10089.25}}]"#,
        "\(rows?.text ?? "none")")
      #expect(try await server.put("/db/large", ["city": "Zug", "total": 1e200]).status == 201)
      let large = try await server.get("/db/_design/all/_view/total").json["rows"]?[0]?["value"]
      #expect(large?["sumsqr"] == .null && large?["sum"] == 1e200)
    }
  }

  @Test func `an index by which documents expire names values that are not dates`() async throws {
    try await Self.withOrders { server in
      #expect(try await server.put("/db/late", ["at": 4_000_000_000_000]).status == 201)
      let index: JSONValue = ["index": ["fields": ["at"], "expireAfter": 1], "name": "seconds"]
      let made = try await server.post("/db/_index", index)
      #expect(made.json["result"] == "created")
      #expect(
        made.json["warning"]?.stringValue?.hasPrefix(
          #"1 document never expires by the index "_design/seconds/seconds" as "at" is not a date, such as "late""#
        ) == true)
      let other: JSONValue = [
        "index": ["fields": ["at"], "expireAfter": 1, "milliseconds": true], "name": "milliseconds",
      ]
      #expect(try await server.post("/db/_index", other).json["warning"] == nil)
      let listed = try await server.get("/db/_index").json["indexes"]?.arrayValue ?? []
      #expect(listed.contains { $0["name"] == "milliseconds" && $0["def"]?["milliseconds"] == true })
      let wrong: JSONValue = ["index": ["fields": ["at"], "milliseconds": 1], "name": "x"]
      #expect(try await server.post("/db/_index", wrong).status == 400)
    }
  }

  @Test func `rows come with the documents, the number of all, and the sequence`() async throws {
    try await Self.withOrders { server in
      let reply = try await server.post(
        "/db/_design/sales/_view/city",
        ["reduce": false, "startkey": "C", "include_docs": true, "update_seq": true, "skip": 1])
      #expect(reply.json["total_rows"] == 4)
      #expect(reply.json["offset"] == 3)
      #expect(reply.json["rows"]?[0]?["doc"]?["total"] == 3)
      #expect(reply.json["update_seq"]?.stringValue?.isEmpty == false)
    }
  }
}
