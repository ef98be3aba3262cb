import CDTDatastore
import CDTJSON
import CDTQuery
import CDTServer
import CDTServerTestSupport
import CDTTestSupport
import CouchDB
import Foundation
import Testing

/// The resources that the page needs besides those of CouchDB.
@Suite struct PageDataTests {
  private static func person(_ number: Int) -> JSONObject {
    var person: JSONObject = ["_id": .string("p\(1_000 + number)"), "age": .int(Int64(number % 100))]
    person["city"] = .string(["oslo", "rome", "bern", "kiel"][number % 4])
    person["pets"] = .array((0..<number % 3).map { JSONValue.int(Int64($0)) })
    return person
  }

  private static func withPeople(_ body: (RunningServer) async throws -> Void) async throws {
    try await withServer { server in
      let people = (0..<200).map { JSONValue.object(person($0)) }
      _ = try await server.post("/db/_bulk_docs", ["docs": .array(people)])
      try await body(server)
    }
  }

  private static func measured(_ server: RunningServer, _ selector: JSONValue) async throws -> JSONValue {
    let reply = try await server.post(
      "/db/_explain", ["selector": selector, "execution_stats": true, "limit": 10])
    #expect(reply.status == 200, "\(reply.text)")
    return reply.json["plan"]?["measured"] ?? .null
  }

  @Test func `the fields of the documents, and the operators`() async throws {
    try await Self.withPeople { server in
      _ = try await server.put("/db/_design/a", ["language": "query", "hidden": 1])
      let all = try await server.get("/db/_fields").json
      #expect(all["documents"] == 200)
      let paths = all["fields"]?.arrayValue?.compactMap { $0["path"]?.stringValue }
      #expect(paths == ["age", "city", "pets", "pets[]"])
      #expect(all["operators"]?.arrayValue?.contains("$elemMatch") == true)
      #expect(try await server.get("/db/_fields?limit=20").json["documents"] == 20)
      #expect(try await server.get("/db/_fields?limit=x").status == 400)
      #expect(all["fields"]?[0]?["sample"] == nil)
      let sampled = try await server.get("/db/_fields?statistics=true").json["fields"]
      // The few values are counted, each once in four documents.
      #expect(sampled?[1]?["counts"] == [["bern", 50], ["kiel", 50], ["oslo", 50], ["rome", 50]])
      #expect(sampled?[1]?["sample"] == nil)
      #expect(sampled?[2]?["counts"] == [])
      #expect(sampled?[3]?["path"] == "pets[]")
      #expect(sampled?[3]?["counts"] == [[0, 133], [1, 66]])
      // A hundred values are counted, too.
      #expect(sampled?[0]?["counts"]?.arrayValue?.count == 100)
      #expect(sampled?[0]?["sample"] == nil)
    }
  }

  @Test func `a damaged store does not hide the others`() async throws {
    let directory = try ServerDirectory()
    let manager = try DatastoreManager(directory: directory.path)
    for name in ["damaged", "whole"] { _ = try await manager.datastore(named: name) }
    try await manager.closeDatastore(named: "damaged")
    try directory.write(String(repeating: "no database ", count: 1_000), to: "damaged/db.sync")
    try await withServer(of: manager) { server in
      for rows in try await [
        server.get("/_dbs_info").json, server.post("/_dbs_info", ["keys": ["damaged", "whole"]]).json,
      ] {
        #expect(rows[0]?["key"] == "damaged")
        #expect(rows[0]?["info"] == nil)
        #expect(rows[0]?["error"]?.stringValue?.isEmpty == false)
        #expect(rows[0]?["reason"]?.stringValue?.isEmpty == false)
        #expect(rows[1]?["info"]?["db_name"] == "whole")
      }
    }
  }

  @Test func `all results of a query are a file`() async throws {
    try await Self.withPeople { server in
      let request = #"{"selector": {"age": {"$gte": 98}}, "fields": ["age", "pets"]}"#
      let query = "request=\(request.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
      let csv = try await server.get("/db/_results?format=csv&\(query)")
      #expect(csv.headers["content-type"] == "text/csv; charset=utf-8")
      #expect(csv.headers["content-disposition"] == "attachment")
      let rows = csv.text.split(separator: "\n")
      #expect(rows.first == "_id,_rev,age,pets")
      #expect(rows.map { $0.split(separator: ",").first } == ["_id", "p1098", "p1099", "p1198", "p1199"])
      #expect(rows.last?.hasSuffix(#",99,[0]"#) == true)
      let lines = try await server.get("/db/_results?\(query)")
      #expect(lines.text.hasPrefix(#"{"age":98,"pets":[0,1]}"# + "\n"))
      let ids = (0..<1_100).map { JSONValue.string("p\($0 + 1_000)") }
      let long: JSONValue = ["selector": ["_id": ["$in": .array(ids)]]]
      #expect(long.text.utf8.count > 8_000)
      let posted = try await server.post("/db/_results?format=csv", long)
      #expect(posted.text.split(separator: "\n").count == 201)
      #expect(posted.headers["content-disposition"] == "attachment")
      #expect(try await server.post("/db/_results", ["selector": 5]).status == 400)
      for other in [#""include":{"x":"city"}"#, #""group":{"by":["city"]}"#] {
        let body = try JSONValue(parsing: "{\"selector\":{},\(other)}")
        #expect(try await server.post("/db/_results", body).status == 400, "\(other)")
      }
      // Without a limit, all are sent.
      let all = try await server.get("/db/_results?format=json&request=%7B%22selector%22%3A%7B%7D%7D")
      #expect(all.json.arrayValue?.count == 200)
      for wrong in ["format=xls&\(query)", "request=%7B", "request=%7B%7D", "format=csv"] {
        #expect(try await server.get("/db/_results?\(wrong)").status == 400, "\(wrong)")
      }
    }
  }

