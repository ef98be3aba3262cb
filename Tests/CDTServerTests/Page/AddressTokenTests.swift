import CDTServer
import CDTServerTestSupport
import Testing

/// What the address of `cdtquery look` opens, and to whom.
@Suite struct AddressTokenTests {
  private static let token = "3f1d9a"

  private static func withLook(_ body: (RunningServer) async throws -> Void) async throws {
    try await withServer({ $0.addressToken = token }, body)
  }

  private static func cookie(_ server: RunningServer) async throws -> (String, String) {
    let first = try await server.get("/_utils/?token=\(token)")
    let field = try #require(first.headers["set-cookie"])
    return ("Cookie", "other=1; \(field.prefix { $0 != ";" })")
  }

  @Test func `the token is exchanged for a cookie, once`() async throws {
    try await Self.withLook { server in
      let first = try await server.get("/_utils/?token=\(Self.token)")
      #expect(first.status == 303)
      #expect(first.headers["location"] == "/_utils/")
      let cookie = try #require(first.headers["set-cookie"])
      // With `Strict`, a browser that follows a link of another site would not send it.
      #expect(cookie.hasSuffix("; Path=/; HttpOnly; SameSite=Lax"))
      let second = try await server.get("/_utils/?token=\(Self.token)")
      #expect(second.status == 401)
      #expect(second.headers["set-cookie"] == nil)
      #expect(second.text.contains("run cdtquery look again"))
      // The browser that has the cookie may use the address again.
      let known = ("Cookie", String(cookie.prefix { $0 != ";" }))
      #expect(try await server.get("/_utils/?token=\(Self.token)", headers: [known]).status == 303)
    }
  }

  @Test func `without the cookie nothing is answered`() async throws {
    try await Self.withLook { server in
      for path in ["/", "/_all_dbs", "/db", "/_utils/", "/_utils/page.js", "/_up", "/_session"] {
        #expect(try await server.get(path).status == 401, "\(path)")
      }
      #expect(try await server.put("/other").status == 401)
      #expect(try await server.get("/_utils/?token=").status == 401)
      #expect(try await server.get("/_utils/?token=\(Self.token)0").status == 401)
      // A token at another resource is not used up.
      #expect(try await server.get("/db?token=\(Self.token)").status == 401)
      #expect(try await server.send("POST", "/_utils/?token=\(Self.token)").status == 401)
      let known = try await Self.cookie(server)
      for path in ["/", "/_all_dbs", "/db", "/_utils/", "/_utils/page.js"] {
        let reply = try await server.get(path, headers: [known])
        #expect(reply.status == 200, "\(path)")
        // Another port of this machine belongs to the same site, so its pages send the cookie.
        #expect(reply.headers["cross-origin-resource-policy"] == "same-origin", "\(path)")
      }
      #expect(try await server.get("/", headers: [("Cookie", known.1 + "0")]).status == 401)
    }
  }

  @Test func `other names of this machine and other pages are refused also with the cookie`() async throws {
    try await Self.withLook { server in
      let known = try await Self.cookie(server)
      let evil = ("Host", "evil.example:\(server.port)")
      #expect(try await server.get("/_all_dbs", headers: [known, evil]).status == 421)
      for foreign in [("Origin", "http://127.0.0.1:1"), ("Sec-Fetch-Site", "same-site")] {
        let reply = try await server.send("PUT", "/other", body: [], headers: [known, foreign])
        #expect(reply.status == 403, "\(foreign)")
      }
      #expect(try await server.send("PUT", "/other", body: [], headers: [known]).status == 201)
    }
  }

  @Test func `the page learns the directory, for the commands that it shows`() async throws {
    try await Self.withLook { server in
      let welcome = try await server.get("/", headers: [try await Self.cookie(server)])
      #expect(welcome.json["directory"]?.stringValue == server.manager.directory)
    }
    try await withServer { server async throws in
      let welcome = try await server.get("/")
      #expect(welcome.json["directory"] == nil)
      // Apps of other origins may show the pictures of a server.
      #expect(welcome.headers["cross-origin-resource-policy"] == nil)
    }
  }
}
