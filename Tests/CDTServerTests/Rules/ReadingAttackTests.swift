import CDTJSON
import CDTServerTestSupport
import CDTTestSupport
import Testing

/// Attempts of a user to learn of documents that the user does not see.
@Suite struct ReadingAttackTests {
  private static let owned: JSONValue = [
    ["roles": ["*"], "selector": ["owner": ["$data": "userCtx.name"]]]
  ]

  /// A database in which anna sees some documents, and none of those whose bodies and ids have the word.
  private static func run(
    _ body: (RuleSite, _ anna: RunningServer, _ revision: String) async throws -> Void
  ) async throws {
    try await RuleSite.run { site in
      try await site.setRules(owned)
      try await site.save("mine", ["owner": "anna", "n": 1, "text": "red apples"])
      var revision = ""
      for number in 0..<Int64(20) {
        revision = try await site.save(
          "hush\(number)",
          [
            "owner": "hush", "n": .int(number), "text": "hush apples",
            "_attachments": ["hush.txt": ["data": "aHVzaA=="]],
          ])
      }
      for (name, type) in [("n", "json"), ("text", "text")] as [(JSONValue, JSONValue)] {
        _ = try await site.admin.post(
          "/db/_index", ["index": ["fields": [name]], "name": name, "ddoc": name, "type": type])
      }
      try await body(site, site.user("anna"), revision)
    }
  }

