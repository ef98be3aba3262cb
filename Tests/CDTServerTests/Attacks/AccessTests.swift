import CDTDatastore
import CDTJSON
import CDTServer
import CDTServerTestSupport
import CDTTestSupport
import Foundation
import Testing

/// Users, sessions, and what they may do.
@Suite struct AccessTests {
  /// A server with an admin `root`, and the users `member` and `other`; `db` is for `member`.
  private static func withUsers(_ body: (RunningServer) async throws -> Void) async throws {
    let directory = try temporaryDirectory()
    defer { removeDirectory(directory) }
    let file = "\(directory)/users.json"
    let users = UserFile(file)
    for (name, roles) in [("root", ["_admin"]), ("member", []), ("other", ["team"])] {
      _ = try users.setPassword("password of \(name)", of: name, roles: roles)
    }
    try await withServer({ $0.usersFile = file }) { server in
      var admin = server
      admin.headers = [basic("root")]
      let security: JSONValue = [
        "admins": ["names": [], "roles": []], "members": ["names": ["member"], "roles": []],
      ]
      #expect(try await admin.put("/db/_security", security).status == 200)
      try await body(server)
    }
  }

  private static func basic(_ name: String, _ password: String? = nil) -> (String, String) {
    (
      "Authorization",
      "Basic " + Data("\(name):\(password ?? "password of \(name)")".utf8).base64EncodedString()
    )
  }

  @Test func `without credentials nothing is open but the welcome`() async throws {
    try await Self.withUsers { server async throws in
      #expect(try await server.get("/").status == 200)
      #expect(try await server.get("/_up").status == 200)
      #expect(try await server.get("/_session").json["userCtx"] == ["name": nil, "roles": []])
      for (method, path) in [
        ("GET", "/_all_dbs"), ("GET", "/db"), ("GET", "/db/a"), ("GET", "/db/_changes"),
        ("GET", "/db/_all_docs"),
        ("PUT", "/db/a"), ("PUT", "/new"), ("DELETE", "/db"), ("GET", "/_active_tasks"),
        ("GET", "/db/_security"),
        ("GET", "/db/_local/a"), ("GET", "/db/a/b"),
      ] {
        let reply = try await server.send(method, path, body: method == "PUT" ? Array("{}".utf8) : nil)
        #expect(reply.status == 401, "\(method) \(path)")
        #expect(reply.json["error"] == "unauthorized")
      }
    }
  }

  @Test(arguments: ["", "/", "/doc", "/_all_docs", "/_changes", "/_local/a", "/doc/attachment"])
  func `a stranger does not learn which databases exist`(path: String) async throws {
    try await Self.withUsers { server async throws in
      for method in ["GET", "HEAD", "PUT", "POST", "DELETE"] {
        let replies = try await [
          server.send(method, "/db\(path)", body: method == "PUT" ? Array("{}".utf8) : nil),
          server.send(method, "/absent\(path)", body: method == "PUT" ? Array("{}".utf8) : nil),
        ]
        #expect(replies.map(\.status) == [401, 401])
        #expect(replies[0].body == replies[1].body)
      }
      var member = server
      member.headers = [Self.basic("member")]
      #expect(try await member.get("/absent\(path)").status == 404)
    }
  }

  @Test func `metrics are for admins and for the role _metrics, settings for admins`() async throws {
    let directory = try temporaryDirectory()
    defer { removeDirectory(directory) }
    let file = "\(directory)/users.json"
    for (name, role) in [("root", "_admin"), ("prometheus", "_metrics"), ("other", "team")] {
      _ = try UserFile(file).setPassword("password of \(name)", of: name, roles: [role])
    }
    try await withServer({ $0.usersFile = file }) { server async throws in
      func statuses(_ paths: [String], _ headers: [(String, String)]) async throws -> Set<Int> {
        var statuses: Set<Int> = []
        for path in paths { statuses.insert(try await server.get(path, headers: headers).status) }
        return statuses
      }
      let metrics = ["/_metrics"] + ["_stats", "_system", "_prometheus"].map { "/_node/_local/\($0)" }
      let settings = ["/_membership", "/_node/_local", "/_node/_local/_config", "/_all_dbs"]
      #expect(try await statuses(metrics + settings, []) == [401])
      #expect(try await statuses(metrics + settings, [Self.basic("other")]) == [401])
      #expect(try await statuses(metrics, [Self.basic("prometheus")]) == [200])
      #expect(try await statuses(settings, [Self.basic("prometheus")]) == [401])
      #expect(try await statuses(["/db"], [Self.basic("prometheus")]) == [403])
      #expect(try await statuses(metrics + settings, [Self.basic("root")]) == [200])
    }
  }

