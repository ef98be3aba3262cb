import CDTJSON
import CDTServer
import CDTServerTestSupport
import CDTTestSupport
import Foundation
import Testing

/// The users of the server's file as documents of `_users`.
@Suite struct UserDocumentTests {
  private struct Site {
    let server: RunningServer
    let file: String

    func user(_ name: String, _ password: String? = nil) -> RunningServer {
      let credentials = Data("\(name):\(password ?? "password of \(name)")".utf8).base64EncodedString()
      var client = server
      client.headers = [("Authorization", "Basic \(credentials)")]
      return client
    }
  }

  private static func withUsers(
    isReadOnly: Bool = false, _ body: (Site) async throws -> Void
  ) async throws {
    let directory = try temporaryDirectory()
    defer { removeDirectory(directory) }
    let file = "\(directory)/users.json"
    let users = UserFile(file)
    for (name, roles) in [("root", ["_admin"]), ("ann", ["team"]), ("bob", [])] {
      _ = try users.setPassword(
        "password of \(name)", of: name, roles: roles, function: .scrypt(logN: 4, r: 1, p: 1))
    }
    try await withServer({
      $0.usersFile = file
      $0.isReadOnly = isReadOnly
    }) { try await body(Site(server: $0, file: file)) }
  }

  private static func path(_ name: String) -> String { "/_users/org.couchdb.user:\(name)" }

  private static func document(
    _ name: String, roles: JSONValue = [], password: String? = nil, revision: JSONValue? = nil
  ) -> JSONValue {
    var json: JSONObject = ["type": "user", "name": .string(name), "roles": roles]
    if let password { json["password"] = .string(password) }
    if let revision { json["_rev"] = revision }
    return .object(json)
  }

  @Test func `a user changes the own password, and only the new one is then right`() async throws {
    try await Self.withUsers { site in
      let ann = site.user("ann")
      let known = try await ann.get(Self.path("ann"))
      #expect(known.json["name"] == "ann" && known.json["roles"] == ["team"] && known.json["type"] == "user")
      let session = try await site.server.post("/_session", ["name": "ann", "password": "password of ann"])
      let cookie = try #require(session.headers["set-cookie"]?.split(separator: ";").first)
      let changed = try await ann.put(
        Self.path("ann"),
        Self.document("ann", roles: ["team"], password: "other", revision: known.json["_rev"]))
      #expect(changed.status == 201, "\(changed.text)")
      #expect(changed.json["rev"] != known.json["_rev"])
      #expect(try await ann.get("/_session").status == 401)
      #expect(try await site.user("ann", "other").get("/_session").json["userCtx"]?["name"] == "ann")
      let old = try await site.server.get("/_session", headers: [("Cookie", String(cookie))])
      #expect(old.json["userCtx"]?["name"] == .null)
      // The file has the hash alone.
      let text = try String(contentsOfFile: site.file, encoding: .utf8)
      #expect(text.contains("$scrypt$") && !text.contains("other"))
      let mode = try FileManager.default.attributesOfItem(atPath: site.file)[.posixPermissions] as? Int
      #expect(mode == 0o600)
    }
  }