  @Test func `a guessed id has the words of one that does not exist`() async throws {
    try await Self.run { _, anna, revision in
      let suffixes = [
        "", "?rev=\(revision)", "?rev=\(revision)&latest=true", "?open_revs=all", "?conflicts=true",
        "?attachments=true", "/hush.txt", "/hush.txt?rev=\(revision)", "?revs_info=true", "?local_seq=true",
      ]
      for suffix in suffixes {
        let (hidden, missing) = (
          try await anna.get("/db/hush19\(suffix)"), try await anna.get("/db/none\(suffix)")
        )
        #expect(hidden.status == missing.status && hidden.json == missing.json, "\(suffix)")
        #expect(hidden.headers["etag"] == nil && hidden.status == 404)
      }
      let open = "?open_revs=%5B%22\(revision)%22%5D"
      let accept = [("Accept", "application/json")]
      #expect(
        try await anna.get("/db/hush19\(open)", headers: accept).json
          == anna.get("/db/none\(open)", headers: accept).json)
      for headers in [
        [("If-None-Match", "\"\(revision)\"")], [("If-None-Match", "*")], [("Range", "bytes=0-1")],
      ] {
        #expect(try await anna.get("/db/hush19", headers: headers).status == 404)
        #expect(try await anna.get("/db/hush19/hush.txt", headers: headers).status == 404)
      }
      let bulk = try await anna.post(
        "/db/_bulk_get",
        ["docs": [["id": "hush19", "rev": .string(revision)], ["id": "none", "rev": .string(revision)]]])
      let rows = bulk.json["results"]?.arrayValue?.map { $0["docs"]?.without(["id"]) }
      #expect(rows?.first == rows?.last)
      let diff = try await anna.post(
        "/db/_revs_diff", ["hush19": [.string(revision), "9-x"], "none": [.string(revision), "9-x"]])
      #expect(diff.json["hush19"] == diff.json["none"])
      // Copies, and attachments by digest.
      let copy = try await anna.send("COPY", "/db/hush19", headers: [("Destination", "copy")])
      #expect(copy.status == 404)
      let stub: JSONValue = [
        "_id": "thief", "owner": "anna",
        "_attachments": ["a": ["stub": true, "digest": "sha1-x", "length": 4]],
      ]
      #expect(try await anna.post("/db", stub).status == 412)
    }
  }

  @Test func `a write to a document that is not seen is refused in one way`() async throws {
    try await Self.run { _, anna, revision in
      let expected: JSONValue = ["error": "forbidden", "reason": "you may not change this document"]
      var replies = [
        try await anna.put("/db/hush19", ["owner": "anna"]),
        try await anna.put("/db/hush19?rev=\(revision)", ["owner": "anna"]),
        try await anna.put("/db/hush19?rev=1-a", ["owner": "anna"]),
        try await anna.delete("/db/hush19"), try await anna.delete("/db/hush19?rev=\(revision)"),
        try await anna.delete("/db/hush19/hush.txt?rev=\(revision)"),
        try await anna.put("/db/hush19?new_edits=false", ["_rev": "9-a", "owner": "anna"]),
        try await anna.post("/db", ["_id": "hush19", "owner": "anna"]),
        try await anna.send("COPY", "/db/mine", headers: [("Destination", "hush19")]),
        try await anna.send("PUT", "/db/hush19/new.txt", body: Array("x".utf8)),
      ]
      for reply in replies {
        #expect(reply.status == 403)
        #expect(reply.json.without(["failures"]) == expected)
      }
      for areNew in [true, false] as [JSONValue] {
        replies = [
          try await anna.post(
            "/db/_bulk_docs",
            ["new_edits": areNew, "docs": [["_id": "hush19", "_rev": "9-a", "owner": "anna"]]])
        ]
        #expect(replies[0].json[0]?["reason"] == expected["reason"])
      }
    }
  }

  @Test func `no reply has a word of them`() async throws {
    try await Self.run { site, anna, _ in
      let gets = [
        "", "/_all_docs?include_docs=true", "/_all_docs?update_seq=true",
        "/_changes?include_docs=true&style=all_docs",
        "/_fields", "/_conflicts", "/_design_docs", "/_index", "/_local_docs", "/_revs_limit",
        "/_design/n/_view/n?reduce=false",
      ]
      for path in gets { #expect(try await !anna.get("/db\(path)").text.contains("hush"), "\(path)") }
      #expect(try await anna.get("/db/_index?statistics=true").status == 403)
      #expect(try await anna.get("/db/_rules").status == 403)
      let finds: [JSONValue] = [
        ["selector": [:], "execution_stats": true], ["selector": ["n": ["$gt": 3]], "execution_stats": true],
        ["selector": ["n": 19]], ["selector": ["$text": ["$search": "apples"]], "snippets": true],
        ["selector": [:], "sort": [["n": "desc"]], "limit": 1],
        ["selector": [:], "group": ["by": ["owner"], "count": true, "max": ["n"]]],
        ["selector": ["_id": ["$regex": "^hush"]]], ["selector": ["_attachments": ["$exists": true]]],
      ]
      for find in finds {
        for path in ["/db/_find", "/db/_explain"] {
          let reply = try await anna.post(path, find)
          let text = reply.text.replacing("^hush", with: "")
          #expect(!text.contains("hush"), "\(path) \(find.text)")
          #expect(!text.contains("examined") && !text.contains("waiting"), "\(path) \(find.text)")
        }
      }
      // A score would tell how many documents have a word.
      let scored: JSONValue = [
        "selector": ["$text": ["$search": "hush OR apples"]], "sort": [["$text": "score"]],
      ]
      #expect(try await anna.post("/db/_find", scored).status == 400)
      // A bookmark of the admin is a position, which tells nothing that the admin does not tell.
      let page = try await site.admin.post("/db/_find", ["selector": [:], "sort": ["n"], "limit": 5]).json
      let next = try await anna.post(
        "/db/_find", ["selector": [:], "sort": ["n"], "bookmark": page["bookmark"] ?? .null])
      #expect(next.json["docs"]?.arrayValue?.contains { $0["owner"] != "anna" } == false)
    }
  }

  @Test func `a unique index refuses a value without naming who has it`() async throws {
    try await RuleSite.run { site in
      try await site.setRules(Self.owned)
      _ = try await site.admin.post(
        "/db/_index", ["index": ["fields": ["mail"], "unique": true], "name": "mail", "ddoc": "mail"])
      try await site.save("hush", ["owner": "hush", "mail": "a@b"])
      let anna = site.user("anna")
      let refused = try await anna.put("/db/mine", ["owner": "anna", "mail": "a@b"])
      #expect(refused.status == 412)
      #expect(!refused.text.contains("hush"))
      let bulk = try await anna.post(
        "/db/_bulk_docs", ["docs": [["_id": "x", "owner": "anna", "mail": "a@b"]]])
      #expect(!bulk.text.contains("hush"))
    }
  }

  @Test func `users can't change what they see`() async throws {
    try await Self.run { site, anna, _ in
      let open: JSONValue = ["language": "query", "read": [["roles": ["*"], "selector": [:]]]]
      #expect(try await anna.put("/db/_design/mine", open).status == 403)
      var replicated = open.objectValue ?? [:]
      (replicated["_id"], replicated["_rev"]) = ("_design/mine", "1-a")
      let bulk = try await anna.post("/db/_bulk_docs", ["new_edits": false, "docs": [.object(replicated)]])
      #expect(bulk.json[0]?["error"] == "forbidden")
      #expect(
        try await anna.put("/db/_security", ["admins": ["names": ["anna"], "roles": []]]).status == 403)
      #expect(
        try await anna.send("COPY", "/db/mine", headers: [("Destination", "_design/mine")]).status == 403)
      // Giving a document away is a write of one's own document, which then is not seen any more.
      let mine = try await anna.get("/db/mine").json["_rev"]?.stringValue ?? ""
      #expect(try await anna.put("/db/mine?rev=\(mine)", ["owner": "bob"]).status == 201)
      #expect(try await anna.get("/db/mine").status == 404)
      #expect(try await site.user("bob").get("/db/mine").status == 200)
    }
  }

  @Test(.timeLimit(.minutes(2))) func `a rule that never ends shows nothing, and the server goes on`()
    async throws
  {
    try await RuleSite.run { site in
      try await site.setRules([["roles": ["*"], "selector": ["text": ["$regex": "^(a+)+$"]]]])
      let text = JSONValue.string(String(repeating: "a", count: 60) + "!")
      for number in 0..<5 { try await site.save("d\(number)", ["text": text]) }
      try await site.save("seen", ["text": "aa"])
      let rows = try await site.user("anna").get("/db/_all_docs").json["rows"]?.arrayValue
      #expect(rows?.map { $0["id"] } == ["seen"])
      #expect(try await site.user("anna").changes().rows.map { $0["id"] } == ["seen"])
      #expect(try await site.admin.get("/db").status == 200)
    }
  }

  @Test(.timeLimit(.minutes(2))) func `many and long rules are read`() async throws {
    try await RuleSite.run { site in
      let names = JSONValue.array((0..<5_000).map { .string("name number \($0)") })
      let long: JSONValue = [
        "_id": "_design/long", "language": "query",
        "read": [["roles": ["*"], "selector": ["owner": ["$in": names]]]],
      ]
      #expect(try await site.admin.post("/db/_bulk_docs", ["docs": [long]]).json[0]?["ok"] == true)
      for part in 0..<4 {
        let documents = (0..<50).map { number -> JSONValue in
          [
            "_id": .string("_design/d\(part)-\(number)"), "language": "query",
            "read": [["roles": [.string("role\(number)")], "selector": ["n": .int(Int64(number))]]],
          ]
        }
        _ = try await site.admin.post("/db/_bulk_docs", ["docs": .array(documents)])
      }
      try await site.save("a", ["owner": "name number 4999"])
      try await site.save("b", ["owner": "other"])
      let anna = site.user("anna")
      let start = try await anna.changes()
      #expect(start.rows.map { $0["id"] } == ["a"])
      #expect(try await anna.changes(since: start.last).rows == [])
    }
  }

  @Test func `only admins see what another user sees`() async throws {
    try await Self.run { site, anna, _ in
      let (owner, bob) = (site.user("owner"), site.user("bob"))
      for path in ["/db/_all_docs", "/db/mine", "/db/hush3", "/db/_changes"] {
        let asAnna = try await owner.get(path, headers: [("X-As-User", "anna")])
        let own = try await anna.get(path)
        #expect(
          asAnna.status == own.status
            && asAnna.json.without(["seq", "last_seq"]) == own.json.without(["seq", "last_seq"]))
        #expect(try await bob.get(path, headers: [("X-As-User", "anna")]).status == 403)
      }
      // What anna may not do, an admin may not do as anna.
      for (method, path) in [
        ("GET", "_backup"), ("POST", "_compact"), ("PUT", "_security"), ("PUT", "_design/x"),
      ] {
        let refused = try await owner.send(method, "/db/\(path)", json: [:], headers: [("X-As-User", "anna")])
        #expect(refused.status == 403, "\(path)")
      }
      // Roles can be given, too, and users that do not exist.
      let headers = [("X-As-User", ""), ("X-As-Roles", "a, b")]
      #expect(try await owner.get("/db/_all_docs", headers: headers).json["rows"] == [])
      let write = try await owner.send("PUT", "/db/hush3", json: [:], headers: [("X-As-User", "anna")])
      #expect(write.json["reason"] == "you may not change this document")
    }
  }
}