  @Test(arguments: ["tsv", "table", "auto"])
  func `refuses a download in a format of the command line alone`(format: String) async throws {
    try await withServer { server in
      let reply = try await server.post("/db/_results?format=\(format)", ["selector": [:]])
      #expect(reply.status == 400)
      #expect(reply.json["reason"] == "`format` must be csv, json or jsonl.")
      #expect(try Repository.page("server.md").contains("`format`: `csv`, `json` or `jsonl`;"))
    }
  }

  @Test func `the ids of documents with a conflict`() async throws {
    try await Self.withPeople { server in
      #expect(try await server.get("/db/_conflicts").json == ["total_rows": 0, "ids": []])
      let edits: JSONValue = [
        "new_edits": false,
        "docs": [
          ["_id": "p1001", "_rev": "1-a"], ["_id": "p1007", "_rev": "1-b"], ["_id": "p1009", "_rev": "1-c"],
        ],
      ]
      #expect(try await server.post("/db/_bulk_docs", edits).status == 201)
      let page = try await server.get("/db/_conflicts?skip=1&limit=1").json
      #expect(page == ["total_rows": 3, "ids": ["p1007"]])
    }
  }

  @Test func `indexes with their sizes and the distribution of their values`() async throws {
    try await Self.withPeople { server in
      _ = try await server.post("/db/_index", ["index": ["fields": ["city"]], "name": "cities"])
      let plain = try await server.get("/db/_index").json["indexes"]
      #expect(plain?[1]?["statistics"] == nil)
      let index = try #require(try await server.get("/db/_index?statistics=true").json["indexes"]?[1])
      #expect(index["name"] == "cities")
      // One of them is the design document that defines the index.
      #expect(index["statistics"]?["entries"] == 201)
      #expect((index["statistics"]?["bytes"]?.intValue ?? 0) > 0)
      let field = try #require(index["statistics"]?["fields"]?[0])
      let sample = field["sample"]?.arrayValue?.compactMap(\.stringValue) ?? []
      #expect(sample == sample.sorted())
      #expect(Set(sample) == ["oslo", "rome", "bern", "kiel"])
    }
  }

  @Test func `an index of an app, and one of a design document, are built again and deleted`() async throws {
    try await Self.withPeople { server in
      let store = try await server.manager.datastore(named: "db")
      try await store.ensureIndexed(["age"], name: "ages")
      _ = try await server.post(
        "/db/_index", ["index": ["fields": ["city"]], "name": "cities", "ddoc": "all"])
      let named: [JSONValue] = [["ddoc": nil, "name": "ages"], ["ddoc": "_design/all", "name": "cities"]]
      for name in named {
        #expect(try await server.post("/db/_index/_rebuild", name).json == ["ok": true])
      }
      #expect(try store.checkIndexes().isEmpty)
      #expect(try await server.post("/db/_index/_delete", ["ddoc": nil, "name": "cities"]).status == 404)
      #expect(try await server.post("/db/_index/_rebuild", ["ddoc": "all", "name": "ages"]).status == 404)
      #expect(try await server.post("/db/_index/_delete", ["ddoc": "all"]).status == 400)
      for name in named {
        #expect(try await server.post("/db/_index/_delete", name).json == ["ok": true])
      }
      #expect(try store.listIndexes().isEmpty)
      #expect(try await server.get("/db/_design/all").status == 404)
    }
    try await withServer({ $0.isReadOnly = true }) { server async throws in
      for resource in ["_delete", "_rebuild"] {
        #expect(try await server.post("/db/_index/\(resource)", ["name": "ages"]).status == 403)
      }
    }
  }

