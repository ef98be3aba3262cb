import CDTDatastore
import CDTJSON
import CDTServer
import CDTServerTestSupport
import Foundation
import Logging
import Testing

/// Settings that admins change by request, as the set-up script of Self-hosted LiveSync does.
@Suite struct SettingTests {
  let directory: ServerDirectory

  init() throws {
    directory = try ServerDirectory()
    for (name, roles) in [("root", ["_admin"]), ("ann", ["team"])] {
      _ = try UserFile(directory.path("users.json")).setPassword(
        "password of \(name)", of: name, roles: roles, function: .scrypt(logN: 4, r: 1, p: 1))
    }
  }

  private static func basic(_ name: String) -> (String, String) {
    ("Authorization", "Basic \(Data("\(name):password of \(name)".utf8).base64EncodedString())")
  }

  /// Runs a server with users that keeps its settings; each run finds those of the one before.
  private func serve<R: Sendable>(
    logger: Logger = .silent, profile: ServerConfiguration.Profile? = nil,
    _ configure: (inout ServerConfiguration) -> Void = { _ in },
    _ body: (_ anyone: RunningServer, _ root: RunningServer) async throws -> R
  ) async throws -> R {
    let manager = try DatastoreManager(directory: directory.path("stores"))
    _ = try await manager.datastore(named: "db")
    return try await withServer(of: manager, logger: logger) {
      $0 = ServerConfiguration(profile: profile)
      $0.port = 0
      $0.usersFile = directory.path("users.json")
      $0.settingsFile = directory.path("_config.json")
      configure(&$0)
    } _: { server in
      var root = server
      root.headers = [Self.basic("root")]
      return try await body(server, root)
    }
  }

  private static let clusterSetup: JSONValue = [
    "action": "enable_single_node", "username": "root", "password": "password of root",
    "bind_address": "0.0.0.0", "port": 5984, "singlenode": true,
  ]

  private static let origins = "app://obsidian.md,capacitor://localhost,http://localhost"

