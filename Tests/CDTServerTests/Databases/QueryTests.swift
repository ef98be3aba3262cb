import CDTDatastore
import CDTJSON
import CDTQuery
import CDTServer
import CDTServerTestSupport
import Foundation
import Testing

/// `_find`, `_explain` and `_index`.
@Suite struct ServerQueryTests {
  private static func withPeople(_ body: (RunningServer) async throws -> Void) async throws {
    try await withServer { server in
      let people = (0..<60).map { number -> JSONValue in
        [
          "_id": .string("p\(100 + number)"), "age": .int(Int64(number)),
          "name": .string(number % 2 == 0 ? "mike" : "zoe"),
        ]
      }
      _ = try await server.post("/db/_bulk_docs", ["docs": .array(people)])
      try await body(server)
    }
  }

  private static func ids(_ reply: RunningServer.Reply) -> [String] {
    reply.json["docs"]?.arrayValue?.compactMap { $0["_id"]?.stringValue } ?? []
  }

  @Test func `a query has 25 results and a bookmark for the next`() async throws {
    try await Self.withPeople { server in
      var query: JSONObject = ["selector": ["name": "mike"], "sort": [["age": "desc"]]]
      let first = try await server.post("/db/_find", .object(query))
      #expect(first.status == 200)
      #expect(Self.ids(first).count == 25)
      #expect(Self.ids(first).first == "p158")
      query["bookmark"] = first.json["bookmark"]
      let second = try await server.post("/db/_find", .object(query))
      #expect(Self.ids(second) == ["p108", "p106", "p104", "p102", "p100"])
      query["bookmark"] = second.json["bookmark"]
      let third = try await server.post("/db/_find", .object(query))
      #expect(Self.ids(third) == [])
      #expect(third.json["bookmark"] == second.json["bookmark"])
      query["bookmark"] = "nonsense"
      #expect(try await server.post("/db/_find", .object(query)).json["error"] == "invalid_bookmark")
    }
  }

