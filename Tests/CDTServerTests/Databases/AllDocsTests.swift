import CDTDatastore
import CDTJSON
import CDTServerTestSupport
import Testing

/// `_all_docs` and `_design_docs`.
@Suite struct AllDocsTests {
  /// `a` to `e`, a design document, and a deleted document `x`.
  private static func withDocuments(_ body: (RunningServer) async throws -> Void) async throws {
    try await withServer { server in
      let ids = ["c", "a", "e", "b", "d", "_design/one", "x"]
      _ = try await server.post(
        "/db/_bulk_docs", ["docs": .array(ids.map { ["_id": .string($0), "name": .string($0)] })])
      let revision = try await server.get("/db/x").json["_rev"]?.stringValue ?? ""
      _ = try await server.delete("/db/x?rev=\(revision)")
      try await body(server)
    }
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let ids: [String]
    var offset = 0
  }

  static let cases = [
    Case(testDescription: "", ids: ["_design/one", "a", "b", "c", "d", "e"]),
    Case(testDescription: #"startkey="b""#, ids: ["b", "c", "d", "e"], offset: 2),
    Case(testDescription: #"startkey="b"&endkey="d""#, ids: ["b", "c", "d"], offset: 2),
    Case(testDescription: #"start_key="b"&end_key="d"&inclusive_end=false"#, ids: ["b", "c"], offset: 2),
    Case(testDescription: #"startkey="d"&endkey="b"&descending=true"#, ids: ["d", "c", "b"], offset: 1),
    Case(testDescription: "descending=true&limit=2", ids: ["e", "d"]),
    Case(testDescription: "skip=2&limit=2", ids: ["b", "c"], offset: 2),
    Case(testDescription: #"startkey="b"&skip=9223372036854775807"#, ids: [], offset: 6),
    Case(testDescription: #"key="c""#, ids: ["c"], offset: 3),
    Case(testDescription: "limit=0", ids: []),
    Case(testDescription: "startkey=null", ids: ["_design/one", "a", "b", "c", "d", "e"]),
    Case(testDescription: "startkey=[]", ids: []),
    Case(testDescription: "endkey=5", ids: []),
    Case(testDescription: #"startkey="bb"&endkey="dd""#, ids: ["c", "d"], offset: 3),
  ]

  @Test(arguments: cases) func `a range of ids`(wanted: Case) async throws {
    try await Self.withDocuments { server in
      let reply = try await server.get("/db/_all_docs?\(wanted.testDescription)".encoded)
      #expect(reply.status == 200)
      #expect(reply.json["total_rows"] == 6)
      #expect(reply.json["offset"] == .int(Int64(wanted.offset)))
      #expect(reply.json["rows"]?.arrayValue?.compactMap { $0["id"]?.stringValue } == wanted.ids)
    }
  }

  @Test func `documents come in the order of the keys, also those that are missing`() async throws {
    try await Self.withDocuments { server in
      let rows = try await server.post(
        "/db/_all_docs?include_docs=true", ["keys": ["d", "none", "x", "a", 5]]
      ).json["rows"]
      #expect(rows?[0]?["doc"]?["name"] == "d")
      #expect(rows?[1] == ["key": "none", "error": "not_found"])
      #expect(rows?[2]?["value"]?["deleted"] == true)
      #expect(rows?[2]?["doc"] == .null)
      #expect(rows?[3]?["id"] == "a")
      #expect(rows?[4] == ["key": 5, "error": "not_found"])
      let byQuery = try await server.get(#"/db/_all_docs?keys=["a","b"]"#.encoded).json["rows"]
      #expect(byQuery?.arrayValue?.count == 2)
    }
  }

  @Test func `of many keys some can be left out, and their order reversed`() async throws {
    let cases: [(options: JSONObject, keys: [String])] = [
      (["limit": 2], ["d", "none"]), (["skip": 1, "limit": 2], ["none", "a"]),
      (["descending": true, "skip": 1], ["a", "none", "d"]), (["skip": .int(.max)], []),
    ]
    try await Self.withDocuments { server in
      for (options, keys) in cases {
        let request = JSONObject([("keys", ["d", "none", "a", "c"])] + options.map { ($0.key, $0.value) })
        let rows = try await server.post("/db/_all_docs", .object(request)).json["rows"]?.arrayValue
        #expect(rows?.compactMap { $0["key"]?.stringValue } == keys)
      }
    }
  }

  @Test func `design documents are listed apart`() async throws {
    try await Self.withDocuments { server in
      let reply = try await server.get("/db/_design_docs?include_docs=true").json
      #expect(reply["total_rows"] == 1)
      #expect(reply["rows"]?[0]?["doc"]?["_id"] == "_design/one")
    }
  }

  @Test func `the sequence of the documents comes along`() async throws {
    try await Self.withDocuments { server in
      let sequence = try await server.get("/db").json["update_seq"]
      #expect(try await server.get("/db/_all_docs?update_seq=true&limit=0").json["update_seq"] == sequence)
      #expect(try await server.post("/db/_all_docs", ["update_seq": true]).json["update_seq"] == sequence)
      #expect(try await server.get("/db/_all_docs").json["update_seq"] == nil)
    }
  }

  @Test func `several requests are answered at once`() async throws {
    try await Self.withDocuments { server in
      let reply = try await server.post(
        "/db/_all_docs/queries", ["queries": [["keys": ["a"]], ["limit": 2, "descending": true]]])
      #expect(reply.json["results"]?[0]?["rows"]?[0]?["id"] == "a")
      #expect(reply.json["results"]?[1]?["rows"]?[1]?["id"] == "d")
      #expect(try await server.post("/db/_all_docs/queries", [:]).status == 400)
    }
  }

  @Test func `more documents than a page of the server`() async throws {
    try await withServer { server in
      let documents = (0..<1_234).map { number -> JSONValue in ["_id": .string("d\(10_000 + number)")] }
      _ = try await server.post("/db/_bulk_docs", ["docs": .array(documents)])
      for order in ["false", "true"] {
        let rows = try await server.get("/db/_all_docs?descending=\(order)&skip=10").json["rows"]?.arrayValue
        #expect(rows?.count == 1_224)
        #expect(Set(rows?.compactMap { $0["id"]?.stringValue } ?? []).count == 1_224)
      }
    }
  }

  @Test func `the query of a request comes before its body`() async throws {
    try await withServer { server async throws in
      for id in ["a", "b"] { #expect(try await server.put("/db/\(id)", [:]).status == 201) }
      func count(_ path: String, _ body: JSONValue) async throws -> Int? {
        try await server.post(path, body).json["rows"]?.arrayValue?.count
      }
      #expect(try await count("/db/_all_docs?limit=0", ["limit": 1]) == 0)
      #expect(try await count("/db/_all_docs", ["limit": 1]) == 1)
      #expect(try await count("/db/_all_docs?limit=2", ["limit": 1]) == 2)
      #expect(try await count("/db/_all_docs?key=%22b%22", ["key": "c"]) == 1)
    }
  }

  @Test(arguments: [
    "limit=-1", "limit=x", "descending=maybe", "startkey=a", "keys=1", "skip=99999999999999999999",
    "keys=%5B%22a%22%5D&key=%22a%22", "keys=%5B%22a%22%5D&endkey=%22a%22",
  ])
  func `an invalid parameter`(query: String) async throws {
    try await withServer { server in
      let reply = try await server.get("/db/_all_docs?\(query)")
      #expect(reply.status == 400)
    }
  }
}