  /// The settings of the script, in its order.
  private static let script = [
    ("chttpd/require_valid_user", "true"), ("chttpd_auth/require_valid_user", "true"),
    ("httpd/WWW-Authenticate", #"Basic realm="couchdb""#), ("httpd/enable_cors", "true"),
    ("chttpd/enable_cors", "true"), ("chttpd/max_http_request_size", "4294967296"),
    ("couchdb/max_document_size", "50000000"), ("cors/credentials", "true"), ("cors/origins", origins),
  ]

  private static func path(_ name: String) -> String { "/_node/_local/_config/\(name)" }

  private static func put(_ name: String, _ value: String, _ server: RunningServer) async throws
    -> RunningServer.Reply
  {
    try await server.send("PUT", path(name), json: .string(value))
  }

  /// What the plugin's check of the server finds wrong.
  private static func findings(_ root: RunningServer) async throws -> [String] {
    let reply = try await root.get("/_node/_local/_config", headers: [("Origin", "")])
    let found = reply.json
    var wrong = ["chttpd", "chttpd_auth"].filter { found[$0]?["require_valid_user"] != "true" }
    wrong += ["chttpd", "httpd"].filter { found[$0]?["enable_cors"] != "true" }
    if found["admins"]?["root"] == nil { wrong.append("admins") }
    if found["httpd"]?["WWW-Authenticate"]?.stringValue?.isEmpty != false { wrong.append("challenge") }
    for (section, key, least) in [
      ("chttpd", "max_http_request_size", 4_294_967_296), ("couchdb", "max_document_size", 50_000_000),
    ] where Int(found[section]?[key]?.stringValue ?? "") ?? 0 < least { wrong.append(key) }
    if found["cors"]?["credentials"] != "true" { wrong.append("credentials") }
    let known = found["cors"]?["origins"]?.stringValue?.split(separator: ",") ?? []
    for origin in origins.split(separator: ",") {
      let headers = try await root.get("/_node/_local/_config", headers: [("Origin", "\(origin)")]).headers
      if !known.contains(origin) || headers["access-control-allow-origin"] != String(origin)
        || headers["access-control-allow-credentials"] != "true"
      {
        wrong.append("\(origin)")
      }
    }
    return wrong
  }

  // MARK: The script

  @Test func `LiveSync's script ends well, from nothing and again, and its check finds nothing wrong`()
    async throws
  {
    try await serve { _, root async throws in
      #expect(
        try await Self.findings(root) == [
          "chttpd", "chttpd_auth", "challenge", "max_http_request_size", "max_document_size",
        ] + Self.origins.split(separator: ",").map(String.init))
      let before = try await root.get("/_node/_local/_config").json
      for round in 1...2 {
        let setup = try await root.post("/_cluster_setup", Self.clusterSetup)
        #expect(setup.status == 201)
        #expect(setup.json == ["ok": true])
        for (index, (name, value)) in Self.script.enumerated() {
          let reply = try await Self.put(name, value, root)
          #expect(reply.status == 200)
          let parts = name.split(separator: "/").map(String.init)
          // The second names of two settings have their new value.
          let isNew = round == 1 && ![1, 4].contains(index)
          #expect(reply.json == (isNew ? before[parts[0]]?[parts[1]] : .string(value)), "\(name)")
          #expect(try await root.get(Self.path(name)).json == .string(value))
        }
        #expect(try await Self.findings(root) == [])
      }
      #expect(try await root.get("/_cluster_setup").json == ["state": "single_node_enabled"])
    }
    try await serve { _, root async throws in #expect(try await Self.findings(root) == []) }
  }

  @Test func `the profile livesync needs no script`() async throws {
    try await serve(profile: .livesync) { _, root async throws in
      #expect(try await Self.findings(root) == [])
      for (name, value) in Self.script { #expect(try await Self.put(name, value, root).status == 200) }
      // No more than a buffer holds.
      let (_, basic) = Self.basic("root")
      let reply = try await RawConnection.exchange(
        root.port,
        "POST /db/_bulk_docs HTTP/1.1\r\nHost: localhost\r\nAuthorization: \(basic)\r\n"
          + "Content-Type: application/json\r\nContent-Length: 2147483648\r\nConnection: close\r\n\r\n")
      #expect(reply.hasPrefix("HTTP/1.1 413 "))
      // Its values are defaults, which can be changed.
      #expect(try await Self.put("couchdb/max_document_size", "60000000", root).json == "50000000")
    }
    try await serve(profile: .livesync) { _, root async throws in
      #expect(try await root.get(Self.path("couchdb/max_document_size")).json == "60000000")
      let back = try await root.delete(Self.path("couchdb/max_document_size"))
      #expect(back.json == "60000000")
      #expect(try await root.get(Self.path("couchdb/max_document_size")).json == "50000000")
    }
  }

  @Test func `a set-up that names no admin of the server, or a cluster, is refused`() async throws {
    try await serve { _, root async throws in
      for (name, password) in [
        ("root", "wrong"), ("ann", "password of ann"), ("new", "password"), ("root", ""),
      ] {
        let reply = try await root.post(
          "/_cluster_setup",
          ["action": "enable_single_node", "username": .string(name), "password": .string(password)])
        #expect(reply.status == 400)
        #expect(reply.json["reason"]?.stringValue?.contains("cdtquery user add") == true)
      }
      #expect(try await root.post("/_cluster_setup", ["action": "enable_single_node"]).status == 201)
      for action in ["enable_cluster", "add_node", "remove_node", "finish_cluster"] {
        let reply = try await root.post("/_cluster_setup", ["action": .string(action)])
        #expect(reply.status == 501)
        #expect(reply.json["reason"]?.stringValue?.contains("cdtquery replicate") == true)
      }
      for body: JSONValue in [[:], ["action": "other"], ["action": 1]] {
        #expect(try await root.post("/_cluster_setup", body).status == 400)
      }
    }
  }

  // MARK: Effects

  /// What the settings of the script do to requests.
  private func expectEffects(_ anyone: RunningServer, _ root: RunningServer) async throws {
    let text = JSONValue.string(String(repeating: "a", count: 2_000))
    #expect(try await root.post("/db", ["a": "b"]).status == 201)
    let long = try await root.put("/db/long", ["a": text])
    #expect(long.status == 413)
    #expect(try await root.post("/db/_bulk_docs", ["docs": [["_id": "long", "a": text]]]).status == 413)
    let keys = JSONValue.array(Array(repeating: text, count: 3))
    #expect(try await root.post("/db/_revs_diff", ["a": keys]).status == 413)
    #expect(try await root.send("PUT", "/db/a/x", body: Array("12345".utf8)).status == 413)

    for path in ["/", "/db", "/_all_dbs", "/db/_changes", "/absent"] {
      let reply = try await anyone.get(path)
      #expect(reply.status == 401)
      #expect(reply.json["reason"] == "Authentication required.")
      #expect(reply.headers["www-authenticate"] == "Basic realm=\"notes\"")
    }
    let wrong = try await anyone.get("/db", headers: [("Authorization", "Basic cm9vdDp3cm9uZw==")])
    #expect(wrong.headers["www-authenticate"] == "Basic realm=\"notes\"")
    // The page of the server has a form for the password.
    let page = try await anyone.get("/db", headers: [("Sec-Fetch-Site", "same-origin")])
    #expect(page.status == 401 && page.headers["www-authenticate"] == nil)
    for path in ["/_up", "/_session", "/_utils/"] { #expect(try await anyone.get(path).status == 200) }
    let login = try await anyone.post("/_session", ["name": "ann", "password": "password of ann"])
    #expect(login.status == 200)

    let preflight = try await Self.preflight(anyone)
    #expect(preflight.status == 204)
    #expect(preflight.headers["access-control-allow-origin"] == "app://obsidian.md")
    #expect(preflight.headers["access-control-allow-credentials"] == nil)
    let saved = try await root.send(
      "PUT", "/db/_local/a", json: [:], headers: [("Origin", "app://obsidian.md")])
    #expect(saved.status == 201)
  }

  private static func preflight(_ server: RunningServer) async throws -> RunningServer.Reply {
    try await server.send(
      "OPTIONS", "/db/_bulk_docs",
      headers: [
        ("Origin", "app://obsidian.md"), ("Access-Control-Request-Method", "POST"),
        ("Access-Control-Request-Headers", "authorization,content-type"),
      ])
  }

  @Test func `settings hold for the next request, and after a restart`() async throws {
    try await serve { anyone, root async throws in
      #expect(try await anyone.get("/").status == 200)
      #expect(try await Self.preflight(anyone).status != 204)
      for (name, value) in [
        ("couchdb/max_document_size", "1000"), ("chttpd/max_http_request_size", "4000"),
        ("couchdb/max_attachment_size", "4"), ("cors/origins", " app://obsidian.md , http://localhost"),
        ("cors/credentials", "false"), ("chttpd/WWW-Authenticate", #"Basic realm="notes""#),
        ("chttpd/require_valid_user", "true"),
      ] { #expect(try await Self.put(name, value, root).status == 200) }
      try await expectEffects(anyone, root)
    }
    try await serve { anyone, root async throws in
      try await expectEffects(anyone, root)
      #expect(try await Self.put("httpd/enable_cors", "false", root).json == "true")
      #expect(try await Self.preflight(anyone).status != 204)
      for name in ["chttpd_auth/require_valid_user", "couchdb/max_document_size"] {
        #expect(try await root.delete(Self.path(name)).status == 200)
      }
      #expect(try await anyone.get("/").status == 200)
      let text = JSONValue.string(String(repeating: "a", count: 2_000))
      #expect(try await root.put("/db/long", ["a": text]).status == 201)
    }
    #expect(
      try directory.text("_config.json") == """
        {
          "chttpd": {
            "enable_cors": "false",
            "max_http_request_size": "4000"
          },
          "cors": {
            "credentials": "false",
            "origins": "app://obsidian.md,http://localhost"
          },
          "httpd": {
            "WWW-Authenticate": "Basic realm=\\"notes\\""
          },
          "couchdb": {
            "max_attachment_size": "4"
          }
        }

        """)
    #expect(directory.mode("_config.json") == 0o600)
  }

  @Test func `changes at the same time are all kept`() async throws {
    try await serve { _, root async throws in
      try await withThrowingTaskGroup(of: Int.self) { group in
        for (name, value) in Self.script {
          group.addTask { try await Self.put(name, value, root).status }
        }
        for try await status in group { #expect(status == 200) }
      }
    }
    try await serve { _, root async throws in #expect(try await Self.findings(root) == []) }
  }

  // MARK: Refusals

  @Test(arguments: [
    ("chttpd/require_valid_user", #""yes""#, #"chttpd/require_valid_user must be "true" or "false"."#),
    ("cors/credentials", #""""#, #"cors/credentials must be "true" or "false"."#),
    ("cors/credentials", "true", #"The value of a setting must be a JSON string, such as "true"."#),
    (
      "couchdb/max_document_size", "8000000",
      "The value of a setting must be a JSON string, such as \"true\"."
    ),
    (
      "couchdb/max_document_size", #""8MB""#,
      #"couchdb/max_document_size must be a number of bytes, such as "8000000"."#
    ),
    (
      "couchdb/max_document_size", #""0""#,
      #"couchdb/max_document_size must be a number of bytes, such as "8000000"."#
    ),
    (
      "chttpd/max_http_request_size", #""99999999999999999999""#,
      #"chttpd/max_http_request_size must be a number of bytes, such as "8000000"."#
    ),
    (
      "cors/origins", #""http://localhost,obsidian.md""#,
      #"cors/origins: "obsidian.md" is not an origin; write scheme, host and port without a path, as in https://app.example.com or http://localhost:3000"#
    ),
    (
      "httpd/WWW-Authenticate", #""Basic\r\nX-A: b""#,
      "httpd/WWW-Authenticate: a header has at most 1000 characters of ASCII."
    ),
    ("cors/origins", "{", nil),
  ]) func `a value that a setting can't have is refused, and nothing is kept`(
    name: String, body: String, reason: String?
  ) async throws {
    try await serve { _, root async throws in
      let before = try await root.get("/_node/_local/_config").json
      let reply = try await root.send("PUT", Self.path(name), body: Array(body.utf8))
      #expect(reply.status == 400)
      if let reason { #expect(reply.json["reason"] == .string(reason)) }
      #expect(try await root.get("/_node/_local/_config").json == before)
      #expect(directory.mode("_config.json") == nil)
    }
  }

  @Test func `only admins change settings`() async throws {
    try await serve { anyone, root async throws in
      for headers in [[], [Self.basic("ann")]] {
        for (method, path) in [
          ("PUT", Self.path("cors/origins")), ("DELETE", Self.path("cors/origins")),
          ("POST", "/_cluster_setup"), ("GET", "/_cluster_setup"),
        ] {
          let reply = try await anyone.send(method, path, json: "*", headers: headers)
          #expect(reply.status == 401)
          #expect(reply.json["reason"] == "You are not a server admin.")
        }
      }
      let page = try await root.send(
        "PUT", Self.path("cors/origins"), json: "*", headers: [("Origin", "https://evil.example")])
      #expect(page.status == 403)
      // LiveSync's check sends an empty header.
      let check = try await root.send(
        "PUT", Self.path("cors/origins"), json: "http://localhost", headers: [("Origin", "")])
      #expect(check.status == 200)
    }
    try await serve({ $0.isReadOnly = true }) { _, root async throws in
      #expect(try await Self.put("cors/origins", "*", root).status == 403)
      #expect(try await root.get(Self.path("cors/origins")).json == "http://localhost")
    }
  }

  @Test func `settings of the start come before stored settings`() async throws {
    try await serve { _, root async throws in
      #expect(try await Self.put("cors/origins", "http://localhost", root).status == 200)
    }
    let log = LogTests.Recorder(.warning)
    try await serve(logger: Logger(label: "test") { _ in log }) {
      $0.origins = ["https://a.example", "https://b.example"]
    } _: { _, root async throws in
      #expect(try await root.get(Self.path("cors/origins")).json == "https://a.example,https://b.example")
      #expect(try await Self.put("cors/origins", "https://b.example, https://a.example", root).status == 200)
      let other = try await Self.put("cors/origins", "http://localhost", root)
      #expect(other.status == 409)
      #expect(
        other.json["reason"]
          == "cors/origins is set where the server is started, as by --cors; change it there."
      )
    }
    let unused = log.all("a kept setting is not used, as the server was started with another value")
    #expect(unused.map { $0.metadata["setting"] } == ["cors/origins"])
    try await serve { _, root async throws in
      #expect(try await root.get(Self.path("cors/origins")).json == "http://localhost")
    }
    try await serve({ $0.settingsFile = nil }) { _, root async throws in
      #expect(try await Self.put("cors/origins", "", root).status == 200)
      #expect(try await Self.put("cors/origins", "http://localhost", root).status == 409)
    }
  }

  @Test func `a fixed setting can be set to its value, and others name what sets them`() async throws {
    try await serve { _, root async throws in
      for name in ["chttpd/port", "couchdb/single_node", "couchdb/uuid", "log/level"] {
        let value = try await root.get(Self.path(name)).json
        let reply = try await root.send("PUT", Self.path(name), json: value)
        #expect(reply.status == 200)
        #expect(reply.json == value)
      }
      for (name, option) in [
        ("chttpd/bind_address", "--bind"), ("httpd/port", "--bind"), ("log/level", "--log-level"),
        ("ssl/cert_file", "--tls-cert"), ("cors/methods", "cors/origins alone"),
        ("admins/new", "cdtquery user add"),
        ("couch_peruser/enable", "the options of cdtquery serve"),
      ] {
        let reply = try await Self.put(name, "other", root)
        #expect(reply.status == 501)
        #expect(
          reply.json["reason"]?.stringValue?.hasPrefix(
            "A change of \(name) by request is not supported; use \(option)")
            == true)
      }
      #expect(try await root.delete(Self.path("couchdb/uuid")).status == 501)
      #expect(try await root.delete(Self.path("a/b")).json["reason"] == "unknown_config_value")
      #expect(try await Self.put("cors/origins", "*", root).status == 200)
      let elsewhere = try await root.send("PUT", "/_node/other/_config/cors/origins", json: "*")
      #expect(elsewhere.json["reason"] == "no such node: other")
    }
  }

  @Test func `a server without users can't require them, nor open itself to every page`() async throws {
    try await serve({ $0.usersFile = nil }) { server, _ async throws in
      for (name, value, option) in [
        ("chttpd/require_valid_user", "true", "--users"), ("cors/origins", "*", "--users"),
      ] {
        let reply = try await Self.put(name, value, server)
        #expect(reply.status == 400)
        #expect(reply.json["reason"]?.stringValue?.contains(option) == true)
      }
      #expect(try await Self.put("cors/origins", "http://localhost", server).status == 200)
      #expect(try await server.post("/_cluster_setup", Self.clusterSetup).status == 400)
    }
    try directory.write(#"{"chttpd": {"require_valid_user": "true"}}"#, to: "_config.json")
    let error = await #expect(throws: ServerError.self) {
      try await serve({ $0.usersFile = nil }) { _, _ async throws in }
    }
    #expect(error?.code == .exposed)
  }

  // MARK: The file

  @Test(arguments: [
    ("not JSON", "it is not a JSON object; fix it, or remove it and set the settings again"),
    (
      #"{"cors": {"colour": "red"}}"#,
      "cors/colour is not a setting with a text as its value; fix or remove it"
    ),
    (#"{"cors": 1}"#, "cors/cors is not a setting with a text as its value; fix or remove it"),
    (
      #"{"cors": {"credentials": true}}"#,
      "cors/credentials is not a setting with a text as its value; fix or remove it"
    ),
    (
      #"{"cors": {"credentials": "no"}}"#,
      #"cors/credentials must be "true" or "false". Fix or remove it."#
    ),
  ]) func `a damaged file keeps the server from starting, and a change from being made`(
    text: String, reason: String
  ) async throws {
    try directory.write(text, to: "_config.json")
    let error = await #expect(throws: ServerError.self) { try await serve { _, _ async throws in } }
    #expect(error?.code == .settings)
    let message = "the settings in \(directory.path("_config.json")) can't be used: \(reason)"
    #expect(error?.message == message)
    try FileManager.default.removeItem(atPath: directory.path("_config.json"))
    try await serve { _, root async throws in
      try directory.write(text, to: "_config.json")
      let reply = try await Self.put("cors/origins", "*", root)
      #expect(reply.status == 500)
      // The log has the message, which names the file.
      #expect(reply.json["reason"] == "The server can't do this now; the reason is in its log.")
      #expect(try await root.get(Self.path("cors/origins")).json == "")
      #expect(try directory.text("_config.json") == text)
    }
  }

  @Test func `a file that others can change is not used, and one that can't be written changes nothing`()
    async throws
  {
    try directory.write("{}", to: "_config.json", mode: 0o644)
    let error = await #expect(throws: ServerError.self) { try await serve { _, _ async throws in } }
    #expect(error?.message.hasSuffix("others can read or write it; run \"chmod 600\" on it") == true)
    try FileManager.default.removeItem(atPath: directory.path("_config.json"))
    // Where the draft would be.
    try FileManager.default.createDirectory(
      atPath: directory.path("_config.json.new/x"), withIntermediateDirectories: true)
    try await serve { _, root async throws in
      let reply = try await Self.put("cors/origins", "*", root)
      #expect(reply.status == 500)
      #expect(reply.json["reason"] == "The server can't do this now; the reason is in its log.")
      #expect(try await root.get(Self.path("cors/origins")).json == "")
    }
  }
}