  @Test func `linked documents come beside the results`() async throws {
    try await withServer { server in
      _ = try await server.put(
        "/db/a", ["n": 1, "to": "x", "all": [["to": "y"], ["to": ["x", "none", 5]]]])
      _ = try await server.put("/db/b", ["n": 2, "to": "gone"])
      let file: JSONValue = ["content_type": "text/plain", "data": "YQ=="]
      _ = try await server.put("/db/x", ["_attachments": ["f": file]])
      _ = try await server.put("/db/y", ["v": 1])
      let revision = try await server.put("/db/gone", [:]).json["rev"]?.stringValue ?? ""
      _ = try await server.delete("/db/gone?rev=\(revision)")
      var query: JSONObject = [
        "selector": ["n": ["$gt": 0]], "fields": ["n"], "include": ["one": "to", "two": "all[].to"],
      ]
      let reply = try await server.post("/db/_find", .object(query)).json
      #expect(reply["docs"] == [["n": 1], ["n": 2]] && reply["bookmark"]?.stringValue != nil)
      let x = try await server.get("/db/x").json
      let y = try await server.get("/db/y").json
      #expect(x["_attachments"]?["f"]?["stub"] == true)
      #expect(reply["included"] == ["one": ["x": x], "two": ["y": y, "x": x]])
      query["skip"] = 1
      #expect(
        try await server.post("/db/_find", .object(query)).json["included"] == ["one": [:], "two": [:]])
      query["include"] = [:]
      #expect(try await server.post("/db/_find", .object(query)).json["included"] == nil)
      let plan = try await server.post("/db/_explain", ["selector": [:], "include": ["o": "to"]]).json
      #expect(plan["plan"]?["include"] == "o by to")
      for (include, status, error) in [
        (5, 400, "invalid_include"), (["a": 5], 400, "invalid_include"), (["": "b"], 400, "invalid_include"),
        (["a": "_id"], 400, "invalid_selector_json"), (["a": "b..c"], 400, "invalid_selector_json"),
      ] as [(JSONValue, Int, JSONValue)] {
        let refused = try await server.post("/db/_find", ["selector": [:], "include": include])
        #expect(refused.status == status && refused.json["error"] == error, "\(include)")
      }
      let groups: JSONValue = ["selector": [:], "group": ["by": ["n"]], "include": ["a": "b"]]
      #expect(try await server.post("/db/_find", groups).json["error"] == "invalid_key")
      let files: JSONValue = ["selector": ["_attachments": ["$exists": true]], "include": ["a": "b"]]
      #expect(try await server.post("/db/_find", files).status == 400)
    }
  }

  @Test func `pages are read backwards, and have the bookmark of their first document`() async throws {
    try await withServer { server in
      let documents = (0..<9).map { number -> JSONValue in
        ["_id": .string("d\(number)"), "n": .int(Int64(number % 3))]
      }
      _ = try await server.post("/db/_bulk_docs", ["docs": .array(documents)])
      func ids(_ reply: RunningServer.Reply) -> [String] {
        reply.json["docs"]?.arrayValue?.compactMap { $0["_id"]?.stringValue } ?? []
      }
      var query: JSONObject = ["selector": ["n": ["$gte": 0]], "sort": ["n"], "limit": 4, "backward": true]
      let last = try await server.post("/db/_find", .object(query))
      #expect(ids(last) == ["d7", "d2", "d5", "d8"])
      query["bookmark"] = last.json["first_bookmark"]
      let before = try await server.post("/db/_find", .object(query))
      #expect(ids(before) == ["d3", "d6", "d1", "d4"])
      query["backward"] = false
      query["bookmark"] = before.json["bookmark"]
      #expect(ids(try await server.post("/db/_find", .object(query))) == ids(last))
      query["backward"] = nil
      #expect(try await server.post("/db/_find", .object(query)).json["first_bookmark"] == nil)
      query["backward"] = "yes"
      #expect(try await server.post("/db/_find", .object(query)).status == 400)
      let selector: JSONValue = ["_attachments": ["$exists": false]]
      let refused = try await server.post("/db/_find", ["selector": selector, "backward": true])
      #expect(refused.status == 400)
    }
  }

  @Test func `a bookmark goes on after the results that were skipped`() async throws {
    try await Self.withPeople { server in
      var query: JSONObject = [
        "selector": ["name": "mike"], "sort": [["age": "desc"]], "skip": 5, "limit": 2,
      ]
      let first = try await server.post("/db/_find", .object(query))
      #expect(Self.ids(first) == ["p148", "p146"])
      query["bookmark"] = first.json["bookmark"]
      query["skip"] = nil
      #expect(Self.ids(try await server.post("/db/_find", .object(query))) == ["p144", "p142"])
      query["skip"] = 1
      #expect(Self.ids(try await server.post("/db/_find", .object(query))) == ["p142", "p140"])
    }
  }

  @Test func `pages by _id, and by bookmark without a sort, hold every document once`() async throws {
    try await withServer { server in
      let ids = ["m", "c", "x", "d", "a", "B"]
      _ = try await server.post("/db/_bulk_docs", ["docs": .array(ids.map { ["_id": .string($0)] })])
      _ = try await server.put("/db/_design/a", ["views": [:]])
      var (found, last): ([String], String) = ([], "")
      while case let page = Self.ids(
        try await server.post("/db/_find", ["selector": ["_id": ["$gt": .string(last)]], "limit": 2])),
        let end = page.last
      {
        found += page
        last = end
      }
      #expect(found == ids.sorted())
      var query: JSONObject = ["selector": [:], "limit": 2]
      found = []
      while case let reply = try await server.post("/db/_find", .object(query)), !Self.ids(reply).isEmpty {
        found += Self.ids(reply)
        query["bookmark"] = reply.json["bookmark"]
        if found.count == 2 { _ = try await server.post("/db/_index", ["index": ["fields": ["n"]]]) }
      }
      #expect(found == ids.sorted())
    }
  }

  @Test func `only an index may answer if allow_fallback is false`() async throws {
    try await Self.withPeople { server in
      _ = try await server.post("/db/_index", ["index": ["fields": ["age"]], "name": "ages"])
      func find(_ selector: JSONValue, _ index: JSONValue = nil) async throws -> RunningServer.Reply {
        try await server.post(
          "/db/_find", ["selector": selector, "use_index": index, "allow_fallback": false])
      }
      #expect(try await find(["city": ["$gt": nil]]).json["error"] == "no_usable_index")
      #expect(try await find(["city": "Bonn"], "ages").json["error"] == "invalid_index")
      #expect(try await find(["age": 7], "nope").json["error"] == "invalid_index")
      for (selector, index) in [
        (["age": 7], nil), (["age": 7], "ages"), (["_id": ["$gt": nil]], nil),
      ] as [(JSONValue, JSONValue)] {
        #expect(try await find(selector, index).status == 200)
      }
      let other = try await server.post("/db/_find", ["selector": ["name": "zoe"], "use_index": "ages"])
      #expect(Self.ids(other).count == 25)
      #expect(other.json["warning"]?.stringValue?.contains("_design/ages was not used") == true)
    }
  }

  @Test func `groups of documents are rows`() async throws {
    try await Self.withPeople { server in
      _ = try await server.post("/db/_index", ["index": ["fields": ["name", "age"]], "name": "names"])
      let query: JSONObject = [
        "selector": ["age": ["$lt": 5]],
        "group": ["by": ["name"], "aggregates": ["n": ["$count": [:]], "total": ["$sum": "age"]]],
        "sort": [["total": "desc"]],
      ]
      let reply = try await server.post("/db/_find", .object(query))
      #expect(reply.status == 200)
      #expect(
        reply.json["groups"] == [["name": "mike", "n": 3, "total": 6], ["name": "zoe", "n": 2, "total": 4]])
      #expect(reply.json["docs"] == nil)
      // Rows have no limit of 25, and the design document of the index is not counted.
      var all: JSONObject = ["selector": [:], "group": ["by": ["age"]]]
      #expect(try await server.post("/db/_find", .object(all)).json["groups"]?.arrayValue?.count == 60)
      all["limit"] = 7
      #expect(try await server.post("/db/_find", .object(all)).json["groups"]?.arrayValue?.count == 7)
      let plan = try await server.post("/db/_explain", .object(query)).json
      #expect(plan["covering"] == true)
      #expect(plan["plan"]?["groups"] == "from the index alone, in its order")
    }
  }

  @Test func `statistics count what was read`() async throws {
    try await Self.withPeople { server in
      func statistics(_ selector: JSONValue) async throws -> JSONValue? {
        let query: JSONValue = ["selector": selector, "limit": 100, "execution_stats": true]
        return try await server.post("/db/_find", query).json["execution_stats"]
      }
      let scan = try await statistics(["age": ["$lt": 10]])
      #expect(scan?["total_docs_examined"] == 60 && scan?["results_returned"] == 10)
      _ = try await server.post("/db/_index", ["index": ["fields": ["age"]], "name": "ages"])
      let indexed = try await statistics(["age": 7])
      #expect(indexed?["total_keys_examined"] == 1 && indexed?["total_docs_examined"] == 1)
    }
  }

  @Test func `limit, skip, fields and statistics`() async throws {
    try await Self.withPeople { server in
      let reply = try await server.post(
        "/db/_find",
        [
          "selector": ["age": ["$gte": 10]], "sort": ["age"], "limit": 2, "skip": 3, "fields": ["age"],
          "execution_stats": true,
        ])
      #expect(reply.json["docs"] == [["age": 13], ["age": 14]])
      #expect(reply.json["execution_stats"]?["results_returned"] == 2)
      #expect(reply.json["warning"]?.stringValue?.hasPrefix("No matching index found") == true)
      // 0 means no limit, as everywhere; without a limit there are 25.
      #expect(try await server.post("/db/_find", ["selector": [:]]).json["docs"]?.arrayValue?.count == 25)
      for selector in [[:], ["_attachments": ["$exists": false]]] as [JSONValue] {
        let all = try await server.post("/db/_find", ["selector": selector, "limit": 0])
        #expect(all.json["docs"]?.arrayValue?.count == 60)
      }
      let rows = try await server.post(
        "/db/_find", ["selector": [:], "limit": 0, "group": ["by": ["age"]]])
      #expect(rows.json["groups"]?.arrayValue?.count == 60)
      let none = try await server.post("/db/_find", ["selector": ["age": 1_000]])
      #expect(none.json["bookmark"] == "nil")
    }
  }

  @Test func `a query that reads every document although it has an index has no warning`() async throws {
    try await withServer { server in
      let documents = (0..<200).map { JSONValue.object(["_id": .string("p\($0)"), "age": .int(Int64($0))]) }
      _ = try await server.post("/db/_bulk_docs", ["docs": .array(documents)])
      _ = try await server.post("/db/_index", ["index": ["fields": ["age"]], "name": "ages"])
      let all: JSONValue = ["selector": ["age": ["$gte": 0]], "sort": ["_id"], "limit": 3]
      let plan = try await server.post("/db/_explain", all).json
      #expect(plan["index"]?["name"] == "_all_docs")
      let found = try await server.post("/db/_find", all)
      #expect(Self.ids(found) == ["p0", "p1", "p10"])
      #expect(found.json["warning"] == nil)
      #expect(try await server.post("/db/_find", ["selector": ["name": "mike"]]).json["warning"] != nil)
    }
  }

  @Test func `an explanation has the members of CouchDB's`() async throws {
    try await Self.withPeople { server in
      _ = try await server.post("/db/_index", ["index": ["fields": ["age"]], "name": "ages"])
      _ = try await server.post("/db/_index", ["index": ["fields": ["name"]], "name": "names"])
      _ = try await server.post("/db/_index", ["index": ["fields": ["city"]], "name": "cities"])
      let plan = try await server.post("/db/_explain", ["selector": ["age": 7, "name": "zoe"]]).json
      #expect(plan["index"]?["name"] == "ages")
      #expect(plan["fields"] == [])
      #expect(plan["covering"] == false)
      #expect(plan["selector_hints"] == [])
      #expect(plan["opts"]?["partition"] == "")
      #expect(plan["opts"]?["r"] == 1)
      #expect(plan["opts"]?["stable"] == false)
      #expect(plan["opts"]?["stale"] == false)
      #expect(plan["opts"]?["update"] == true)
      let others = try #require(plan["index_candidates"]?.arrayValue)
      #expect(others.map { $0["index"]?["name"] } == ["names", "cities"])
      #expect(others.map { $0["analysis"]?["usable"] } == [true, false])
      #expect(others.map { $0["analysis"]?["ranking"] } == [1, 2])
      #expect(others[0]["analysis"]?["reasons"] == [["name": "another plan costs less"]])
      #expect(others[0]["analysis"]?["covering"] == false)
    }
  }

  @Test func `the name of an index may have a slash`() async throws {
    try await withServer { server in
      let index: JSONValue = ["index": ["fields": ["age"]], "name": "people/age"]
      let made = try await server.post("/db/_index", index)
      #expect(made.status == 200)
      for name in ["people/age", "_design/people/age", ["_design/people/age"]] as [JSONValue] {
        let query: JSONValue = ["selector": ["age": 1], "use_index": name, "allow_fallback": false]
        let found = try await server.post("/db/_find", query)
        #expect(found.status == 200)
      }
    }
  }

  @Test func `indexes are made, listed, used and deleted`() async throws {
    try await Self.withPeople { server in
      let wanted: JSONValue = [
        "index": ["fields": ["name", ["age": "asc"]]], "ddoc": "people", "name": "by_name", "type": "json",
      ]
      let made = try await server.post("/db/_index", wanted)
      #expect(made.json == ["result": "created", "id": "_design/people", "name": "by_name"])
      #expect(try await server.post("/db/_index", wanted).json["result"] == "exists")
      let list = try await server.get("/db/_index").json
      #expect(list["total_rows"] == 2)
      #expect(list["indexes"]?[0]?["name"] == "_all_docs")
      #expect(list["indexes"]?[1]?["ddoc"] == "_design/people")
      #expect(list["indexes"]?[1]?["def"]?["fields"] == [["name": "asc"], ["age": "asc"]])
      #expect(try await server.get("/db/_index?limit=1").json["indexes"]?.arrayValue?.count == 1)
      #expect(try await server.get("/db/_index?skip=1&limit=5").json["indexes"]?[0]?["name"] == "by_name")
      let plan = try await server.post("/db/_explain", ["selector": ["name": "zoe", "age": 7]]).json
      #expect(plan["dbname"] == "db")
      #expect(plan["index"]?["name"] == "by_name")
      let used = try await server.post(
        "/db/_find", ["selector": ["name": "zoe"], "use_index": ["_design/people", "by_name"]])
      #expect(used.json["warning"] == nil)
      for name: JSONValue in [
        [], ["by_name"], "people", "_design/people", "people/by_name", "_design/people/by_name",
        ["people", "by_name"],
      ] {
        let reply = try await server.post(
          "/db/_find", ["selector": ["name": "zoe"], "use_index": name, "allow_fallback": false])
        #expect(reply.status == 200, "\(name)")
      }
      let unknown = try await server.post("/db/_find", ["selector": ["name": "zoe"], "use_index": "nope"])
      #expect(unknown.json["warning"]?.stringValue?.contains("_design/nope was not used") == true)
      #expect(
        try await server.post("/db/_find", ["selector": [:], "use_index": "nope", "allow_fallback": false])
          .status == 400)
      #expect(try await server.delete("/db/_index/_design/people/json/by_name").json == ["ok": true])
      #expect(try await server.delete("/db/_index/people/json/by_name").status == 404)
      #expect(try await server.get("/db/_design/people").status == 404)
      #expect(
        try await server.post("/db/_index/_bulk_delete", ["docids": ["_design/x"]]).json["fail"]?.arrayValue?
          .count == 1)
    }
  }

  @Test func `members that the server adds are matched, with pages and fields`() async throws {
    try await withServer { server in
      for number in 0..<6 {
        var document: JSONObject = ["n": .int(Int64(number))]
        if number % 2 == 0 { document["_attachments"] = ["a.txt": ["data": "aGk="]] }
        _ = try await server.put("/db/p\(number)", .object(document))
      }
      for revision in ["1-a", "1-b"] {
        _ = try await server.post(
          "/db/_bulk_docs", ["new_edits": false, "docs": [["_id": "c", "_rev": .string(revision)]]])
      }
      let has: JSONValue = ["_attachments": ["$exists": true]]
      #expect(Self.ids(try await server.post("/db/_find", ["selector": has])) == ["p0", "p2", "p4"])
      let either: JSONValue = ["$or": [["_attachments.a\\.txt.length": 2], ["n": 1]], "n": ["$lt": 3]]
      #expect(Self.ids(try await server.post("/db/_find", ["selector": either])) == ["p0", "p1", "p2"])
      #expect(
        Self.ids(try await server.post("/db/_find", ["selector": ["$not": has]])) == ["c", "p1", "p3", "p5"])
      var page: JSONObject = ["selector": has, "limit": 1, "skip": 1, "fields": ["_id", "_attachments"]]
      let first = try await server.post("/db/_find", .object(page))
      #expect(Self.ids(first) == ["p2"])
      #expect(first.json["docs"]?[0]?["_attachments"]?["a.txt"]?["stub"] == true)
      page["bookmark"] = first.json["bookmark"]
      page["skip"] = nil
      #expect(Self.ids(try await server.post("/db/_find", .object(page))) == ["p4"])
      let conflicts: JSONObject = ["selector": ["_conflicts": ["$exists": true]]]
      #expect(Self.ids(try await server.post("/db/_find", .object(conflicts))).isEmpty)
      var requested = conflicts
      requested["conflicts"] = true
      #expect(Self.ids(try await server.post("/db/_find", .object(requested))) == ["c"])
      func fields(_ names: JSONValue, _ id: JSONValue) async throws -> JSONValue? {
        let query: JSONValue = ["selector": ["_id": id], "fields": names, "conflicts": true]
        return try await server.post("/db/_find", query).json["docs"]?[0]
      }
      let attachment: JSONValue = ["_attachments": ["a.txt": ["length": 2]]]
      #expect(try await fields(["_attachments.a\\.txt.length"], "p0") == attachment)
      #expect(try await fields(["n", "_attachments"], "p1") == ["n": 1])
      #expect(try await fields(["_conflicts"], "c") == ["_conflicts": ["1-a"]])
      let stubs = try await server.post("/db/_find", ["selector": ["n": 0], "fields": ["_attachments"]]).json
      #expect(stubs["docs"]?[0]?["_attachments"]?["a.txt"]?["stub"] == true)
      let selector: JSONValue = ["_attachments": ["$exists": true], "n": ["$gt": 1], "name": "x"]
      let plan = try await server.post("/db/_explain", ["selector": selector, "skip": 3]).json
      #expect(plan["selector"] == selector)
      #expect(plan["skip"] == 3)
      let residual = try #require(plan["plan"]?["residual"]?.stringValue)
      for name in ["_attachments", "n", "name"] { #expect(residual.contains("\"\(name)\""), "\(residual)") }
      let wrong = try await server.post("/db/_find", ["selector": ["_attachments": ["$gtt": 1]]])
      #expect(wrong.json["error"] == "invalid_operator")
    }
  }

  @Test func `long names are refused, and not repeated`() async throws {
    try await withServer { server in
      _ = try await server.put("/db")
      let name = JSONValue.string(String(repeating: "n", count: 2_000_000))
      let found = try await server.post("/db/_find", ["selector": [:], "use_index": name])
      #expect(found.json["warning"]?.stringValue?.hasSuffix("a valid index for this query.") == true)
      #expect(found.body.count < 2_000)
      for member in ["name", "ddoc"] {
        let reply = try await server.post("/db/_index", ["index": ["fields": ["a"]], member: name])
        #expect(reply.status == 400)
        #expect(reply.json["error"] == "invalid_index")
      }
    }
  }

  @Test func `a partition is not supported`() async throws {
    try await withServer { server in
      _ = try await server.put("/db")
      let query: JSONObject = ["selector": [:], "partition": ""]
      #expect(try await server.post("/db/_find", .object(query)).status == 200)
      #expect(try await server.post("/db/_find", ["selector": [:], "partition": "x"]).status == 501)
    }
  }

  @Test func `an index is a member of its design document`() async throws {
    try await Self.withPeople { server in
      for (name, field) in [("by_name", "name"), ("by_age", "age")] {
        _ = try await server.post(
          "/db/_index",
          ["index": ["fields": [.string(field)]], "ddoc": "_design/people", "name": .string(name)])
      }
      var document = try #require(try await server.get("/db/_design/people").json.objectValue)
      #expect(document["language"] == "query")
      #expect(
        document["views"]?["by_age"]
          == ["map": ["fields": ["age": "asc"]], "reduce": "_count", "options": ["def": ["fields": ["age"]]]])
      #expect(try await server.get("/db/_design_docs").json["rows"]?[0]?["id"] == "_design/people")
      let changes = try await server.get("/db/_changes?filter=_design").json
      #expect(changes["results"]?[0]?["id"] == "_design/people")
      // A client edits the document, and the indexes follow.
      document["views"] = ["by_city": ["map": ["fields": ["city": "desc", "name": "desc"]]]]
      #expect(try await server.put("/db/_design/people", .object(document)).json["warning"] == nil)
      let edited = try await server.get("/db/_index").json
      #expect(edited["total_rows"] == 2)
      #expect(edited["indexes"]?[1]?["def"]?["fields"] == [["city": "desc"], ["name": "desc"]])
      let revision = try await server.get("/db/_design/people").json["_rev"]?.stringValue ?? ""
      _ = try await server.delete("/db/_design/people?rev=\(revision)")
      #expect(try await server.get("/db/_index").json["total_rows"] == 1)
      let other: JSONValue = ["index": ["fields": ["age"]], "ddoc": "views"]
      _ = try await server.put("/db/_design/views", ["views": ["v": ["map": "function(d) {}"]]])
      #expect(try await server.post("/db/_index", other).json["error"] == "invalid_ddoc_lang")
    }
  }

  @Test func `design documents with functions are stored with a warning, or refused`() async throws {
    let functions: JSONValue = [
      "validate_doc_update": "function(n) {}", "filters": ["f": "function(d) {}"],
      "views": ["v": ["map": "function(d) {}"]],
    ]
    try await withServer { server in
      let stored = try await server.put("/db/_design/app", functions)
      #expect(stored.status == 201)
      for name in ["validate_doc_update", "filters.f", "views.v"] {
        #expect(stored.json["warning"]?.stringValue?.contains("`\(name)`") == true)
      }
      let bulk = try await server.post(
        "/db/_bulk_docs", ["docs": [["_id": "_design/b", "filters": ["f": "x"]], ["_id": "a"]]])
      #expect(bulk.json[0]?["warning"] != nil && bulk.json[1]?["warning"] == nil)
      let partial: JSONValue = [
        "language": "query",
        "views": ["p": ["map": ["fields": ["a": "asc"], "partial_filter_selector": ["$text": "b"]]]],
      ]
      #expect(try await server.put("/db/_design/p", partial).json["warning"] != nil)
      #expect(try await server.get("/db/_index").json["total_rows"] == 1)
    }
    try await withServer({ $0.isStrictAboutDesign = true }) { server in
      #expect(try await server.put("/db/_design/app", functions).json["error"] == "invalid_design_doc")
      _ = try await server.put("/db/plain", functions)
      #expect(
        try await server.send("COPY", "/db/plain", headers: [("Destination", "_design/app")]).status == 400)
      let bulk = try await server.post(
        "/db/_bulk_docs",
        ["docs": [["_id": "_design/b", "filters": ["f": "x"], "_rev": "1-a"]], "new_edits": false])
      #expect(bulk.json[0]?["error"] == "invalid_design_doc")
      let index: JSONValue = ["language": "query", "views": ["a": ["map": ["fields": ["a": "asc"]]]]]
      #expect(try await server.put("/db/_design/i", index).status == 201)
    }
  }

  @Test func `members of an index that are not known are refused, and noted in a design document`()
    async throws
  {
    try await withServer { server in
      for (index, name, known) in [
        (["fields": ["email"], "uniqe": true], "uniqe", "partial_filter_selector, unique"),
        (["fields": ["total"], "sum": ["total"]], "sum", "collation, expireAfter or milliseconds"),
        (["fields": ["total"], "value": "total"], "value", "fields"),
      ] as [(JSONValue, String, String)] {
        let reply = try await server.post("/db/_index", ["index": index])
        #expect(reply.status == 400 && reply.json["error"] == "invalid_key", "\(reply.text)")
        let reason = reply.json["reason"]?.stringValue ?? ""
        #expect(reason.contains("Invalid key \(name) ") && reason.contains(known), "\(reason)")
      }
      let text: JSONValue = ["fields": ["text"], "tokenise": "words"]
      #expect(try await server.post("/db/_index", ["index": text, "type": "text"]).status == 400)
      // CouchDB's own members of a text index are taken.
      let couch: JSONValue = ["fields": ["text"], "default_field": [:], "index_array_lengths": false]
      #expect(try await server.post("/db/_index", ["index": couch, "type": "text"]).status == 200)
      let document: JSONValue = [
        "language": "query", "views": ["by_email": ["map": ["fields": ["email": "asc"], "uniqe": true]]],
      ]
      let saved = try await server.put("/db/_design/people", document)
      #expect(saved.status == 201)
      #expect(
        saved.json["warning"]?.stringValue?.contains(#""by_email" has a member "uniqe" that is ignored"#)
          == true)
    }
  }

  @Test func `the filter of an index has a former name`() async throws {
    try await withServer { server in
      let index: JSONValue = ["fields": ["age"], "selector": ["name": "mike"]]
      #expect(
        try await server.post("/db/_index", ["index": index, "name": "young"]).json["result"] == "created")
      let listed = try await server.get("/db/_index").json["indexes"]?[1]
      #expect(
        listed?["def"]?["partial_filter_selector"] == ["name": ["$eq": "mike"]], "\(listed?.text ?? "")")
      let invalid: JSONValue = ["fields": ["age"], "selector": 5]
      #expect(try await server.post("/db/_index", ["index": invalid]).status == 400)
    }
  }

  @Test func `a partial index is made, listed, explained and used where it is implied`() async throws {
    try await Self.withPeople { server in
      let index: JSONObject = ["fields": ["age"], "partial_filter_selector": ["name": "mike"]]
      let request: JSONValue = ["index": .object(index), "name": "mikes"]
      #expect(try await server.post("/db/_index", request).json["result"] == "created")
      #expect(try await server.post("/db/_index", request).json["result"] == "exists")
      let listed = try await server.get("/db/_index").json["indexes"]?[1]
      #expect(
        listed?["def"] == ["fields": [["age": "asc"]], "partial_filter_selector": ["name": ["$eq": "mike"]]])
      let query: JSONValue = ["selector": ["name": "mike", "age": ["$gt": 50]]]
      #expect(try await server.post("/db/_explain", query).json["index"]?["name"] == "mikes")
      #expect(Self.ids(try await server.post("/db/_find", query)) == ["p152", "p154", "p156", "p158"])
      // Named or not, it never leaves out results.
      let other: JSONValue = ["selector": ["age": ["$gt": 57]], "use_index": "mikes"]
      let found = try await server.post("/db/_find", other)
      #expect(Self.ids(found) == ["p158", "p159"])
      #expect(found.json["warning"]?.stringValue?.contains("mikes was not used") == true)
      for filter: JSONValue in [5, ["$text": ["$search": "x"]], ["a": ["$regex": "x"]], ["a": ["$gtt": 1]]] {
        let refused = try await server.post(
          "/db/_index", ["index": ["fields": ["age"], "partial_filter_selector": filter]])
        #expect(refused.status == 400)
      }
    }
  }

  @Test func `a collation is one of the request and of the index`() async throws {
    try await Self.withPeople { server in
      let index: JSONValue = ["index": ["fields": ["name"], "collation": "unicode"], "name": "names"]
      #expect(try await server.post("/db/_index", index).json["result"] == "created")
      #expect(try await server.post("/db/_index", index).json["result"] == "exists")
      #expect(try await server.get("/db/_index").json["indexes"]?[1]?["def"]?["collation"] == "unicode")
      let query: JSONValue = [
        "selector": ["name": "ZOÉ"], "sort": ["name"], "limit": 1, "collation": "unicode",
      ]
      #expect(Self.ids(try await server.post("/db/_find", query)) == ["p101"])
      let plan = try await server.post("/db/_explain", query).json
      #expect(plan["index"]?["name"] == "names" && plan["plan"]?["collation"] == "unicode")
      for path in ["/db/_find", "/db/_explain"] {
        let refused = try await server.post(path, ["selector": [:], "collation": "swedish"])
        #expect(refused.status == 400 && refused.json["error"] == "invalid_collation")
      }
      let refused = try await server.post("/db/_index", ["index": ["fields": ["a"], "collation": 1]])
      #expect(refused.status == 400)
    }
  }

  @Test func `a search names one of several text indexes, and returns snippets`() async throws {
    try await withServer { server in
      #expect(
        try await server.put("/db/hat", ["title": "The Cat in the Hat", "lines": ["Running"]]).status == 201)
      for (name, fields, tokenizer) in [
        ("titles", ["title"], "simple"), ("lines", ["title", "lines"], "porter"),
      ] {
        let fields = JSONValue.array(fields.map { .string($0) })
        let index: JSONValue = [
          "index": ["fields": fields, "tokenize": .string(tokenizer)], "type": "text", "name": .string(name),
        ]
        #expect(try await server.post("/db/_index", index).json["result"] == "created")
      }
      #expect(try await server.get("/db/_index").json["indexes"]?[1]?["def"]?["tokenize"] == "porter")
      var request: JSONObject = ["selector": ["$text": ["$search": "cat run"]]]
      let refused = try await server.post("/db/_find", .object(request))
      #expect(refused.status == 400)
      #expect(refused.json["reason"]?.stringValue?.contains("name one of them with use_index") == true)
      request["use_index"] = "titles"
      #expect(Self.ids(try await server.post("/db/_find", .object(request))) == [])
      request["use_index"] = "lines"
      request["snippets"] = ["words": 1, "before": "<b>", "after": "</b>"]
      for conflicts in [false, true] {
        request["conflicts"] = .bool(conflicts)
        let found = try await server.post("/db/_find", .object(request)).json["docs"]?[0]
        #expect(found?["lines"] == ["Running"])
        #expect(found?["_snippets"]?[0]?["text"] == "The <b>Cat</b> in…")
        #expect(found?["_snippets"]?[1]?["text"] == "<b>Running</b>")
      }
      request["snippets"] = ["words": -1]
      #expect(try await server.post("/db/_find", .object(request)).status == 400)
    }
  }

  @Test func `an index of places answers the nearest, and is in its design document`() async throws {
    try await withServer { server in
      for (id, east) in [("a", 9.0), ("b", 8.0), ("c", -179.0)] {
        let body: JSONValue = ["city": "x", "place": [.double(east), 47]]
        let saved = try await server.put("/db/\(id)", body)
        #expect(saved.status == 201)
      }
      let index: JSONValue = [
        "index": ["fields": ["city", "place"]], "type": "place", "name": "places", "ddoc": "d",
      ]
      #expect(try await server.post("/db/_index", index).json["result"] == "created")
      #expect(try await server.post("/db/_index", index).json["result"] == "exists")
      #expect(try await server.get("/db/_index").json["indexes"]?[1]?["type"] == "place")
      #expect(try await server.get("/db/_design/d").json["views"]?["places"]?["map"]?["type"] == "place")
      let point: JSONValue = ["type": "Point", "coordinates": [8.1, 47]]
      let request: JSONObject = [
        "selector": ["city": "x", "place": ["$near": ["$geometry": point]]], "limit": 2,
        "use_index": ["d", "places"],
      ]
      #expect(Self.ids(try await server.post("/db/_find", .object(request))) == ["b", "a"])
      #expect(try await server.delete("/db/_index/d/place/places").status == 200)
      #expect(try await server.get("/db/_index").json["total_rows"] == 1)
    }
  }

  @Test func `results by distance have their distances`() async throws {
    try await withServer { server in
      for (id, vector) in [("east", [1, 0]), ("north", [0, 1]), ("north-east", [1, 1])]
        as [(String, JSONValue)]
      {
        #expect(try await server.put("/db/\(id)", ["v": vector, "kind": "way"]).status == 201)
      }
      var request: JSONObject = [
        "selector": ["v": ["$near": ["$vector": [0, 2], "$metric": "euclidean"]]], "distance": true,
      ]
      for fields in [[], ["_id", "kind"]] as [[JSONValue]] {
        for conflicts in [false, true] {
          request["fields"] = .array(fields)
          request["conflicts"] = .bool(conflicts)
          let reply = try await server.post("/db/_find", .object(request))
          #expect(Self.ids(reply) == ["north", "north-east", "east"])
          #expect(reply.json["docs"]?[0]?["_distance"] == 1 && reply.json["docs"]?[0]?["kind"] == "way")
        }
      }
      request["limit"] = 1
      request["fields"] = ["_id", "_attachments"]
      let first = try await server.post("/db/_find", .object(request)).json
      #expect(first["docs"]?[0]?["_distance"] == 1)
      request["bookmark"] = first["bookmark"]
      #expect(Self.ids(try await server.post("/db/_find", .object(request))) == ["north-east"])
      let groups = try await server.post(
        "/db/_find",
        [
          "selector": ["v": ["$near": ["$vector": [0, 2], "$maxDistance": 0.5]]],
          "group": ["by": ["kind"], "aggregates": ["count": ["$count": [:]]]],
        ])
      #expect(groups.json["groups"]?[0]?["count"] == 2)
      let plan = try await server.post("/db/_explain", .object(request))
      #expect(plan.status == 200)
      let csv = try await server.post(
        "/db/_results?format=csv",
        ["selector": request["selector"] ?? [:], "distance": true, "fields": ["kind"]])
      #expect(String(decoding: csv.body, as: UTF8.self).hasPrefix("_id,_rev,kind,_distance\n"))
    }
  }

  @Test func `a unique index refuses edits and stores what replicators bring`() async throws {
    try await withServer { server in
      let index: JSONValue = ["index": ["fields": ["email"], "unique": true], "name": "emails"]
      #expect(try await server.post("/db/_index", index).json["result"] == "created")
      #expect(try await server.get("/db/_index").json["indexes"]?[1]?["def"]?["unique"] == true)
      #expect(try await server.put("/db/ann", ["email": "a"]).status == 201)
      let refused = try await server.put("/db/bob", ["email": "a"])
      #expect(refused.status == 412 && refused.json["error"] == "duplicate_key")
      #expect(
        refused.json["reason"]
          == #"the documents "bob", "ann" have the same key ["a"] in the unique index "_design/emails/emails"; change one of them"#
      )
      let rows = try await server.post(
        "/db/_bulk_docs",
        ["docs": [["_id": "c", "email": "c"], ["_id": "d", "email": "a"], ["_id": "e", "email": "e"]]])
      #expect(rows.status == 201)
      #expect(rows.json.arrayValue?.map { $0["error"] ?? "none" } == ["none", "duplicate_key", "none"])
      let replicated = try await server.post(
        "/db/_bulk_docs", ["docs": [["_id": "z", "_rev": "1-a", "email": "a"]], "new_edits": false])
      #expect(replicated.json == [])
      #expect(try await server.get("/db/_all_docs").json["total_rows"] == 5)
      let wrong: JSONValue = ["index": ["fields": ["email"], "unique": 1]]
      let reply = try await server.post("/db/_index", wrong)
      #expect(reply.status == 400 && reply.json["error"] == "invalid_index")
      #expect(reply.json["reason"] == #"unique: "unique" must be true or false, not a number"#)
    }
  }

  @Test(arguments: ["name", "ddoc", "type"], [5, true, nil, 1.5, []] as [JSONValue])
  func `a member of an index that is not a string is refused`(member: String, value: JSONValue) async throws {
    try await withServer { server in
      var body: JSONObject = ["index": ["fields": ["a"]]]
      body[member] = value
      let reply = try await server.post("/db/_index", .object(body))
      #expect(reply.status == 400)
      #expect(reply.json["error"] == "invalid_string")
    }
  }

  @Test func `an unknown member of an index is refused, and options of a cluster are not`() async throws {
    try await withServer { server in
      let index: JSONObject = ["index": ["fields": ["a"]], "w": 2, "partitioned": false]
      for (member, status, error) in [
        ("nonsense", 400, "invalid_key"), ("partitioned", 501, "not_implemented"),
      ] {
        var body = index
        body[member] = true
        let reply = try await server.post("/db/_index", .object(body))
        #expect(reply.status == status)
        #expect(reply.json["error"]?.stringValue == error)
      }
      #expect(try await server.post("/db/_index", .object(index)).json["result"] == "created")
    }
  }

  @Test func `remedies are requests, and name no directory of the server`() async throws {
    try await Self.withPeople { server in
      let directory = server.manager.directory
      let search = try await server.post("/db/_find", ["selector": ["$text": ["$search": "mike"]]])
      #expect(
        search.json["reason"]?.stringValue
          == #"$text: "$text" needs a text index, and the datastore has none; create an index of type text"#
          + #" with POST _index: {"index": {"fields": ["FIELD"]}, "type": "text"}"#)
      let query: JSONValue = [
        "selector": ["name": "mike"], "sort": [["age": "desc"]], "collation": "nocase",
      ]
      let plan = try await server.post("/db/_explain", query)
      #expect(!plan.text.contains(directory) && !plan.text.contains("cdtquery"), "\(plan.text)")
      let index = try #require(plan.json["plan"]?["suggestedIndex"])
      #expect(
        index == ["index": ["fields": [["name": "asc"], ["age": "desc"]], "collation": "nocase"]])
      #expect(try await server.post("/db/_index", index).json["result"] == "created")
      #expect(try await server.post("/db/_explain", query).json["plan"]?["suggestedIndex"] == .null)
      for (selector, type) in [
        (["v": ["$near": ["$vector": [1, 0]]]], "vector"),
        (["name": "mike", "at": ["$geoWithin": ["$box": [[7, 46], [9, 48]]]]], "place"),
      ] as [(JSONValue, JSONValue)] {
        let plan = try await server.post("/db/_explain", ["selector": selector])
        let index = try #require(plan.json["plan"]?["suggestedIndex"])
        #expect(index["type"] == type)
        #expect(try await server.post("/db/_index", index).json["result"] == "created")
        let again = try await server.post("/db/_explain", ["selector": selector])
        #expect(again.json["plan"]?["suggestedIndex"] == .null)
      }
    }
  }

  struct RefusedIndex: Sendable, CustomTestStringConvertible {
    let testDescription, reason: String
  }

  static let refusedIndexes = [
    RefusedIndex(
      testDescription: #"{"index":{"fields":[{"name":"asc","type":"desc"}]}}"#,
      reason: "fields[0]: a sort clause names one field"),
    RefusedIndex(
      testDescription: #"{"index":{"fields":["a"],"partial_filter_selector":{"b":{"$gtt":1}}}}"#,
      reason: "partial_filter_selector.b.$gtt: "),
    RefusedIndex(
      testDescription: #"{"index":{"fields":["a"],"selector":{"b":{"$gtt":1}}}}"#, reason: "selector.b.$gtt: "
    ),
    RefusedIndex(
      testDescription: #"{"index":{"fields":["a"],"partial_filter_selector":{"b":1}},"type":"text"}"#,
      reason: "partial_filter_selector: a text index holds every document"),
    RefusedIndex(
      testDescription: #"{"index":{"fields":["a"],"tokenize":"icu"},"type":"text"}"#, reason: "tokenize: "),
  ]

  @Test(arguments: refusedIndexes)
  func `an index is refused with the names of the request`(_ refused: RefusedIndex) async throws {
    try await withServer { server in
      let reply = try await server.send(
        "POST", "/db/_index", body: Array(refused.testDescription.utf8),
        headers: [("Content-Type", "application/json")])
      #expect(reply.status == 400)
      #expect(reply.json["reason"]?.stringValue?.hasPrefix(refused.reason) == true, "\(reply.text)")
      #expect(try await server.get("/db/_index").json["total_rows"] == 1)
    }
  }

  @Test func `a field of a text index may have a type`() async throws {
    try await withServer { server async throws in
      let index: JSONValue = ["index": ["fields": [["name": "title", "type": "string"]]], "type": "text"]
      #expect(try await server.post("/db/_index", index).json["result"] == "created")
      #expect(try await server.get("/db/_index").json["indexes"]?[1]?["def"]?["fields"] == [["title": "asc"]])
    }
  }

  @Test func `a malformed rule of reading is not an error of a sort`() async throws {
    try await withServer { server in
      let reply = try await server.put("/db/_design/a", ["language": "query", "read": 5])
      #expect(reply.status == 400)
      #expect(reply.json["error"] == "invalid_read")
    }
  }

  @Test func `hints say why a query finds nothing`() async throws {
    try await Self.withPeople { server async throws in
      func hints(_ selector: JSONValue) async throws -> JSONValue? {
        try await server.post("/db/_explain?hints=true", ["selector": selector]).json["hints"]
      }
      #expect(
        try await hints(["age": "7"])
          == [#"the query needs a string in "age", which is a number, such as 0; did you mean 7?"#])
      #expect(
        try await hints(["nmae": "zoe"]) == [#"no document has the field "nmae"; did you mean "name"?"#])
      #expect(try await hints(["age": 7]) == [])
      #expect(try await server.post("/db/_explain", ["selector": ["age": "7"]]).json["hints"] == nil)
    }
  }

  struct Refusal: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let error: String
  }

  static let refusals = [
    Refusal(testDescription: "{}", error: "missing_required_key"),
    Refusal(testDescription: #"{"selector":{"a":{"$gtt":1}}}"#, error: "invalid_operator"),
    Refusal(testDescription: #"{"selector":{"a":{"$regex":"("}}}"#, error: "bad_arg"),
    Refusal(testDescription: #"{"selector":{},"nonsense":1}"#, error: "invalid_key"),
    Refusal(testDescription: #"{"selector":{},"limit":-1}"#, error: "invalid_non_neg_integer"),
    Refusal(testDescription: #"{"selector":{},"limit":1e300}"#, error: "invalid_non_neg_integer"),
    Refusal(testDescription: #"{"selector":{},"r":"x"}"#, error: "invalid_pos_integer"),
    Refusal(testDescription: #"{"selector":{},"r":0}"#, error: "invalid_pos_integer"),
    Refusal(testDescription: #"{"selector":{},"conflicts":"true"}"#, error: "invalid_boolean"),
    Refusal(testDescription: #"{"selector":{},"execution_stats":1}"#, error: "invalid_boolean"),
    Refusal(testDescription: #"{"selector":{},"allow_fallback":null}"#, error: "invalid_boolean"),
    Refusal(testDescription: #"{"selector":{},"update":"x"}"#, error: "invalid_boolean"),
    Refusal(testDescription: #"{"selector":{},"stale":"x"}"#, error: "invalid_ok_or_false"),
    Refusal(testDescription: #"{"selector":{},"fields":"a"}"#, error: "invalid_fields_json"),
    Refusal(testDescription: #"{"selector":{},"sort":5}"#, error: "invalid_sort_json"),
    Refusal(
      testDescription: #"{"selector":{"$text":{"$search":"a"}},"snippets":{"words":1000000}}"#,
      error: "invalid_snippets"),
    Refusal(testDescription: #"{"selector":{},"distance":true}"#, error: "invalid_distance"),
    Refusal(testDescription: #"{"selector":{"a":{"$near":{}}}}"#, error: "bad_arg"),
    Refusal(
      testDescription: #"{"selector":{"$or":[{"a":{"$near":{"$vector":[1]}}}]}}"#,
      error: "invalid_selector_json"),
    Refusal(
      testDescription: #"{"selector":{"a":{"$near":{"$vector":[1]}}},"distance":true,"group":{"by":["a"]}}"#,
      error: "invalid_group_json"),
    Refusal(
      testDescription: #"{"selector":{"$text":{"$search":"a"}},"sort":[{"$text":"score"}],"backward":true}"#,
      error: "bad_request"),
    Refusal(testDescription: #"{"selector":[]}"#, error: "invalid_selector_json"),
    Refusal(testDescription: #"{"selector":{},"group":1}"#, error: "invalid_group_json"),
    Refusal(
      testDescription: #"{"selector":{},"group":{"by":["a"]},"sort":["b"]}"#, error: "invalid_group_json"),
    Refusal(testDescription: #"{"selector":{},"group":{"by":["a"]},"fields":["a"]}"#, error: "invalid_key"),
    Refusal(
      testDescription: #"{"selector":{},"group":{"by":["a"],"aggregates":{"n":{"$median":"a"}}}}"#,
      error: "invalid_group_json"),
    Refusal(testDescription: "[]", error: "bad_request"),
    Refusal(testDescription: "{", error: "bad_request"),
  ]

  @Test(arguments: refusals) func `an invalid query`(refusal: Refusal) async throws {
    try await withServer { server in
      let reply = try await server.send(
        "POST", "/db/_find", body: Array(refusal.testDescription.utf8),
        headers: [("Content-Type", "application/json")])
      #expect(reply.status == 400)
      #expect(reply.json["error"]?.stringValue == refusal.error)
    }
  }

  @Test func `a query that finds a damaged page of an index is answered from the documents`() async throws {
    let directory = try ServerDirectory()
    do {
      let manager = try DatastoreManager(directory: directory.path)
      let store = try await manager.datastore(named: "db")
      try await store.write { transaction in
        for number in 0..<3_000 {
          try transaction.createDocument(
            from: DocumentDraft(id: "d\(number)", body: ["n": .int(Int64(number))]))
        }
      }
      try await store.ensureIndexed(["n"], name: "by_n")
      try await manager.closeDatastore(named: "db")
    }
    // Behind the pages that the first results need.
    let extensions = "\(directory.path)/db/extensions"
    var damaged = 0
    for path in try FileManager.default.subpathsOfDirectory(atPath: extensions) {
      let url = URL(filePath: "\(extensions)/\(path)")
      guard var content = try? Data(contentsOf: url), content.count > 50_000 else { continue }
      for offset in stride(from: content.count / 2, to: content.count, by: 512) { content[offset] ^= 0xFF }
      try content.write(to: url)
      damaged += 1
    }
    try #require(damaged == 1)
    try await withServer(of: DatastoreManager(directory: directory.path)) { server in
      let reply = try await server.post(
        "/db/_find",
        [
          "selector": ["n": ["$gte": 0]], "sort": ["n"], "limit": 10_000, "use_index": "by_n",
          "fields": ["n"],
        ])
      #expect(reply.status == 200)
      #expect(reply.json["docs"]?.arrayValue?.compactMap { $0["n"]?.intValue } == Array(0..<3_000))
    }
  }
}
