import CDTDatastore
import CDTJSON
import CDTServerTestSupport
import CDTTestSupport
import CouchDB
import Testing

/// The server and its databases.
@Suite struct DatabaseTests {
  @Test func `the server introduces itself`() async throws {
    try await withServer { server in
      let welcome = try await server.get("/").json
      #expect(welcome["couchdb"] == "Welcome")
      #expect(welcome["uuid"]?.stringValue?.count == 32)
      #expect(try await server.get("/_up").json["status"] == "ok")
      #expect(try await server.get("/_uuids?count=3").json["uuids"]?.arrayValue?.count == 3)
      #expect(try await server.get("/_uuids?count=100000").status == 400)
      #expect(try await server.get("/_active_tasks").json == [])
      #expect(try await server.get("/_session").json["userCtx"] == ["name": nil, "roles": ["_admin"]])
    }
  }

  @Test func `a database is created, described and deleted`() async throws {
    try await withServer { server in
      #expect(try await server.put("/tasks").status == 201)
      let again = try await server.put("/tasks")
      #expect(again.status == 412)
      #expect(again.json["error"] == "file_exists")
      _ = try await server.put("/tasks/a", [:])
      let made = try await server.put("/tasks/b", [:])
      _ = try await server.delete("/tasks/b?rev=\(made.json["rev"]?.stringValue ?? "")")
      let info = try await server.get("/tasks").json
      #expect(info["db_name"] == "tasks")
      #expect(info["doc_count"] == 1)
      #expect(info["doc_del_count"] == 1)
      #expect(info["update_seq"]?.stringValue?.hasPrefix("3-") == true)
      let start = info["instance_start_time"]
      #expect(start?.stringValue != nil)
      #expect(try await server.get("/tasks/").json["instance_start_time"] == start)
      #expect(try await server.get("/_all_dbs").json == ["db", "tasks"])
      for (query, names) in [
        ("limit=1&descending=true", ["tasks"]), ("startkey=%22e%22", ["tasks"]), ("endkey=%22e%22", ["db"]),
        ("endkey=%22tasks%22&inclusive_end=false", ["db"]), ("key=%22db%22&startkey=%22x%22", ["db"]),
        ("keys=%5B%22tasks%22%5D", ["tasks"]), ("skip=1", ["tasks"]), ("startkey=%5B%5D", []),
        ("endkey=1", []), ("endkey=%5B%5D&startkey=null", ["db", "tasks"]),
        ("startkey=%22e%22&descending=true", ["db"]),
      ] as [(String, [String])] {
        #expect(
          try await server.get("/_all_dbs?\(query)").json == .array(names.map { .string($0) }), "\(query)")
      }
      #expect(try await server.get("/_all_dbs?startkey=a").status == 400)
      #expect(
        try await server.post("/_dbs_info", ["keys": ["tasks", "none"]]).json[1]?["error"] == "not_found")
      #expect(try await server.send("HEAD", "/tasks").status == 200)
      #expect(try await server.delete("/tasks?rev=1-a").status == 400)
      #expect(try await server.delete("/tasks").json == ["ok": true])
      #expect(try await server.send("HEAD", "/tasks").status == 404)
      #expect(try await server.get("/tasks").json["reason"] == "Database does not exist.")
      // Under the same name it is another database.
      _ = try await server.put("/tasks")
      #expect(try await server.get("/tasks").json["instance_start_time"] != start)
    }
  }

  @Test func `the head of a database is that of its description`() async throws {
    try await withServer { server in
      for path in ["/db", "/none"] {
        let (head, whole) = try await (server.send("HEAD", path), server.get(path))
        #expect(head.status == whole.status)
        #expect(head.headers["content-type"] == "application/json")
        #expect(head.headers["content-length"] == whole.headers["content-length"])
        #expect(head.body == [])
      }
    }
  }

  @Test func `a database is not partitioned`() async throws {
    try await withServer { server in
      let refused = try await server.put("/tasks?partitioned=true")
      #expect(refused.status == 501)
      #expect(refused.json["reason"]?.stringValue?.contains("; use ") == true)
      #expect(try await server.get("/tasks").status == 404)
      #expect(try await server.put("/tasks?partitioned=false&q=2&n=1").status == 201)
    }
  }

  @Test(arguments: [
    "Bad%20name", "a.b", "1a", "%2Fb", "a%00", "%2e%2e", "a+b", "Tasks", "a-B",
    String(repeating: "a", count: 239),
  ])
  func `a name that CouchDB refuses`(name: String) async throws {
    try await withServer { server in
      let refused = try await server.put("/\(name)")
      #expect(refused.status == 400)
      #expect(
        ["illegal_database_name", "database_name_too_long"].contains(refused.json["error"]?.stringValue))
      #expect(try await server.get("/_all_dbs").json == ["db"])
    }
  }

  @Test(arguments: [
    "obsidian-livesync", "a$(b)%2B", "couchdb-python%2F1", String(repeating: "a", count: 238),
  ])
  func `every name of CouchDB is one of a database`(name: String) async throws {
    try await withServer { server in
      let text = try PercentCoding.decode(name)
      let decoded = JSONValue.string(text)
      #expect(try await server.put("/\(name)").status == 201)
      #expect(try await server.put("/\(name)").status == 412)
      #expect(try await server.get("/\(name)").json["db_name"] == decoded)
      #expect(try await server.get("/_all_dbs?startkey=%22\(name)%22&limit=1").json == [decoded])
      let saved = try await server.put("/\(name)/doc", [:])
      let location = try #require(saved.headers["location"])
      #expect(location == "\(server.url)/\(PercentCoding.encode(text))/doc")
      #expect(try await server.get("/\(name)/_all_docs").json["total_rows"] == 1)
      #expect(try await server.delete("/\(name)").status == 200)
      #expect(try await server.get("/\(name)").status == 404)
    }
  }

  @Test func `a store of an app with upper-case letters is served, and can't be created`() async throws {
    try await withServer { server in
      _ = try await server.manager.datastore(named: "MyTasks")
      #expect(try await server.get("/_all_dbs").json == ["MyTasks", "db"])
      #expect(try await server.put("/MyTasks/doc", [:]).status == 201)
      #expect(try await server.put("/MyTasks").status == 412)
      #expect(try await server.delete("/MyTasks").status == 200)
      #expect(try await server.put("/MyTasks").json["error"] == "illegal_database_name")
    }
  }

  @Test func `a store that an app deletes is gone, and its successor is served`() async throws {
    try await withServer { server in
      _ = try await server.put("/db/a", [:])
      try server.manager.deleteDatastore(named: "db")
      #expect(try await server.get("/db/a").status == 404)
      let store = try await server.manager.datastore(named: "db")
      try await store.createDocument(from: DocumentDraft(id: "b", body: [:]))
      #expect(try await server.get("/db/b").status == 200)
      #expect(try await server.get("/db/a").status == 404)
    }
  }

  @Test func `a document is made with an id of the server`() async throws {
    try await withServer { server in
      let made = try await server.post("/db", ["n": 1])
      #expect(made.status == 201)
      let id = try #require(made.json["id"]?.stringValue)
      #expect(try await server.get("/db/\(id)").json["n"] == 1)
      #expect(try await server.post("/db", ["_id": "mine"]).json["id"] == "mine")
      #expect(try await server.send("POST", "/db", body: Array("{}".utf8)).status == 415)
    }
  }

  @Test func `many documents are saved, each for itself`() async throws {
    try await withServer { server in
      _ = try await server.put("/db/a", ["n": 1])
      let reply = try await server.post(
        "/db/_bulk_docs",
        ["docs": [["_id": "a", "n": 2], ["_id": "b"], ["n": 1], ["_id": "_local/l", "n": 1]]])
      #expect(reply.status == 201)
      let rows = try #require(reply.json.arrayValue)
      #expect(rows.map { $0["error"]?.stringValue } == ["conflict", nil, nil, nil])
      #expect(rows[1]["ok"] == true)
      #expect(rows[3] == ["ok": true, "id": "_local/l", "rev": "0-1"])
      #expect(try await server.get("/db").json["doc_count"] == 3)
      #expect(try await server.get("/db/_local/l").json["n"] == 1)
      let replicated: JSONValue = [
        ["_id": "_local/l", "_rev": "0-7", "n": 2], ["_id": "_local/m", "_rev": "0-1", "_deleted": true],
      ]
      #expect(try await server.post("/db/_bulk_docs", ["new_edits": false, "docs": replicated]).json == [])
      #expect(try await server.get("/db/_local/l").json == ["_id": "_local/l", "_rev": "0-8", "n": 2])
      let removed = try await server.post(
        "/db/_bulk_docs", ["docs": [["_id": "_local/l", "_deleted": true]]])
      #expect(removed.json[0]?["rev"] == "0-0")
      #expect(try await server.get("/db/_local/l").status == 404)
    }
  }

  struct Malformed: Sendable, CustomTestStringConvertible {
    /// The other members of the body.
    let testDescription: String
    let status: Int
    let error: String
  }

  static let malformed = [
    Malformed(
      testDescription: #""docs": [{"_id": "a"}, {"_id": "_x"}]"#, status: 400, error: "illegal_docid"),
    Malformed(testDescription: #""docs": [{"_id": "a"}, {"_x": 1}]"#, status: 400, error: "doc_validation"),
    Malformed(testDescription: #""docs": [{"_id": "a"}, {"_id": 1}]"#, status: 400, error: "illegal_docid"),
    Malformed(testDescription: #""docs": [{"_id": "a"}, {"_id": ""}]"#, status: 400, error: "illegal_docid"),
    Malformed(
      testDescription: #""docs": [{"_id": "a"}, {"_id": "_local/"}]"#, status: 400, error: "illegal_docid"),
    Malformed(testDescription: #""docs": [{"_id": "a"}, 5]"#, status: 400, error: "bad_request"),
    Malformed(testDescription: #""docs": [{"_id": "a"}, {"_rev": "x"}]"#, status: 400, error: "bad_request"),
    Malformed(
      testDescription: #""docs": [{"_id": "a", "_rev": "1-a"}, {"_id": "b"}], "new_edits": false"#,
      status: 400,
      error: "bad_request"),
    Malformed(
      testDescription: #""docs": [{"_id": "a"}, {"_attachments": {"a": {"data": "YW=J"}}}]"#, status: 400,
      error: "bad_request"),
    Malformed(testDescription: #""new_edits": false"#, status: 400, error: "bad_request"),
    Malformed(testDescription: #""docs": "a""#, status: 400, error: "bad_request"),
    Malformed(
      testDescription: #""docs": [{"_id": "a"}], "new_edits": "false""#, status: 400, error: "bad_request"),
    Malformed(testDescription: #""docs": [{"_id": "a"}], "new_edits": 0"#, status: 400, error: "bad_request"),
  ]

  @Test(arguments: malformed) func `a malformed document refuses all`(_ malformed: Malformed) async throws {
    try await withServer { server in
      let reply = try await server.send(
        "POST", "/db/_bulk_docs", body: Array("{\(malformed.testDescription)}".utf8),
        headers: [("Content-Type", "application/json")])
      #expect(reply.status == malformed.status)
      #expect(reply.json["error"]?.stringValue == malformed.error)
      #expect(try await server.get("/db/_all_docs").json["rows"] == [])
    }
  }

  @Test func `a malformed document of a later batch refuses all, too`() async throws {
    try await withServer { server async throws in
      let documents = (0..<700).map { JSONValue.object(["_id": $0 < 699 ? .string("d\($0)") : "_x"]) }
      #expect(try await server.post("/db/_bulk_docs", ["docs": .array(documents)]).status == 400)
      #expect(try await server.get("/db").json["doc_count"] == 0)
    }
  }

  @Test func `documents are not saved all or not at all`() async throws {
    try await withServer { server in
      let reply = try await server.post("/db/_bulk_docs", ["docs": [["_id": "a"]], "all_or_nothing": true])
      #expect(reply.status == 417)
      #expect(
        reply.json == [["id": "a", "error": "not_implemented", "reason": "all_or_nothing is not supported"]])
      #expect(try await server.get("/db/a").status == 404)
    }
  }

  @Test func `histories are cut at the limit of revisions`() async throws {
    try await withServer { server in
      _ = try await server.put("/db/_revs_limit", 3)
      func history(of id: String) async throws -> JSONValue? {
        try await server.get("/db/\(id)?revs=true").json["_revisions"]
      }
      var revision = ""
      for number in 1...5 {
        let tag = revision.isEmpty ? "" : "?rev=\(revision)"
        revision =
          try await server.put("/db/a\(tag)", ["n": .int(Int64(number))]).json["rev"]?.stringValue ?? ""
      }
      #expect(try await history(of: "a")?["start"] == 5)
      #expect(try await history(of: "a")?["ids"]?.arrayValue?.count == 3)
      let replicated: JSONValue = [
        "_id": "b", "_rev": "9-i", "_revisions": ["start": 9, "ids": ["i", "h", "g", "f", "e", "d"]],
      ]
      for _ in 0..<2 {
        _ = try await server.post("/db/_bulk_docs", ["new_edits": false, "docs": [replicated]])
        #expect(try await history(of: "b") == ["start": 9, "ids": ["i", "h", "g"]])
      }
      // A branch that meets the kept revisions is one of the same tree.
      _ = try await server.post(
        "/db/_bulk_docs",
        [
          "new_edits": false,
          "docs": [
            ["_id": "b", "_rev": "9-j", "_revisions": ["start": 9, "ids": ["j", "h", "g", "f"]]]
          ],
        ])
      #expect(try await server.get("/db/b?conflicts=true").json["_conflicts"] == ["9-i"])
      #expect(try await history(of: "b") == ["start": 9, "ids": ["j", "h", "g"]])
    }
  }

  @Test(.timeLimit(.usual)) func `a compaction cuts histories to a limit that was lowered`()
    async throws
  {
    try await withServer { server in
      let histories = [
        ("a", ["f", "e", "d", "c", "b", "a"]), ("b", ["f", "e", "d"]), ("b", ["x", "e", "d"]),
      ]
      for (id, ids) in histories {
        let history: JSONValue = ["start": 9, "ids": .array(ids.map { .string($0) })]
        _ = try await server.post(
          "/db/_bulk_docs", ["new_edits": false, "docs": [["_id": .string(id), "_revisions": history]]])
      }
      _ = try await server.put("/db/_revs_limit", 2)
      func ids(of id: String, _ revision: String) async throws -> JSONValue? {
        try await server.get("/db/\(id)?revs=true&rev=\(revision)").json["_revisions"]
      }
      #expect(try await ids(of: "a", "9-f")?["ids"]?.arrayValue?.count == 6)
      #expect(try await server.post("/db/_compact", [:]).status == 202)
      while try await ids(of: "b", "9-x")?["ids"]?.arrayValue?.count != 2 {
        try await Task.sleep(for: .milliseconds(20))
      }
      #expect(try await ids(of: "a", "9-f") == ["start": 9, "ids": ["f", "e"]])
      #expect(try await ids(of: "b", "9-f") == ["start": 9, "ids": ["f", "e"]])
      #expect(try await ids(of: "b", "9-x") == ["start": 9, "ids": ["x", "e"]])
    }
  }

  @Test func `the bytes of free pages are not in use`() async throws {
    try await withServer { server in
      for number in 0..<20 {
        let text = JSONValue.string(String(repeating: "x", count: 20_000))
        let made = try await server.put("/db/doc\(number)", ["text": text])
        let revision = try #require(made.json["rev"]?.stringValue)
        _ = try await server.put("/db/doc\(number)?rev=\(revision)", [:])
      }
      _ = try await server.put("/db/_revs_limit", 1)
      for number in 0..<20 {
        let revision = try #require(try await server.get("/db/doc\(number)").json["_rev"]?.stringValue)
        _ = try await server.put("/db/doc\(number)?rev=\(revision)", ["n": 1])
      }
      let sizes = try await server.get("/db").json["sizes"]
      let (file, active) = (try #require(sizes?["file"]?.intValue), try #require(sizes?["active"]?.intValue))
      #expect(active <= file - 300_000)
      #expect(active > 0)
    }
  }

  @Test(.timeLimit(.usual)) func `settings that another server changes apply`() async throws {
    try await withServer { server in
      #expect(try await server.get("/db/_revs_limit").json == 1000)
      try await withServer(of: try DatastoreManager(directory: server.manager.directory)) { other in
        let reply = try await other.put("/db/_revs_limit", 7)
        #expect(reply.status == 200)
      }
      try await eventually("the limit is 7") { try await server.get("/db/_revs_limit").json == 7 }
    }
  }

  @Test func `settings are kept with the database`() async throws {
    try await withServer { server in
      #expect(try await server.get("/db/_revs_limit").json == 1000)
      #expect(try await server.put("/db/_revs_limit", 5).json == ["ok": true])
      #expect(try await server.get("/db/_revs_limit").json == 5)
      #expect(try await server.put("/db/_revs_limit", 0).status == 400)
      let security: JSONValue = [
        "admins": ["names": ["a"], "roles": []], "members": ["names": [], "roles": ["r"]],
      ]
      #expect(try await server.put("/db/_security", security).json == ["ok": true])
      #expect(try await server.get("/db/_security").json == security)
      #expect(try await server.put("/db/_security", ["admins": 1]).status == 400)
      #expect(try await server.get("/db/_local_docs").json["rows"] == [])
      let committed = try await server.post("/db/_ensure_full_commit", [:])
      #expect(committed.status == 201)
      let start = try await server.get("/db").json["instance_start_time"]
      #expect(committed.json["instance_start_time"] == start)
      #expect(try await server.post("/db/_compact", [:]).status == 202)
      #expect(try await server.post("/db/_view_cleanup", [:]).status == 202)
    }
  }

  @Test func `local documents have revisions that are not checked`() async throws {
    try await withServer { server in
      #expect(try await server.put("/db/_local/a", ["n": 1]).json["rev"] == "0-1")
      #expect(try await server.put("/db/_local/a", ["_rev": "0-99", "n": 2]).json["rev"] == "0-100")
      #expect(try await server.get("/db/_local%2Fa").json == ["_id": "_local/a", "_rev": "0-100", "n": 2])
      #expect(try await server.put("/db/_local/a", ["_rev": "1-x"]).status == 400)
      let posted = try await server.post("/db", ["_id": "_local/a", "n": 2, "_rev": "0-99"])
      #expect(posted.status == 201)
      #expect(posted.json == ["ok": true, "id": "_local/a", "rev": "0-100"])
      #expect(try await server.post("/db", ["_id": "_local/"]).status == 400)
      #expect(try await server.post("/db", ["_id": "_local/\u{1}server"]).status == 400)
      #expect(try await server.get("/db/_local/a/b").status == 400)
      #expect(try await server.put("/db/_local%2Fa/b", [:]).status == 400)
      #expect(try await server.put("/db/_local/b", [:]).status == 201)
      let rows = try await server.get("/db/_local_docs?include_docs=true&limit=1").json["rows"]
      #expect(rows?.arrayValue?.count == 1)
      #expect(rows?[0]?["doc"]?["n"] == 2)
      let keys: JSONValue = ["keys": ["_local/b", "_local/none", "_local/a", "_local/\u{1}server"]]
      for path in ["/db/_local_docs", "/db/_all_docs"] {
        let rows = try await server.post(path, keys).json["rows"]?.arrayValue
        #expect(rows?.map { $0["id"] } == ["_local/b", nil, "_local/a", nil])
        #expect(rows?[1] == ["key": "_local/none", "error": "not_found"])
        #expect(rows?[2]["value"] == ["rev": "0-100"])
      }
      let queries = try await server.post("/db/_local_docs/queries", ["queries": [["limit": 1], keys]])
      #expect(queries.json["results"]?.arrayValue?.map { $0["rows"]?.arrayValue?.count } == [1, 4])
      #expect(
        try await server.get("/db/_local_docs?startkey=%22_local/a%22&descending=true").json["rows"]?[0]?[
          "id"]
          == "_local/a")
      #expect(try await server.delete("/db/_local/a").json["rev"] == "0-0")
      #expect(try await server.get("/db/_local/a").status == 404)
      #expect(try await server.get("/db").json["doc_count"] == 0)
      #expect(try await server.get("/db/_local/%01server").status == 400)
      // A store's own users see the body.
      let store = try await server.manager.datastore(named: "db")
      _ = try await server.put("/db/_local/c", ["_rev": "0-3", "n": 3])
      #expect(try await store.read { try $0.localDocument(withID: "c") } == ["n": 3])
      let emptied = try await server.put("/db/_local/c", ["_deleted": true])
      #expect(emptied.json["rev"] == "0-0")
      #expect(try await server.get("/db/_local/c").status == 404)
    }
  }

  @Test func `a local document whose id begins with a combining character is listed`() async throws {
    try await withServer { server in
      #expect(try await server.put("/db/_local/%CC%81q", ["n": 1]).status == 201)
      let rows = try await server.get("/db/_local_docs?include_docs=true").json["rows"]
      #expect(rows?.arrayValue?.count == 1)
      #expect(rows?[0]?["doc"]?["n"] == 1)
    }
  }

  struct Unsupported: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var method = "GET"
  }

  static let unsupported = [
    Unsupported(testDescription: "/_users"),
    Unsupported(testDescription: "/_node/_local/_restart", method: "POST"),
    Unsupported(testDescription: "/db/_design/a/_show/b"),
    Unsupported(testDescription: "/db/_purge", method: "POST"),
    Unsupported(testDescription: "/db/_partition/a"), Unsupported(testDescription: "/db/_shards"),
    Unsupported(testDescription: "/db/_changes?filter=a/b"),
    Unsupported(testDescription: "/_db_updates"),
    Unsupported(testDescription: "/_node/_local/_stats/couchdb"),
    Unsupported(testDescription: "/_reshard"), Unsupported(testDescription: "/db/_purged_infos_limit"),
    Unsupported(testDescription: "/db/_design/a/_search/b"),
    Unsupported(testDescription: "/db/_design/a/_info"),
    Unsupported(testDescription: "/db/_design/a/_update/b", method: "PUT"),
    Unsupported(testDescription: "/db/_search_cleanup", method: "POST"),
  ]

  @Test(arguments: unsupported) func `unsupported requests name what to use`(request: Unsupported)
    async throws
  {
    try await withServer { server in
      let reply = try await server.send(request.method, request.testDescription)
      #expect(reply.status == 501)
      #expect(reply.json["error"] == "not_implemented")
      #expect(reply.json["reason"]?.stringValue?.contains("; use ") == true)
    }
  }

  @Test func `unsupported members name the right alternative`() async throws {
    try await withServer { server in
      for (method, path, word) in [
        ("GET", "/db/_design/d/_search/s", "$text"),
        ("GET", "/_users", "--users FILE"), ("GET", "/_config", "--cors"),
        ("PUT", "/db/_design/d/_update/u", "PUT of the document"), ("GET", "/_db_updates", "_changes"),
        ("GET", "/_stats", "/_metrics"), ("GET", "/_node/_local/_stats/couchdb", "/_metrics"),
      ] {
        let reply = try await server.send(method, path)
        #expect(reply.json["reason"]?.stringValue?.contains(word) == true, "\(path)")
      }
    }
  }

  @Test func `a name that begins with an underscore is neither a database nor a document`() async throws {
    try await withServer { server async throws in
      #expect(try await server.get("/_foo").json["reason"] == "Database does not exist.")
      #expect(try await server.get("/_all_dbs/_all_docs").status == 404)
      #expect(try await server.put("/_foo").json["error"] == "illegal_database_name")
      #expect(try await server.get("/db/_foo").status == 404)
      #expect(try await server.put("/db/_foo", [:]).json["error"] == "illegal_docid")
    }
  }

  @Test func `a method that a resource does not have is refused with those that it has`() async throws {
    try await withServer { server in
      for (method, path) in [
        ("POST", "/_all_dbs"), ("DELETE", "/db/_all_docs"), ("GET", "/db/_find"), ("PATCH", "/db/a"),
      ] {
        let reply = try await server.send(method, path)
        #expect(reply.status == 405)
        #expect(reply.json["error"] == "method_not_allowed")
        let allowed = try #require(reply.headers["allow"])
        #expect(reply.json["reason"]?.stringValue == "Only \(allowed) allowed")
      }
    }
  }
}
