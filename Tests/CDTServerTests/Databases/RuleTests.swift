import CDTJSON
import CDTServerTestSupport
import Testing

/// Rules of writing at the server.
@Suite struct RuleTests {
  private static func rule(_ selector: JSONValue) -> JSONValue {
    ["language": "query", "validate_doc_update": selector]
  }

  private static let typed = rule(["newDoc": ["type": ["$exists": true]]])

  @Test func `a refused document has its failures`() async throws {
    try await withServer { server in
      #expect(try await server.put("/db/_design/rules", Self.typed).status == 201)
      #expect(try await server.put("/db/a", ["type": "movie"]).status == 201)
      let refused = try await server.put("/db/b", ["no": "type"])
      #expect(refused.status == 403)
      #expect(
        refused.json == [
          "error": "forbidden", "reason": "newDoc.type: must be present",
          "failures": [
            ["path": ["newDoc", "type"], "type": "exists", "params": [true], "message": "must be present"]
          ],
        ])
      #expect(try await server.get("/db/b").status == 404)
    }
  }

  // The cases of CouchDB's test of validate_doc_update at commit 0b910fe2, but for those with functions, which are never run.
  @Test func `a rule that is changed or deleted has the new effect`() async throws {
    try await withServer { server in
      var revision = try await server.put("/db/_design/rules", Self.typed).json["rev"] ?? .null
      var changed =
        Self.rule(["newDoc": ["type": ["$type": "string"], "year": ["$lt": 2026]]]).objectValue ?? [:]
      changed["_rev"] = revision
      revision = try await server.put("/db/_design/rules", .object(changed)).json["rev"] ?? .null
      #expect(try await server.put("/db/1", ["type": "movie", "year": 1994]).status == 201)
      #expect(try await server.put("/db/2", ["type": 42, "year": 1994]).status == 403)
      #expect(try await server.put("/db/3", ["type": "movie", "year": 2094]).status == 403)
      let deleted = try await server.delete("/db/_design/rules?rev=\(revision.stringValue ?? "")")
      #expect(deleted.status == 200)
      #expect(try await server.put("/db/2", ["no": "type"]).status == 201)
    }
  }

  @Test func `the rules of all design documents must hold`() async throws {
    try await withServer { server in
      _ = try await server.put("/db/_design/a", Self.typed)
      _ = try await server.put("/db/_design/b", Self.rule(["newDoc": ["year": ["$lt": 2026]]]))
      #expect(try await server.put("/db/1", ["type": "movie", "year": 1994]).status == 201)
      #expect(try await server.put("/db/2", ["year": 1994]).status == 403)
      #expect(try await server.put("/db/3", ["type": "movie", "year": 2094]).status == 403)
      #expect(try await server.put("/db/4", [:]).json["failures"]?.arrayValue?.count == 2)
    }
  }

  @Test func `a rule can compare with the old document`() async throws {
    try await withServer { server in
      _ = try await server.put(
        "/db/_design/rules",
        Self.rule([
          "$or": [
            ["oldDoc": nil], ["oldDoc.tags": ["$size": 0]],
            ["newDoc.tags": ["$all": ["$data": "oldDoc.tags"]]],
          ]
        ]))
      var revision: JSONValue = .null
      for (tags, status) in [(["a"], 201), (["a", "b"], 201), (["b", "a", "c"], 201), (["b", "c"], 403)] {
        var body: JSONObject = ["tags": .array(tags.map { .string($0) })]
        if revision != .null { body["_rev"] = revision }
        let reply = try await server.put("/db/doc", .object(body))
        #expect(reply.status == status, "\(tags)")
        revision = reply.json["rev"] ?? revision
      }
    }
  }

  @Test func `a rule sees the user and the security object`() async throws {
    try await withServer { server in
      _ = try await server.put("/db/_security", ["admins": ["roles": ["_admin"]]])
      _ = try await server.put(
        "/db/_design/rules",
        Self.rule([
          "userCtx": ["name": nil, "roles": "_admin", "db": "db"],
          "security.admins.roles": ["$all": ["_admin"]],
        ]))
      #expect(try await server.put("/db/doc", [:]).status == 201)
      _ = try await server.put(
        "/db/_design/other", Self.rule(["$userCtx.name": "nobody", "$error": "unauthorized"]))
      let refused = try await server.put("/db/doc2", [:])
      #expect(refused.status == 401 && refused.json["error"] == "unauthorized")
    }
  }

  @Test func `every way in is refused, and nothing is saved`() async throws {
    try await withServer { server in
      let kept = try await server.put("/db/kept", ["type": "x"]).json["rev"]?.stringValue ?? ""
      _ = try await server.put("/db/_design/rules", Self.typed)
      _ = try await server.put("/db/plain", ["type": "y"])
      let replies = [
        try await server.post("/db", ["_id": "a"]),
        try await server.put("/db/kept?rev=\(kept)", [:]),
        try await server.delete("/db/kept?rev=\(kept)"),
        try await server.put("/db/b?new_edits=false", ["_rev": "1-a"]),
        try await server.send(
          "PUT", "/db/c/text", body: Array("x".utf8), headers: [("Content-Type", "text/plain")]),
      ]
      for reply in replies { #expect(reply.status == 403, "\(reply.json)") }
      let bulk = try await server.post("/db/_bulk_docs", ["docs": [["_id": "d"], ["_id": "e", "type": 1]]])
      #expect(bulk.json[0]?["error"] == "forbidden" && bulk.json[0]?["failures"] != nil)
      #expect(bulk.json[1]?["ok"] == true)
      let inserted = try await server.post(
        "/db/_bulk_docs",
        [
          "new_edits": false,
          "docs": [["_id": "f", "_rev": "1-a"], ["_id": "g", "_rev": "1-b", "type": 1]],
        ])
      #expect(inserted.json.arrayValue?.count == 1 && inserted.json[0]?["id"] == "f")
      #expect(try await server.put("/db/_local/x", [:]).status == 201)
      let ids = try await server.get("/db/_all_docs").json["rows"]?.arrayValue?.compactMap {
        $0["id"]?.stringValue
      }
      #expect(ids == ["_design/rules", "e", "g", "kept", "plain"])
      #expect(try await server.get("/db/kept").json["_rev"]?.stringValue == kept)
    }
  }

  @Test func `a rule that can't be read is refused, and one that is replicated refuses every write`()
    async throws
  {
    try await withServer { server in
      let broken = Self.rule(["newDoc": ["a": ["$get": 1]]])
      let refused = try await server.put("/db/_design/rules", broken)
      #expect(refused.status == 400)
      #expect(refused.json["reason"]?.stringValue?.hasPrefix("validate_doc_update.newDoc.a.$get") == true)
      let pattern = try await server.put(
        "/db/_design/rules", Self.rule(["newDoc": ["a": ["$regex": #"x\Ky"#]]]))
      #expect(pattern.status == 400)
      #expect(
        pattern.json["reason"]?.stringValue?.hasPrefix(
          "validate_doc_update.newDoc.a.$regex: devices and servers might decide the pattern differently")
          == true)
      var replicated = broken.objectValue ?? [:]
      (replicated["_id"], replicated["_rev"]) = ("_design/rules", "1-a")
      // It is stored as a replicator finds it at the source.
      let stored = try await server.post(
        "/db/_bulk_docs", ["new_edits": false, "docs": [.object(replicated)]])
      #expect(stored.json == [])
      let write = try await server.put("/db/a", [:])
      #expect(write.status == 403)
      #expect(
        write.json["reason"]?.stringValue?.hasPrefix("the rules of _design/rules can't be read") == true)
      // It is repaired.
      let repaired = try await server.put("/db/_design/rules?rev=1-a", Self.typed)
      #expect(repaired.status == 201)
      #expect(try await server.put("/db/a", ["type": 1]).status == 201)
    }
  }

  @Test func `admins list the documents that break a rule`() async throws {
    try await withServer { server in
      _ = try await server.put("/db/a", ["type": "x"])
      _ = try await server.put("/db/b", [:])
      _ = try await server.put("/db/c", [:])
      _ = try await server.put("/db/_design/rules", Self.typed)
      let all = try await server.get("/db/_rules").json
      #expect(all["total_rows"] == 2 && all["rows"]?[0]?["id"] == "b")
      let page = try await server.get("/db/_rules?skip=1&limit=1").json
      #expect(page["rows"]?.arrayValue?.count == 1 && page["rows"]?[0]?["id"] == "c")
    }
  }

  @Test func `a rule that names the user lists the documents that this user could not save`() async throws {
    try await withServer { server in
      for name in ["anna", "bob"] { _ = try await server.put("/db/\(name)", ["owner": .string(name)]) }
      _ = try await server.put(
        "/db/_design/rules", Self.rule(["newDoc.owner": ["$data": "userCtx.name"]]))
      #expect(try await server.get("/db/_rules").json["total_rows"] == 2)
      let rows = try await server.get("/db/_rules", headers: [("X-As-User", "anna")]).json["rows"]
      #expect(rows?.arrayValue?.compactMap { $0["id"] } == ["bob"])
    }
  }
}