  @Test func `a user sees and changes nothing of others, and no roles`() async throws {
    try await Self.withUsers { site in
      let ann = site.user("ann")
      let revision = try await ann.get(Self.path("ann")).json["_rev"]
      // Whether the user exists makes no difference.
      for name in ["bob", "nobody", "root"] {
        #expect(try await ann.get(Self.path(name)).status == 404)
        #expect(try await ann.put(Self.path(name), Self.document(name, password: "x")).status == 403)
        #expect(try await ann.delete(Self.path(name)).status == 403)
        #expect(try await site.server.get(Self.path(name)).status == 401)
        #expect(try await site.server.put(Self.path(name), Self.document(name, password: "x")).status == 401)
      }
      for path in ["/_users", "/_users/_all_docs"] {
        #expect(try await ann.get(path).status == 403)
        #expect(try await site.server.get(path).status == 401)
      }
      #expect(try await ann.delete(Self.path("ann")).status == 403)
      for document in [
        Self.document("ann", roles: ["team", "_admin"], revision: revision),
        Self.document("ann", roles: [], revision: revision),
        Self.document("bob", roles: ["team"], revision: revision),
      ] {
        #expect(try await ann.put(Self.path("ann"), document).status == 403)
      }
      #expect(
        try await ann.post(
          "/_users", ["_id": "org.couchdb.user:bob", "type": "user", "name": "bob", "roles": []]
        ).status == 403)
      #expect(UserFile(site.file).users(named: "ann")?.roles == ["team"])
    }
  }

  @Test func `server admins create, change and remove users, but for the server's own roles`() async throws {
    try await Self.withUsers { site in
      let root = site.user("root")
      #expect(try await root.get("/_users").json["doc_count"] == 3)
      #expect(try await root.send("PUT", "/_users", body: []).status == 412)
      let made = try await root.put(
        Self.path("zoe"), Self.document("zoe", roles: ["team"], password: "secret"))
      #expect(made.status == 201)
      #expect(try await site.user("zoe", "secret").get("/_session").json["userCtx"]?["roles"] == ["team"])
      #expect(try await root.put(Self.path("zoe"), Self.document("zoe", password: "x")).status == 409)
      let changed = try await root.put(
        Self.path("zoe"), Self.document("zoe", roles: ["b", "a"], revision: made.json["rev"]))
      #expect(changed.status == 201)
      #expect(try await site.user("zoe", "secret").get(Self.path("zoe")).json["roles"] == ["b", "a"])
      let all = try await root.get("/_users/_all_docs?include_docs=true")
      #expect(all.json["total_rows"] == 4)
      #expect(!all.text.contains("scrypt") && !all.text.contains("password"))
      let kept = try await root.post("/_users/_all_docs", ["keys": ["org.couchdb.user:zoe", "x"]]).json[
        "rows"]
      #expect(kept?[0]?["value"]?["rev"] == changed.json["rev"] && kept?[1]?["error"] == "not_found")
      // Roles of the server are changed where the file is.
      for roles: JSONValue in [["_admin"], ["_metrics"]] {
        let refused = Self.document("zoe", roles: roles, revision: changed.json["rev"])
        #expect(try await root.put(Self.path("zoe"), refused).status == 403)
      }
      let own = try await root.get(Self.path("root")).json["_rev"]
      #expect(try await root.put(Self.path("root"), Self.document("root", revision: own)).status == 403)
      #expect(
        try await root.send("DELETE", Self.path("root") + "?rev=" + (own?.stringValue ?? "")).status == 403)
      #expect(try await root.delete(Self.path("zoe")).status == 409)
      let gone = try await root.delete(Self.path("zoe") + "?rev=" + (changed.json["rev"]?.stringValue ?? ""))
      #expect(gone.status == 200)
      #expect(try await site.user("zoe", "secret").get("/_session").status == 401)
      #expect(try await root.get(Self.path("zoe")).status == 404)
    }
  }

  @Test(arguments: [
    #"{"name":"zoe","roles":[],"password":"x"}"#, #"{"type":"user","roles":[],"password":"x"}"#,
    #"{"type":"user","name":"zoe","password":"x"}"#,
    #"{"type":"user","name":"zoe","roles":{},"password":"x"}"#,
    #"{"type":"user","name":"zoe","roles":[1],"password":"x"}"#,
    #"{"type":"user","name":"other","roles":[],"password":"x"}"#,
    #"{"type":"user","name":"zoe","roles":[]}"#, #"{"type":"user","name":"zoe","roles":[],"password":""}"#,
    #"{"type":"user","name":"zoe","roles":[],"password":"x","email":"zoe@example.com"}"#,
    #"{"_id":"org.couchdb.user:other","type":"user","name":"zoe","roles":[],"password":"x"}"#, "[]", "{",
  ])
  func `a malformed user is refused, and nothing is written`(text: String) async throws {
    try await Self.withUsers { site in
      let reply = try await site.user("root").send("PUT", Self.path("zoe"), body: Array(text.utf8))
      #expect([400, 403].contains(reply.status), "\(reply.text)")
      #expect(UserFile(site.file).users(named: "zoe") == nil)
    }
  }

  @Test func `a read-only server, and one without users, change none`() async throws {
    try await Self.withUsers(isReadOnly: true) { site in
      let ann = site.user("ann")
      let revision = try await ann.get(Self.path("ann")).json["_rev"]
      let document = Self.document("ann", roles: ["team"], password: "x", revision: revision)
      #expect(try await ann.put(Self.path("ann"), document).status == 403)
    }
    try await withServer { server async throws in
      #expect(try await server.get(Self.path("ann")).status == 501)
      #expect(try await server.put(Self.path("ann"), Self.document("ann", password: "x")).status == 501)
    }
  }

  @Test func `of two changes with one revision, one is a conflict`() async throws {
    try await Self.withUsers { site in
      let root = site.user("root")
      let revision = try await root.get(Self.path("bob")).json["_rev"]
      let statuses = try await withThrowingTaskGroup { group in
        for number in 0..<4 {
          let document = Self.document("bob", password: "password \(number)", revision: revision)
          group.addTask { try await root.put(Self.path("bob"), document).status }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses.sorted() == [201, 409, 409, 409])
    }
  }
}

extension UserFile {
  fileprivate func users(named name: String) -> User? { (try? read())?.users[name] }
}