  @Test func `a plan with what its sources were expected to give, and gave`() async throws {
    try await Self.withPeople { server in
      let scan = try await Self.measured(server, ["age": ["$lt": 10]])
      #expect(scan["matched"] == 20)
      #expect(scan["results"] == 10)
      #expect(scan["candidates"] == 200)
      #expect(scan["source"]?["actual"] == ["rows": 200, "documents": 200])
      #expect(scan["suggested"] == [["age": "asc"]])
      let store = try await server.manager.datastore(named: "db")
      try await store.ensureIndexed(["age"])
      let ranged = try await Self.measured(server, ["age": ["$lt": 10]])
      #expect(ranged["source"]?["index"] == "age")
      #expect(ranged["source"]?["actual"] == ["rows": 20, "documents": 20])
      #expect(ranged["candidates"] == 20)
      #expect(ranged["suggested"] == .null)
      let either = try await Self.measured(server, ["$or": [["age": 7], ["_id": "p1007"]]])
      #expect(either["source"]?["source"] == "any of")
      #expect(either["source"]?["parts"]?.arrayValue?.count == 2)
      // A document of both branches counts once.
      #expect(either["source"]?["actual"] == ["rows": 3, "documents": 2])
      #expect(either["candidates"] == 2)
      #expect(either["matched"] == 2)
    }
  }

  @Test func `a plan is measured only if that is asked for`() async throws {
    try await Self.withPeople { server in
      let plain = try await server.post("/db/_explain", ["selector": [:]])
      #expect(plain.json["plan"]?["measured"] == nil)
    }
  }

  private static func measuredGroups(
    _ server: RunningServer, _ selector: JSONValue = [:], limit: Int64? = nil
  ) async throws -> (groups: JSONValue?, measured: JSONValue) {
    var query: JSONObject = [
      "selector": selector, "group": ["by": ["city"], "aggregates": ["n": ["$count": [:]]]],
      "execution_stats": true,
    ]
    if let limit { query["limit"] = .int(limit) }
    let reply = try await server.post("/db/_explain", .object(query))
    #expect(reply.status == 200, "\(reply.text)")
    return (reply.json["plan"]?["groups"], reply.json["plan"]?["measured"] ?? .null)
  }

  @Test func `a plan of groups has what the groups have read`() async throws {
    try await Self.withPeople { server in
      let scan = try await Self.measuredGroups(server, limit: 2)
      #expect(scan.groups == "from the documents")
      #expect(scan.measured["source"]?["actual"] == ["rows": 200, "documents": 200])
      // The limit is one of groups.
      #expect(scan.measured["results"] == 2)
      #expect(scan.measured["matched"] == 200)
      #expect(scan.measured["docs_examined"] == 200)
      #expect(scan.measured["keys_examined"] == 0)
      #expect(scan.measured["suggested"] == [["city": "asc"]])
      let few = try await Self.measuredGroups(server, ["age": ["$lt": 10]])
      #expect(few.measured["matched"] == 20)
      #expect(few.measured["suggested"] == [["age": "asc"], ["city": "asc"]])

      let store = try await server.manager.datastore(named: "db")
      try await store.ensureIndexed(["age", "city"], name: "both")
      let range = try await Self.measuredGroups(server, ["age": ["$lt": 10]])
      #expect(range.groups == "from the index alone")
      #expect(range.measured["source"]?["actual"] == ["rows": 20, "documents": 20])
      #expect(range.measured["keys_examined"] == 20)
      #expect(range.measured["docs_examined"] == 0)
      #expect(range.measured["suggested"] == .null)
      try store.deleteIndex(named: "both")
      try await store.ensureIndexed(["city"])
      let ordered = try await Self.measuredGroups(server)
      #expect(ordered.groups == "from the index alone, in its order")
      #expect(ordered.measured["keys_examined"] == 200)
      #expect(ordered.measured["results"] == 4)

      try await store.ensureIndexed(["city"], .summary())
      let summary = try await Self.measuredGroups(server)
      #expect(summary.groups == "from the groups of the summary")
      #expect(summary.measured["source"]?["actual"] == ["rows": 4, "documents": 200])
      #expect(summary.measured["keys_examined"] == 4)
      #expect(summary.measured["matched"] == 200)
      let refused = try await server.post(
        "/db/_find", ["selector": [:], "group": ["by": ["city"]], "execution_stats": true])
      #expect(refused.status == 400)
    }
  }

  @Test func `no index is wished for groups that it would not have`() async throws {
    try await Self.withPeople { server in
      let groups: [JSONValue] = [
        ["by": ["pets"], "unwind": "pets"], ["by": ["_rev"]], ["aggregates": ["n": ["$count": [:]]]],
      ]
      for group in groups {
        let query: JSONValue = ["selector": [:], "group": group, "execution_stats": true]
        let plan = try await server.post("/db/_explain", query).json["plan"]
        #expect(plan?["measured"]?["suggested"] == .null, "\(group)")
      }
      let pattern = try await Self.measuredGroups(server, ["name": ["$regex": "e$"]])
      #expect(pattern.measured["suggested"] == .null)
    }
  }
}
