import CDTDatastore
import CDTJSON
import CDTServerTestSupport
import CDTTestSupport
import Testing

/// Revision trees over HTTP: what replicators write and read.
@Suite struct RevisionTests {
  /// A document with a conflict: 1-a ─ 2-b ─ 3-c, the winner, and 1-a ─ 2-x; and a deleted leaf 2-d.
  private static func makeConflict(_ server: RunningServer) async throws {
    let made = try await server.post(
      "/db/_bulk_docs",
      [
        "new_edits": false,
        "docs": [
          ["_id": "doc", "_rev": "3-c", "n": 3, "_revisions": ["start": 3, "ids": ["c", "b", "a"]]],
          ["_id": "doc", "_rev": "2-x", "n": 2, "_revisions": ["start": 2, "ids": ["x", "a"]]],
          [
            "_id": "doc", "_rev": "2-d", "_deleted": true, "why": 1,
            "_revisions": ["start": 2, "ids": ["d", "a"]],
          ],
        ],
      ])
    #expect(made.status == 201)
    #expect(made.json == [])
  }

  @Test func `a document tells its tree`() async throws {
    try await withServer { server in
      try await Self.makeConflict(server)
      let json = try await server.get("/db/doc?revs=true&meta=true&local_seq=true").json
      #expect(json["_rev"] == "3-c")
      #expect(json["_revisions"] == ["start": 3, "ids": ["c", "b", "a"]])
      #expect(
        json["_revs_info"] == [
          ["rev": "3-c", "status": "available"], ["rev": "2-b", "status": "missing"],
          ["rev": "1-a", "status": "missing"],
        ])
      #expect(json["_conflicts"] == ["2-x"])
      #expect(json["_deleted_conflicts"] == ["2-d"])
      #expect(json["_local_seq"]?.intValue != nil)
      #expect(try await server.get("/db/doc?rev=2-x").json["n"] == 2)
      // A tombstone is read by its revision, with its members.
      let deleted = try await server.get("/db/doc?rev=2-d")
      #expect(deleted.status == 200)
      #expect(deleted.json == ["_id": "doc", "_rev": "2-d", "_deleted": true, "why": 1])
      #expect(try await server.get("/db/doc?rev=2-b").status == 404)
      #expect(try await server.get("/db/doc?rev=1-a&latest=true").json["_rev"] == "3-c")
      #expect(try await server.get("/db/doc?rev=nonsense").json["reason"] == "Invalid rev format")
    }
  }

  @Test func `open revisions come as JSON or as parts`() async throws {
    try await withServer { server in
      try await Self.makeConflict(server)
      let json = [("Accept", "application/json")]
      let all = try await server.get("/db/doc?open_revs=all", headers: json).json
      #expect(all.arrayValue?.map { $0["ok"]?["_rev"] } == ["3-c", "2-d", "2-x"])
      let some = try await server.get(#"/db/doc?open_revs=["2-x","9-z"]&revs=true"#.encoded, headers: json)
        .json
      #expect(some[0]?["ok"]?["_revisions"] == ["start": 2, "ids": ["x", "a"]])
      #expect(some[1] == ["missing": "9-z"])
      let latest = try await server.get(#"/db/doc?open_revs=["1-a"]&latest=true"#.encoded, headers: json).json
      #expect(latest.arrayValue?.count == 3)
      let parts = try await server.get(#"/db/doc?open_revs=["2-x","9-z"]"#.encoded)
      #expect(parts.headers["content-type"]?.hasPrefix("multipart/mixed; boundary=") == true)
      #expect(parts.text.contains("Content-Type: application/json\r\n\r\n{\"_id\":\"doc\",\"_rev\":\"2-x\""))
      #expect(parts.text.contains("error=\"true\"\r\n\r\n{\"missing\":\"9-z\"}"))
      #expect(try await server.get("/db/none?open_revs=all", headers: json).status == 404)
      #expect(
        try await server.get(#"/db/none?open_revs=["1-a"]"#.encoded, headers: json).json == [
          ["missing": "1-a"]
        ])
      #expect(try await server.get("/db/doc?open_revs=x", headers: json).status == 400)
    }
  }

  @Test func `a replicator learns what is missing`() async throws {
    try await withServer { server in
      try await Self.makeConflict(server)
      let requested: JSONValue = ["doc": ["3-c", "4-z", "1-a"], "other": ["1-a"], "known": []]
      #expect(
        try await server.post("/db/_revs_diff", requested).json == [
          "doc": ["missing": ["4-z"], "possible_ancestors": ["3-c", "2-x", "2-d"]],
          "other": ["missing": ["1-a"]],
        ])
      #expect(
        try await server.post("/db/_missing_revs", requested).json == [
          "missing_revs": ["doc": ["4-z"], "other": ["1-a"]]
        ])
      #expect(try await server.post("/db/_revs_diff", ["doc": ["x"]]).status == 400)
      #expect(try await server.post("/db/_revs_diff", []).json["error"] == "bad_request")
      // CouchDB's replicator names a document as often as it changed since it began to read.
      let repeated = try await server.send(
        "POST", "/db/_revs_diff", body: Array(#"{"doc":["4-z"],"x":["1-a"],"doc":["4-z","5-y","3-c"]}"#.utf8),
        headers: [("Content-Type", "application/json")])
      #expect(repeated.json["doc"]?["missing"] == ["4-z", "5-y"])
      #expect(repeated.json["x"]?["missing"] == ["1-a"])
    }
  }

  @Test func `many revisions are read at once`() async throws {
    try await withServer { server in
      try await Self.makeConflict(server)
      let reply = try await server.post(
        "/db/_bulk_get?revs=true",
        [
          "docs": [
            ["id": "doc", "rev": "2-x"], ["id": "doc"], ["id": "none", "rev": "1-a"], ["id": "none"], [:],
            ["id": "doc", "rev": "x"],
          ]
        ])
      #expect(reply.status == 200)
      let results = try #require(reply.json["results"]?.arrayValue)
      #expect(results.count == 6)
      #expect(results[0]["docs"]?[0]?["ok"]?["_revisions"] == ["start": 2, "ids": ["x", "a"]])
      #expect(results[1]["docs"]?.arrayValue?.count == 3)
      #expect(
        results[2]["docs"]?[0]?["error"] == [
          "id": "none", "rev": "1-a", "error": "not_found", "reason": "missing",
        ])
      #expect(results[3]["docs"]?[0]?["error"]?["rev"] == "undefined")
      #expect(results[4]["id"] == .null && results[4]["docs"]?[0]?["error"]?["error"] == "bad_request")
      #expect(results[4]["docs"]?[0]?["error"]?["rev"] == .null)
      #expect(results[5]["docs"]?[0]?["error"]?["rev"] == "x")
      #expect(try await server.post("/db/_bulk_get", [:]).status == 400)
      #expect(try await server.get("/db/_bulk_get").status == 405)
    }
  }

  @Test func `a document with many leaves is read page by page, with their histories`() async throws {
    try await withServer { server in
      _ = try await server.put("/db")
      let leaves = (100..<400).map { number -> JSONValue in
        let (leaf, parent) = (JSONValue.string("l\(number)"), JSONValue.string("p\(number)"))
        return ["_id": "doc", "_revisions": ["start": 2, "ids": [leaf, parent]]]
      }
      _ = try await server.post("/db/_bulk_docs", ["new_edits": false, "docs": .array(leaves)])
      let reply = try await server.post("/db/_bulk_get?revs=true", ["docs": [["id": "doc"], ["id": "doc"]]])
      let results = try #require(reply.json["results"]?.arrayValue)
      let open = try await server.get(
        "/db/doc?open_revs=all&revs=true", headers: [("Accept", "application/json")])
      for rows in [results[0]["docs"], results[1]["docs"], open.json] {
        let read = rows?.arrayValue?.compactMap { $0["ok"]?["_revisions"] } ?? []
        #expect(read == leaves.compactMap { $0["_revisions"] })
      }
    }
  }

  @Test func `a document has a tag unless the reply tells what can change while its revision stays`()
    async throws
  {
    try await withServer { server in
      _ = try await server.put("/db/one", ["n": 1])
      try await Self.makeConflict(server)
      for (path, hasTag) in [
        ("/db/one?conflicts=true", true), ("/db/one?deleted_conflicts=true", true), ("/db/doc", true),
        ("/db/one?meta=true", false), ("/db/one?revs_info=true", false), ("/db/one?local_seq=true", false),
        ("/db/doc?conflicts=true", false), ("/db/doc?deleted_conflicts=true", false),
        ("/db/doc?revs=true", true),
      ] {
        let reply = try await server.get(path)
        #expect((reply.headers["etag"] != nil) == hasTag, "\(path)")
        guard let tag = reply.headers["etag"] else { continue }
        #expect(try await server.get(path, headers: [("If-None-Match", tag)]).status == 304)
      }
    }
  }

  @Test func `the answers of CouchDB in unusual cases are given`() async throws {
    try await withServer { server in
      try await Self.makeConflict(server)
      // A base URL that ends in a slash.
      for path in ["//db/doc", "/db//doc", "/db/doc/"] {
        #expect(try await server.get(path).json["_rev"] == "3-c", "\(path)")
      }
      for path in ["/db/doc?rev=", "/db/_changes?since="] {
        #expect(try await server.get(path).status == 400, "\(path)")
      }
      let json = [("Accept", "application/json")]
      #expect(try await server.get("/db/none?open_revs=[]".encoded, headers: json).status == 404)
      #expect(
        try await server.post("/db/_revs_diff", ["_local/x": ["1-a"]]).json == [
          "_local/x": ["missing": ["1-a"]]
        ])
      let descending = try await server.get("/db/_changes?descending=true&limit=1").json
      #expect(descending["pending"] == 0)
      let found = try await server.post("/db/_find", ["selector": [:], "bookmark": .null])
      #expect(found.json["docs"]?[0]?["_id"] == "doc")
      #expect(try await server.get("/_session", headers: [("Authorization", "Bearer x")]).status == 200)
      #expect(try await server.get("/db", headers: [("Authorization", "Bearer x")]).status == 401)
      // A tombstone is replaced without its revision.
      let made = try await server.put("/db/gone", ["n": 1]).json["rev"]?.stringValue ?? ""
      let gone = try await server.delete("/db/gone?rev=\(made)").json["rev"]?.stringValue ?? ""
      #expect(try await server.put("/db/gone?rev=\(gone)", ["n": 2]).status == 409)
      #expect(try await server.put("/db/gone", ["n": 2]).json["rev"]?.stringValue?.hasPrefix("3-") == true)
    }
  }

  @Test func `local documents are copied`() async throws {
    try await withServer { server in
      _ = try await server.put("/db/_local/a", ["n": 1])
      _ = try await server.put("/db/doc", ["n": 2])
      for (path, target, value) in [
        ("/db/_local/a", "_local/b", 1), ("/db/_local/a", "copy", 1), ("/db/doc", "_local/c", 2),
      ] as [(String, String, JSONValue)] {
        let reply = try await server.send("COPY", path, headers: [("Destination", target)])
        #expect(reply.status == 201 && reply.json["id"] == .string(target), "\(reply.text)")
        #expect(try await server.get("/db/\(target)").json["n"] == value)
      }
      #expect(try await server.send("COPY", "/db/_local/none", headers: [("Destination", "x")]).status == 404)
      #expect(try await server.send("COPY", "/db/_local/a").status == 400)
    }
  }

  @Test(arguments: ["multipart/mixed", "multipart/related"])
  func `many revisions are read at once as parts`(type: String) async throws {
    try await withServer { server in
      try await Self.makeConflict(server)
      let cat = try await server.send(
        "PUT", "/db/cat/cat.jpg", body: Array("a cat".utf8), headers: [("Content-Type", "image/jpeg")])
      let reply = try await server.send(
        "POST", "/db/_bulk_get?revs=true",
        json: [
          "docs": [["id": "doc", "rev": "2-x"], ["id": "cat"], ["id": "none"], ["id": "doc", "rev": "x"]]
        ],
        headers: [("Accept", type)])
      #expect(reply.status == 200)
      #expect(reply.headers["content-type"]?.hasPrefix("\(type); boundary=\"") == true)
      let text = reply.text
      #expect(text.contains("Content-Type: application/json\r\n\r\n{\"_id\":\"doc\",\"_rev\":\"2-x\""))
      #expect(text.contains(#""_revisions":{"start":2,"ids":["x","a"]}"#))
      let revision = try #require(cat.json["rev"]?.stringValue)
      #expect(
        text.contains(
          "X-Doc-Id: cat\r\nX-Rev-Id: \(revision)\r\nContent-Type: multipart/related; boundary="))
      #expect(text.contains(#""follows":true"#))
      #expect(text.contains("Content-Type: image/jpeg\r\nContent-Length: 5\r\n\r\na cat\r\n--"))
      let error = "Content-Type: application/json; error=\"true\"\r\n\r\n"
      #expect(
        text.contains(
          error + #"{"rev":"undefined","error":"not_found","reason":"missing"}"#))
      #expect(text.contains(error + #"{"rev":"x","error":"bad_request""#))
      #expect(text.hasSuffix("--"))
    }
  }

  @Test func `one document is inserted with its own revision`() async throws {
    try await withServer { server in
      let sent: JSONValue = ["_rev": "3-c", "_revisions": ["start": 3, "ids": ["c", "b", "a"]], "n": 1]
      let reply = try await server.put("/db/doc?new_edits=false", sent)
      #expect(reply.status == 201)
      #expect(reply.json["rev"] == "3-c")
      // Again, with another body: it is known, and stays.
      #expect(try await server.put("/db/doc?new_edits=false", ["_rev": "3-c", "n": 2]).json["rev"] == "3-c")
      #expect(try await server.get("/db/doc").json["n"] == 1)
      #expect(try await server.put("/db/doc?new_edits=false", ["n": 1]).status == 400)
    }
  }

  @Test(arguments: ["conflicts", "deleted_conflicts", "revs_info", "local_seq", "meta"])
  func `replies that can change while the revision stays have no ETag`(option: String) async throws {
    try await withServer { server in
      _ = try await server.put("/db")
      try await Self.makeConflict(server)
      let plain = try await server.get("/db/doc")
      let tag = try #require(plain.headers["etag"])
      #expect(try await server.get("/db/doc", headers: [("If-None-Match", tag)]).status == 304)
      let told = try await server.get("/db/doc?\(option)=true", headers: [("If-None-Match", tag)])
      #expect(told.status == 200)
      #expect(told.headers["etag"] == nil)
    }
  }

  @Test func `a weak tag is compared like a strong one`() async throws {
    try await withServer { server in
      let made = try await server.put("/db/a", ["n": 1])
      let tag = try #require(made.headers["etag"])
      for known in [tag, "W/\(tag)", "\"x\", W/\(tag)", "*"] {
        #expect(try await server.get("/db/a", headers: [("If-None-Match", known)]).status == 304)
      }
      #expect(try await server.send("DELETE", "/db/a", headers: [("If-Match", "W/\(tag)")]).status == 200)
    }
  }

  @Test(arguments: ["revs", "revs_info", "conflicts", "attachments", "latest", "new_edits", "meta"])
  func `a flag that is neither true nor false is ignored`(name: String) async throws {
    try await withServer { server in
      let made = try await server.put("/db/a?\(name)=maybe", ["n": 1])
      #expect(made.status == 201)
      let reply = try await server.get("/db/a?\(name)=maybe")
      #expect(reply.json == ["_id": "a", "_rev": made.json["rev"] ?? nil, "n": 1])
    }
  }

  @Test func `a revision that is inserted can be named by the query`() async throws {
    try await withServer { server async throws in
      #expect(try await server.put("/db/a?new_edits=false&rev=3-abc", ["n": 1]).status == 201)
      #expect(try await server.get("/db/a").json["_rev"] == "3-abc")
      #expect(try await server.put("/db/b?new_edits=false", ["n": 1]).status == 400)
    }
  }

  @Test func `members that CouchDB's replicator writes into a document are part of it`() async throws {
    try await withServer { server in
      let members: JSONObject = [
        "_replication_id": "1+continuous", "source": "a", "_replication_state": "completed",
        "_replication_state_time": "2026-11-25T12:00:00Z", "_replication_state_reason": nil,
        "_replication_stats": ["docs_read": 5],
      ]
      let made = try await server.put("/db/r", .object(members))
      #expect(made.status == 201)
      let read = try await server.get("/db/r").json.objectValue ?? [:]
      #expect(JSONObject(read.filter { $0.key != "_id" && $0.key != "_rev" }) == members)
      // An app reads and changes them as it does others.
      let store = try await server.manager.datastore(named: "db")
      var revision = try await store.document(withID: "r")
      revision.body["_replication_state"] = "error"
      _ = try await store.updateDocument(from: revision)
      #expect(try await server.get("/db/r").json["_replication_state"] == "error")
      #expect(try await server.put("/db/s", ["_replication_other": 1]).json["error"] == "doc_validation")
    }
  }

  @Test(.timeLimit(.usual)) func `a document takes any number of conflicts`() async throws {
    try await withServer { server in
      _ = try await server.put("/db")
      let documents = (0..<20_000).map { number -> JSONValue in
        ["_id": "doc", "_rev": .string("1-\(String(number, radix: 16))")]
      }
      let reply = try await server.post("/db/_bulk_docs", ["new_edits": false, "docs": .array(documents)])
      #expect(reply.status == 201)
      #expect(try await server.get("/db/doc").json["_rev"] == "1-fff")
    }
  }
}