  @Test func `a page logs in and goes on where it wants`() async throws {
    try await Self.withUsers { server async throws in
      let form = Array("name=member&password=password+of+member".utf8)
      func post(_ query: String, _ body: [UInt8]) async throws -> RunningServer.Reply {
        try await server.send(
          "POST", "/_session?\(query)", body: body,
          headers: [("Content-Type", "application/x-www-form-urlencoded")])
      }
      let done = try await post("next=/_up", form)
      #expect(done.status == 302)
      #expect(done.headers["location"] == "\(server.url)/_up")
      #expect(done.headers["set-cookie"]?.hasPrefix("AuthSession=") == true)
      let failed = try await post("fail=/_up%3Fagain", Array("name=member&password=wrong".utf8))
      #expect(failed.status == 302)
      #expect(failed.headers["location"] == "\(server.url)/_up?again")
      for other in ["//evil.example", "http://evil.example", "/a%0d%0ab", ""] {
        let reply = try await post("next=\(other)", form)
        #expect(reply.headers["location"]?.hasPrefix(server.url) ?? true)
        #expect(reply.status == (other.hasPrefix("//") ? 302 : 400))
      }
      #expect(try await server.get("/_session").status == 200)
      let requested = try await server.get("/_session?basic=true")
      #expect(requested.status == 401)
      #expect(requested.json == ["error": "unauthorized", "reason": "Please login."])
    }
  }

  @Test func `a member may write documents and nothing else`() async throws {
    try await Self.withUsers { server async throws in
      var member = server
      member.headers = [Self.basic("member")]
      #expect(try await member.put("/db/a", [:]).status == 201)
      #expect(try await member.put("/db/_local/a", [:]).status == 201)
      #expect(try await member.get("/db/_security").status == 200)
      #expect(try await member.post("/db/_ensure_full_commit", [:]).status == 201)
      // A combining character belongs to the slash before it.
      for id in ["d", "\u{301}d"] {
        #expect(try await member.put("/db/_design/\(id)".encoded, [:]).status == 403)
        let rows = try await member.post("/db/_bulk_docs", ["docs": [["_id": .string("_design/\(id)")]]]).json
        #expect(rows[0]?["error"] == "forbidden")
      }
      let rows = try await member.post("/db/_bulk_docs", ["docs": [["_id": "_design/d"], ["_id": "b"]]]).json
      #expect(rows[0]?["error"] == "forbidden")
      #expect(rows[1]?["ok"] == true)
      #expect(try await member.put("/db/_security", [:]).status == 403)
      #expect(try await member.post("/db/_index", ["index": ["fields": ["a"]]]).status == 403)
      #expect(try await member.post("/db/_compact", [:]).status == 403)
      #expect(try await member.put("/new").status == 401)
      #expect(try await member.delete("/db").status == 401)
      var other = server
      other.headers = [Self.basic("other")]
      let refused = try await other.get("/db/a")
      #expect(refused.status == 403)
      #expect(refused.json["error"] == "forbidden")
      // As at CouchDB, only admins of the server see the names of databases.
      for user in [member, other] {
        #expect(try await user.get("/_all_dbs").status == 401)
        #expect(try await user.get("/_dbs_info").status == 401)
        #expect(try await user.post("/_dbs_info", ["keys": ["db"]]).status == 401)
      }
      var root = server
      root.headers = [Self.basic("root")]
      #expect(try await root.get("/_all_dbs").json == ["db"])
      #expect(try await root.get("/_dbs_info").json[0]?["info"]?["db_name"] == "db")
    }
  }

