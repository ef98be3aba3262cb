import CDTDatastore
import CDTJSON
import CDTServer
import CDTServerTestSupport
import CDTTestSupport
import Foundation
import Testing

/// Replications that a server runs itself: `_replicate` and the documents of `_replicator`.
@Suite(.timeLimit(.usual)) struct ReplicateTests {
  /// Runs `body` with two servers, each with an empty database `db`.
  private static func withServers(
    _ configure: (inout ServerConfiguration) throws -> Void = { _ in },
    _ body: (RunningServer, RunningServer) async throws -> Void
  ) async throws {
    try await withServer(configure) { one in try await withServer { two in try await body(one, two) } }
  }

  private static func fill(_ server: RunningServer, _ database: String = "db", count: Int) async throws {
    let documents = (0..<count).map { JSONValue.object(["_id": .string("doc\($0)"), "n": .int(Int64($0))]) }
    let reply = try await server.post("/\(database)/_bulk_docs", ["docs": .array(documents)])
    #expect(reply.status == 201)
  }

  private static func count(_ server: RunningServer, _ database: String = "db") async throws -> Int? {
    try await server.get("/\(database)").json["doc_count"]?.intValue.map { Int($0) }
  }

  /// Waits until a reply is as it should be.
  private static func wait(
    _ server: RunningServer, _ path: String, until isRight: (JSONValue) -> Bool
  ) async throws -> JSONValue {
    while true {
      let json = try await server.get(path).json
      if isRight(json) { return json }
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  // MARK: Own addresses

  @Test func `a URL of the server itself means its own database`() async throws {
    try await Self.withServers { one, two in
      try await Self.fill(one, count: 3)
      for (number, host) in ["127.0.0.1", "localhost", "ana:wrong@127.0.0.1", "[::1]"].enumerated() {
        let own = "http://\(host):\(one.port)"
        let body: JSONObject = [
          "source": .string("\(own)/db/"), "target": ["url": .string("\(own)/copy\(number)")],
          "create_target": true,
        ]
        let reply = try await one.post("/_replicate", .object(body))
        #expect(reply.status == 200, "\(reply.text)")
        #expect(try await Self.count(one, "copy\(number)") == 3)
      }
      let document: JSONObject = [
        "source": .string("\(one.url)/db"), "target": .string("\(one.url)/other"), "create_target": true,
      ]
      #expect(try await one.put("/_replicator/own", .object(document)).status == 201)
      _ = try await Self.wait(one, "/_replicator/own") { $0["_replication_state"] == "completed" }
      #expect(try await Self.count(one, "other") == 3)
      // Another port is another server.
      let elsewhere: JSONObject = ["source": .string("\(one.url)/db"), "target": .string("\(two.url)/db")]
      #expect(try await one.post("/_replicate", .object(elsewhere)).status == 200)
      #expect(try await Self.count(two) == 3)
    }
  }

  @Test func `a target is not created for a source that can't be read`() async throws {
    try await Self.withServers { one, two in
      for source in ["none", "\(one.url)/none", "\(two.url)/none", "http://127.0.0.1:1/db"] {
        for isContinuous in [false, true] {
          let body: JSONObject = [
            "source": .string(source), "target": "made", "create_target": true,
            "continuous": .bool(isContinuous),
          ]
          let reply = try await one.post("/_replicate", .object(body))
          #expect(reply.status >= 400, "\(source): \(reply.text)")
          #expect(try await one.get("/_all_dbs").json == ["db"])
        }
      }
    }
  }

  @Test func `_replicator is there when it is first used`() async throws {
    try await withServer { server async throws in
      #expect(try await server.get("/_all_dbs").json == ["db"])
      #expect(try await server.get("/_replicator").json["doc_count"] == 0)
      #expect(try await server.get("/_replicator/_all_docs").json["rows"] == [])
      #expect(try await server.send("PUT", "/_replicator", body: []).status == 412)
    }
    try await withServer({ $0.isReadOnly = true }) { server async throws in
      #expect(try await server.get("/_replicator").status == 404)
    }
  }

  // MARK: _replicate

  @Test func `a pull and a push answer at their end as CouchDB does`() async throws {
    try await Self.withServers { one, two in
      try await Self.fill(two, count: 3)
      let pull: JSONObject = ["source": .string("\(two.url)/db"), "target": "copy", "create_target": true]
      let reply = try await one.post("/_replicate", .object(pull))
      #expect(reply.status == 200, "\(reply.text)")
      #expect(reply.json["ok"] == true && reply.json["no_changes"] == nil)
      #expect(reply.json["replication_id_version"] == 4)
      let run = reply.json["history"]?[0]
      #expect(run?["docs_written"] == 3 && run?["docs_read"] == 3 && run?["missing_found"] == 3)
      #expect(run?["start_last_seq"] == "0" && run?["doc_write_failures"] == 0)
      #expect(run?["recorded_seq"] == reply.json["source_last_seq"])
      #expect(run?["session_id"] == reply.json["session_id"])
      #expect(try await Self.count(one, "copy") == 3)
      let again = try await one.post("/_replicate", .object(pull)).json
      #expect(again["no_changes"] == true)
      #expect(again["source_last_seq"] == reply.json["source_last_seq"])
      // Back, into another database.
      let push: JSONObject = [
        "source": "copy", "target": ["url": .string("\(two.url)/other")], "create_target": true,
        "doc_ids": ["doc1", "none"],
      ]
      #expect(try await one.post("/_replicate", .object(push)).json["history"]?[0]?["docs_written"] == 1)
      #expect(try await Self.count(two, "other") == 1)
      // Between two databases of the server.
      let local: JSONObject = [
        "source": "copy", "target": "second", "create_target": true, "selector": ["n": ["$gt": 0]],
      ]
      #expect(try await one.post("/_replicate", .object(local)).json["history"]?[0]?["docs_written"] == 2)
      #expect(try await Self.count(one, "second") == 2)
      #expect(try await one.get("/_active_tasks").json == [])
    }
  }

  @Test func `a continuous one is listed with its lag until it is cancelled`() async throws {
    try await Self.withServers { one, two in
      try await Self.fill(two, count: 2)
      let body: JSONObject = [
        "source": .string(two.url.replacing("//", with: "//ana:hunter2@") + "/db"), "target": "db",
        "continuous": true,
      ]
      // The other server knows no users, and its _session refuses them.
      let refused = try await one.post("/_replicate", .object(body))
      #expect(refused.status == 202)
      let crashing = try await Self.wait(one, "/_scheduler/jobs") {
        $0["jobs"]?[0]?["history"]?[0]?["type"] == "crashed"
      }
      #expect(!crashing.text.contains("hunter2"))
      let id = try #require(refused.json["_local_id"]?.stringValue)
      #expect(id.hasSuffix("+continuous"))
      var cancellation = body
      cancellation["cancel"] = true
      #expect(try await one.post("/_replicate", .object(cancellation)).json["_local_id"]?.stringValue == id)
      #expect(try await one.post("/_replicate", .object(cancellation)).status == 404)

      cancellation["source"] = .string("\(two.url)/db")
      var open = cancellation
      open["cancel"] = nil
      let started = try await one.post("/_replicate", .object(open))
      #expect(started.status == 202)
      // The same one again.
      #expect(try await one.post("/_replicate", .object(open)).json == started.json)
      let tasks = try await Self.wait(one, "/_active_tasks") { $0[0]?["lag_seconds"] == 0.0 }
      #expect(tasks.arrayValue?.count == 1)
      #expect(tasks[0]?["type"] == "replication" && tasks[0]?["continuous"] == true)
      #expect(tasks[0]?["source"]?.stringValue == "\(two.url)/db" && tasks[0]?["target"] == "db")
      #expect(tasks[0]?["docs_written"] == 2 && tasks[0]?["changes_pending"] == 0)
      _ = try await two.put("/db/later", [:])
      _ = try await Self.wait(one, "/db/later") { $0["_id"] == "later" }
      let name = (started.json["_local_id"]?.stringValue ?? "").replacing("+", with: "%2B")
      let job = try await one.get("/_scheduler/jobs/\(name)").json
      #expect(job["database"] == .null && job["doc_id"] == .null)
      #expect(job["history"]?[0]?["type"] == "started" && job["history"]?[1]?["type"] == "added")
      let byID: JSONObject = ["cancel": true, "replication_id": started.json["_local_id"] ?? ""]
      #expect(try await one.post("/_replicate", .object(byID)).json["ok"] == true)
      #expect(try await one.get("/_scheduler/jobs").json == ["total_rows": 0, "offset": 0, "jobs": []])
      #expect(try await one.get("/_scheduler/jobs/\(name)").status == 404)
    }
  }

  struct Refusal: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let body: JSONValue
    let status: Int
    let error: String

    init(_ status: Int, _ error: String, _ body: JSONValue) {
      (testDescription, self.body, self.status, self.error) = (body.text, body, status, error)
    }
  }

  static let refusals = [
    Refusal(400, "bad_request", [:]), Refusal(400, "bad_request", ["source": "db"]),
    Refusal(400, "bad_request", ["source": "db", "target": 5]),
    Refusal(400, "bad_request", ["source": "db", "target": "_replicator"]),
    Refusal(400, "bad_request", ["source": "db", "target": "file:///etc/passwd"]),
    Refusal(400, "bad_request", ["source": "db", "target": "http://127.0.0.1"]),
    Refusal(400, "bad_request", ["source": "db", "target": "http://ana@127.0.0.1/db"]),
    Refusal(
      400, "bad_request",
      ["source": "db", "target": ["url": "http://127.0.0.1:1/db", "headers": ["Authorization": "secret"]]]),
    Refusal(
      400, "bad_request",
      ["source": "db", "target": ["url": "http://127.0.0.1:1/db", "headers": ["a b": "c"]]]),
    Refusal(
      400, "bad_request",
      ["source": "db", "target": ["url": "http://127.0.0.1:1/db", "headers": ["a": "b\r\nc: d"]]]),
    Refusal(400, "bad_request", ["source": "db", "target": "copy", "continuous": "yes"]),
    Refusal(400, "bad_request", ["source": "db", "target": "copy", "doc_ids": ["a"], "selector": [:]]),
    Refusal(400, "bad_request", ["source": "db", "target": "copy", "doc_ids": [1]]),
    Refusal(400, "bad_request", ["source": "db", "target": "copy", "doc_ids": "a"]),
    Refusal(
      400, "bad_request",
      ["source": "db", "target": "copy", "create_target": true, "selector": ["a": ["$gtt": 1]]]),
    Refusal(400, "bad_request", ["source": "db", "target": "db"]),
    Refusal(404, "db_not_found", ["source": "none", "target": "db"]),
    Refusal(404, "db_not_found", ["source": "db", "target": "none"]),
    Refusal(400, "illegal_database_name", ["source": "db", "target": "None", "create_target": true]),
    Refusal(501, "not_implemented", ["source": "http://a/b", "target": "http://a/c"]),
    Refusal(501, "not_implemented", ["source": "db", "target": "copy", "filter": "d/f"]),
    Refusal(501, "not_implemented", ["source": "db", "target": "copy", "since_seq": "5"]),
    Refusal(404, "not_found", ["cancel": true, "id": "none"]),
  ]

  @Test(arguments: refusals) func `a request that can't be replicated is refused`(_ refusal: Refusal)
    async throws
  {
    try await withServer { server in
      let reply = try await server.post("/_replicate", refusal.body)
      #expect(reply.status == refusal.status, "\(reply.text)")
      #expect(reply.json["error"]?.stringValue == refusal.error)
      #expect(!reply.text.contains("secret"))
    }
  }

  @Test func `only so many run`() async throws {
    try await withServer {
      $0.limits.replications = 1
    } _: { server in
      for name in ["a", "b"] { _ = try await server.put("/\(name)") }
      let body: JSONObject = ["source": "db", "target": "a", "continuous": true]
      #expect(try await server.post("/_replicate", .object(body)).status == 202)
      let refused = try await server.post("/_replicate", ["source": "db", "target": "b"])
      #expect(refused.status == 503)
      // A document waits.
      _ = try await server.put("/_replicator")
      _ = try await server.put("/_replicator/r", ["source": "db", "target": "b"])
      _ = try await Self.wait(server, "/_scheduler/docs/_replicator/r") { $0["state"] == "pending" }
      var cancellation = body
      cancellation["cancel"] = true
      #expect(try await server.post("/_replicate", .object(cancellation)).status == 200)
      _ = try await Self.wait(server, "/_replicator/r") { $0["_replication_state"] == "completed" }
    }
  }

  @Test func `a server that only reads replicates nothing`() async throws {
    try await withServer {
      $0.isReadOnly = true
    } _: { server async throws in
      #expect(try await server.post("/_replicate", ["source": "db", "target": "db"]).status == 403)
    }
  }

  @Test func `other hosts than those that are listed are not connected to`() async throws {
    try await withServer { other in
      try await withServer {
        $0.replicationHosts = ["localhost:\(other.port)", "couch.example.org"]
      } _: { server in
        let target = { (url: String) -> JSONValue in ["source": "db", "target": .string(url)] }
        let refused = try await server.post("/_replicate", target("\(other.url)/db"))
        #expect(refused.status == 403)
        #expect(refused.json["reason"]?.stringValue?.contains("does not replicate with that host") == true)
        #expect(try await server.post("/_replicate", target("http://localhost:1/db")).status == 403)
        let allowed = try await server.post("/_replicate", target("http://localhost:\(other.port)/db"))
        #expect(allowed.status == 200, "\(allowed.text)")
      }
    }
    #expect(throws: ServerError.self) {
      var configuration = ServerConfiguration()
      configuration.replicationHosts = ["a b"]
      _ = try DatastoreServer(DatastoreManager.inMemory(), configuration: configuration)
    }
  }

  // MARK: _replicator

  @Test func `a document runs once, and its end is written into it`() async throws {
    let directory = try ServerDirectory()
    let manager = try DatastoreManager(directory: directory.path)
    _ = try await manager.datastore(named: "db")
    try await withServer { two in
      try await Self.fill(two, count: 4)
      let body: JSONObject = [
        "source": .string("\(two.url)/db"), "target": "db", "user_ctx": ["roles": ["_admin"]],
      ]
      try await withServer(of: manager) { one in
        #expect(try await one.put("/_replicator").status == 201)
        #expect(try await one.get("/_all_dbs").json == ["_replicator", "db"])
        #expect(try await one.put("/_replicator/pull", .object(body)).status == 201)
        let done = try await Self.wait(one, "/_replicator/pull") { $0["_replication_state"] != nil }
        #expect(done["_replication_state"] == "completed", "\(done.text)")
        #expect(done["_replication_stats"]?["docs_written"] == 4)
        #expect(done["_replication_state_time"]?.stringValue?.hasSuffix("Z") == true)
        #expect(done["source"]?.stringValue == "\(two.url)/db")
        #expect(try await Self.count(one) == 4)
        let row = try await one.get("/_scheduler/docs/_replicator/pull").json
        #expect(row["state"] == "completed" && row["info"]?["docs_written"] == 4)
        #expect(row["id"] == done["_replication_id"] && row["doc_id"] == "pull")
      }
      // It is not run again by the next server.
      _ = try await two.put("/db/later", [:])
      try await withServer(of: manager) { one in
        #expect(try await one.get("/_scheduler/docs").json["docs"]?[0]?["state"] == "completed")
        let revision = try await one.get("/_replicator/pull").json["_rev"]?.stringValue ?? ""
        #expect(try await one.get("/db/later").status == 404)
        // Without its state it is a new one.
        #expect(try await one.put("/_replicator/pull?rev=\(revision)", .object(body)).status == 201)
        _ = try await Self.wait(one, "/db/later") { $0["_id"] == "later" }
      }
    }
  }

  @Test func `documents that describe no replication, or one that runs, are marked as failed`() async throws {
    try await withServer { server in
      _ = try await server.put("/_replicator")
      _ = try await server.put("/copy")
      for (id, body) in [
        ("half", ["source": "db"]), ("note", ["text": "no replication"]),
        ("first", ["source": "db", "target": "copy", "continuous": true]),
      ] as [(String, JSONObject)] {
        _ = try await server.put("/_replicator/\(id)", .object(body))
      }
      let half = try await Self.wait(server, "/_replicator/half") { $0["_replication_state"] != nil }
      #expect(half["_replication_state"] == "failed")
      #expect(half["_replication_state_reason"]?.stringValue?.contains("`target`") == true)
      _ = try await Self.wait(server, "/_scheduler/docs/_replicator/first") { $0["state"] == "running" }
      _ = try await server.put("/_replicator/second", ["source": "db", "target": "copy", "continuous": true])
      let second = try await Self.wait(server, "/_replicator/second") { $0["_replication_state"] != nil }
      #expect(
        second["_replication_state_reason"]?.stringValue?.hasSuffix("already started by document `first`")
          == true)
      let list = try await server.get("/_scheduler/docs").json
      #expect(list["total_rows"] == 3 && list["docs"]?.arrayValue?.count == 3, "\(list.text)")
      #expect(list["docs"]?[0]?["doc_id"] == "first" && list["docs"]?[0]?["node"] == "nonode@nohost")
      #expect(try await server.get("/_scheduler/docs?limit=1&skip=1").json["docs"]?[0]?["doc_id"] == "half")
      #expect(try await server.get("/_scheduler/docs/_replicator/note").status == 404)
    }
  }

  @Test func `a continuous document stops with it, and goes on with the next server`() async throws {
    let directory = try ServerDirectory()
    let manager = try DatastoreManager(directory: directory.path)
    try await withServer(of: manager) { server in
      for name in ["db", "copy", "_replicator"] { _ = try await server.put("/\(name)") }
      try await Self.fill(server, count: 1)
      _ = try await server.put("/_replicator/sync", ["source": "db", "target": "copy", "continuous": true])
      _ = try await Self.wait(server, "/copy/doc0") { $0["_id"] == "doc0" }
    }
    try await withServer(of: manager) { server in
      // No request has named the database.
      _ = try await server.put("/db/new", [:])
      _ = try await Self.wait(server, "/copy/new") { $0["_id"] == "new" }
      let revision = try await server.get("/_replicator/sync").json["_rev"]?.stringValue ?? ""
      #expect(try await server.get("/_replicator/sync").json["_replication_state"] == nil)
      #expect(try await server.delete("/_replicator/sync?rev=\(revision)").status == 200)
      _ = try await Self.wait(server, "/_scheduler/jobs") { $0["total_rows"] == 0 }
      // Deleting the database stops all.
      _ = try await server.put("/_replicator/again", ["source": "db", "target": "copy", "continuous": true])
      _ = try await Self.wait(server, "/_scheduler/jobs") { $0["total_rows"] == 1 }
      #expect(try await server.delete("/_replicator").status == 200)
      _ = try await Self.wait(server, "/_scheduler/jobs") { $0["total_rows"] == 0 }
      #expect(try await server.get("/_scheduler/docs").json["total_rows"] == 0)
      // One that is created again is followed again.
      _ = try await server.put("/_replicator")
      _ = try await server.put("/_replicator/third", ["source": "db", "target": "copy"])
      _ = try await Self.wait(server, "/_replicator/third") { $0["_replication_state"] == "completed" }
    }
  }

  @Test(arguments: ["source", "target"])
  func `a document whose database is missing is tried again, and is listed with the reason`(missing: String)
    async throws
  {
    try await withServer { server in
      try await Self.fill(server, count: 2)
      _ = try await server.put("/_replicator")
      var document: JSONObject = ["source": "db", "target": "db"]
      document[missing] = "late"
      _ = try await server.put("/_replicator/early", .object(document))
      let row = try await Self.wait(server, "/_scheduler/docs/_replicator/early") {
        $0["state"] == "crashing"
      }
      #expect(row["info"]?["error"]?.stringValue?.contains("could not open late") == true, "\(row.text)")
      _ = try await server.put("/late")
      _ = try await Self.wait(server, "/_replicator/early") { $0["_replication_state"] == "completed" }
      #expect(try await Self.count(server, "late") == (missing == "source" ? 0 : 2))
    }
  }

  // MARK: Access

  @Test func `only server admins may replicate, and nobody else sees the credentials of others`() async throws
  {
    let directory = try ServerDirectory()
    try directory.write("correct horse", to: "password")
    for (name, role) in [("ana", "_admin"), ("zoe", "team")] {
      let run = try ToolRun.of(
        ["user", "add", "users.json", name, "--role", role, "--password-file", "password"], in: directory)
      try #require(run.status == 0)
    }
    let log = LogTests.Recorder(.debug)
    let manager = try DatastoreManager.inMemory()
    _ = try await manager.datastore(named: "db")
    try await withServer(of: manager, logger: .init(label: "test") { _ in log }) {
      $0.usersFile = directory.path("users.json")
    } _: { server in
      try await withServer { elsewhere in
        func user(_ name: String) -> RunningServer {
          let basic = Data("\(name):correct horse".utf8).base64EncodedString()
          return RunningServer(
            manager: manager, port: server.port, headers: [("Authorization", "Basic \(basic)")])
        }
        let (admin, other) = (user("ana"), user("zoe"))
        _ = try await admin.put("/_replicator")
        // Refused by the other server, which has no such user.
        _ = try await admin.put(
          "/_replicator/r",
          [
            "source": .string("http://mike:hunter2@127.0.0.1:\(elsewhere.port)/db"), "target": "db",
            "continuous": true,
          ])
        let row = try await Self.wait(admin, "/_scheduler/docs/_replicator/r") { $0["state"] == "crashing" }
        #expect(!row.text.contains("hunter2"))
        #expect(row["source"]?.stringValue == "http://127.0.0.1:\(elsewhere.port)/db")
        #expect(try await admin.get("/_replicator/r").text.contains("hunter2"))
        for text in [
          try await admin.get("/_active_tasks").text, try await admin.get("/_scheduler/jobs").text,
          try await admin.get("/_scheduler/docs").text,
        ] {
          #expect(!text.contains("hunter2"), "\(text)")
        }
        for path in [
          "/_replicator", "/_replicator/r", "/_replicator/_all_docs?include_docs=true",
          "/_replicator/_changes?include_docs=true", "/_scheduler/jobs", "/_scheduler/docs",
          "/_scheduler/docs/_replicator/r", "/_active_tasks",
        ] {
          #expect([401, 403].contains(try await other.get(path).status), "\(path)")
          #expect(try await server.get(path).status == 401, "\(path)")
        }
        #expect(try await other.post("/_replicate", ["source": "db", "target": "db"]).status == 401)
        #expect(
          [401, 403].contains(try await other.put("/_replicator/s", ["source": "db", "target": "x"]).status))
        // It can't be opened to others.
        #expect(try await admin.put("/_replicator/_security", [:]).status == 403)
        let failures = log.all("replication failed")
        #expect(failures.first?.metadata["error"]?.isEmpty == false)
        #expect(!log.everything.contains { "\($0)".contains("hunter2") })
      }
    }
  }
}