  @Test func `wrong and malformed credentials`() async throws {
    try await Self.withUsers { server async throws in
      #expect(try await server.get("/db", headers: [Self.basic("member", "wrong")]).status == 401)
      #expect(try await server.get("/db", headers: [Self.basic("nobody")]).status == 401)
      #expect(try await server.get("/db", headers: [("Authorization", "Basic !!")]).status == 400)
      #expect(try await server.get("/db", headers: [("Authorization", "Bearer x")]).status == 401)
      #expect(try await server.get("/db", headers: [("Cookie", "AuthSession=xx!x")]).status == 400)
      // A forged cookie is nobody's.
      let forged = Data("member:FFFFFFFF:0123456789".utf8).base64EncodedString().replacing("=", with: "")
      #expect(try await server.get("/db", headers: [("Cookie", "AuthSession=\(forged)")]).status == 401)
    }
  }

  @Test func `a session begins with a password and is kept in a cookie`() async throws {
    try await Self.withUsers { server async throws in
      let login = try await server.post("/_session", ["name": "member", "password": "password of member"])
      #expect(login.status == 200)
      #expect(login.json == ["ok": true, "name": "member", "roles": []])
      let header = try #require(login.headers["set-cookie"])
      #expect(header.contains("HttpOnly"))
      #expect(header.contains("SameSite=Strict"))
      let cookie = String(header.prefix { $0 != ";" })
      let session = try await server.get("/_session", headers: [("Cookie", cookie)])
      #expect(session.json["userCtx"]?["name"] == "member")
      #expect(session.json["info"]?["authenticated"] == "cookie")
      #expect(try await server.get("/db", headers: [("Cookie", cookie)]).status == 200)
      let form = Array("name=member&password=password+of+member".utf8)
      let type = [("Content-Type", "application/x-www-form-urlencoded")]
      #expect(try await server.send("POST", "/_session", body: form, headers: type).status == 200)
      // Some clients send `username`, which comes before `name`.
      let other = try await server.post(
        "/_session", ["username": "member", "name": "x", "password": "password of member"])
      #expect(other.json["name"] == "member")
      let otherForm = Array("username=member&password=password+of+member".utf8)
      #expect(try await server.send("POST", "/_session", body: otherForm, headers: type).status == 200)
      let wrong = try await server.post("/_session", ["name": "member", "password": "x"])
      #expect(wrong.status == 401)
      #expect(wrong.headers["set-cookie"]?.hasPrefix("AuthSession=;") == true)
      #expect(try await server.delete("/_session").headers["set-cookie"]?.hasPrefix("AuthSession=;") == true)
    }
  }

  @Test func `guessing passwords locks the name`() async throws {
    try await Self.withUsers { server async throws in
      var statuses: [Int] = []
      for number in 0..<7 {
        statuses.append(
          try await server.get("/db", headers: [Self.basic("member", "guess \(number)")]).status)
      }
      #expect(statuses.first == 401)
      #expect(statuses.last == 403)
      // With the right password, too.
      #expect(try await server.get("/db", headers: [Self.basic("member")]).status == 403)
      #expect(try await server.get("/db", headers: [Self.basic("root")]).status == 200)
    }
  }

  @Test func `a server for other machines needs users and TLS`() throws {
    let directory = try temporaryDirectory()
    defer { removeDirectory(directory) }
    let manager = try DatastoreManager(directory: directory)
    var configuration = ServerConfiguration()
    configuration.host = "0.0.0.0"
    #expect(throws: (any Error).self) { try DatastoreServer(manager, configuration: configuration) }
    configuration.isInsecure = true
    _ = try DatastoreServer(manager, configuration: configuration)
  }
}
