import CDTDatastore
import CDTJSON
import CDTServerTestSupport
import Foundation
import Testing

/// Requests that no honest client sends.
@Suite struct RequestAttackTests {
  /// The first line of the reply to the head of a request, without a body.
  private static func status(_ server: RunningServer, _ head: String) async throws -> String {
    let reply = try await RawConnection.exchange(server.port, head + "\r\nConnection: close\r\n\r\n")
    return String(reply.prefix { $0 != "\r\n" && $0 != "\r" })
  }

  private static func status(_ server: RunningServer, path: String) async throws -> String {
    try await status(server, "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1")
  }

  static let paths = [
    "/..%2f..%2fetc%2fpasswd", "/db/../../etc/passwd", "/db/%2e%2e/%2e%2e/etc", "/db%00x", "/%252e%252e/db",
    "/db/%c0%ae", "/db/a%zz", "/db/_local/%01server", "/./db", "/db%2f..%2fother", "/%5c",
  ]

  @Test(arguments: paths) func `a path that tries to leave the database`(path: String) async throws {
    try await withServer { server async throws in
      let before = try FileManager.default.subpathsOfDirectory(atPath: server.manager.directory).sorted()
      let status = try await Self.status(server, path: path)
      #expect(["400", "404"].contains { status.contains(" \($0) ") }, "\(status)")
      _ = try await RawConnection.exchange(
        server.port,
        "PUT \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
      let after = try FileManager.default.subpathsOfDirectory(atPath: server.manager.directory).sorted()
      #expect(after.filter { !$0.hasPrefix("db/") } == before.filter { !$0.hasPrefix("db/") })
    }
  }

  @Test func `an id is what was sent, decoded once`() async throws {
    try await withServer { server async throws in
      for (path, id) in [
        ("%2e%2e", ".."), ("a%252fb", "a%2fb"), ("a%2fb", "a/b"), ("a+b", "a b"), ("a%2Bb", "a+b"),
        ("%00", "\0"), ("%3f", "?"),
      ] {
        let made = try await RawConnection.exchange(
          server.port,
          "PUT /db/\(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
        #expect(made.contains(" 201 "), "\(made)")
        let store = try await server.manager.datastore(named: "db")
        #expect(try await store.document(withID: id).id == id)
      }
    }
  }

  @Test func `only hosts of the server are answered`() async throws {
    try await withServer { server async throws in
      for host in ["evil.example", "evil.example:\(server.port)", "127.0.0.1.evil.example"] {
        #expect(try await Self.status(server, "GET / HTTP/1.1\r\nHost: \(host)").contains(" 421 "))
      }
      for host in ["127.0.0.1", "localhost:1234", "[::1]:\(server.port)"] {
        #expect(try await Self.status(server, "GET / HTTP/1.1\r\nHost: \(host)").contains(" 200 "))
      }
      #expect(try await Self.status(server, "GET / HTTP/1.1\r\nX: y").contains(" 400 "))
      #expect(try await Self.status(server, "GET / HTTP/1.1\r\nHost: a\r\nHost: 127.0.0.1").contains(" 4"))
    }
  }

  @Test func `a page of another origin can't write`() async throws {
    try await withServer { server async throws in
      let foreign = [("Origin", "https://evil.example")]
      let refused = try await server.send("PUT", "/db/a", json: [:], headers: foreign)
      #expect(refused.status == 403)
      #expect(refused.headers["access-control-allow-origin"] == nil)
      #expect(
        try await server.send("PUT", "/db/a", json: [:], headers: [("Sec-Fetch-Site", "cross-site")]).status
          == 403)
      #expect(try await server.get("/db/a").status == 404)
      let own = [("Origin", "http://127.0.0.1:\(server.port)")]
      #expect(try await server.send("PUT", "/db/a", json: [:], headers: own).status == 201)
    }
  }

  @Test func `a listed origin may use the server, and no other`() async throws {
    try await withServer({ $0.origins = ["https://app.example"] }) { server async throws in
      let app = [("Origin", "https://app.example")]
      let made = try await server.send("PUT", "/db/a", json: [:], headers: app)
      #expect(made.status == 201)
      #expect(made.headers["access-control-allow-origin"] == "https://app.example")
      #expect(made.headers["access-control-allow-credentials"] == "true")
      // Errors can be read, too.
      #expect(
        try await server.get("/none", headers: app).headers["access-control-allow-origin"]
          == "https://app.example")
      let preflight = try await server.send(
        "OPTIONS", "/db/a",
        headers: app + [
          ("Access-Control-Request-Method", "PUT"), ("Access-Control-Request-Headers", "content-type"),
        ])
      #expect(preflight.status == 204)
      #expect(preflight.headers["access-control-allow-methods"]?.contains("PUT") == true)
      let other = try await server.get("/db/a", headers: [("Origin", "https://evil.example")])
      #expect(other.headers["access-control-allow-origin"] == nil)
      #expect(other.headers["vary"] == "Origin")
    }
  }

  @Test func `bodies that are too large are refused`() async throws {
    try await withServer({
      $0.limits.documentLength = 1_000
      $0.limits.requestLength = 5_000
      $0.limits.attachmentLength = 2_000
    }) { server async throws in
      let long = String(repeating: "x", count: 2_500)
      let document = try await server.put("/db/a", ["s": .string(long)])
      #expect(document.status == 413)
      #expect(document.json == ["error": "document_too_large", "reason": "a"])
      #expect(try await server.put("/db/a", ["s": .string(long + long)]).json["error"] == "too_large")
      let attachment = try await server.send("PUT", "/db/b/x", body: Array(long.utf8))
      #expect(attachment.json == ["error": "attachment_too_large", "reason": "x"])
      #expect(try await server.get("/db/b").status == 404)
      let many = try await server.post(
        "/db/_bulk_docs", ["docs": [["_id": "d"], ["_id": "c", "s": .string(long)]]])
      #expect(many.json == ["error": "document_too_large", "reason": "c"])
      #expect(try await server.get("/db/d").status == 404)
      #expect(
        try await Self.status(server, path: "/db/" + String(repeating: "a", count: 9_000)).contains(" 414 "))
      #expect(
        try await Self.status(
          server, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: \(String(repeating: "a", count: 20_000))"
        ).contains(" 4"))
      #expect(try await server.get("/").status == 200)
    }
  }

  @Test func `a compressed body is limited by what it becomes`() async throws {
    try await withServer({ $0.limits.requestLength = 1 << 20 }) { server async throws in
      // 100 MB of spaces in 100 KB.
      let bomb = try gzipped(repeating: UInt8(ascii: " "), count: 100 << 20)
      #expect(bomb.count < 1 << 20)
      let reply = try await server.send("PUT", "/db/a", body: bomb, headers: [("Content-Encoding", "gzip")])
      #expect(reply.status == 413)
    }
  }

  static let smuggling = [
    "Content-Length: 5\r\nTransfer-Encoding: chunked", "Content-Length: 5\r\nContent-Length: 6",
    "Content-Length: -1", "Content-Length: 5, 6", "Transfer-Encoding: chunked, identity",
    "Content-Length: 0x5",
    "Transfer-Encoding: xchunked", " Content-Length: 5",
  ]

  @Test(arguments: smuggling) func `a request whose end is unclear is refused, and the connection is closed`(
    headers: String
  ) async throws {
    try await withServer { server async throws in
      let second =
        "PUT /db/smuggled HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
      _ = try await RawConnection.exchange(
        server.port, "POST /db HTTP/1.1\r\nHost: 127.0.0.1\r\n\(headers)\r\n\r\n0\r\n\r\n\(second)")
      #expect(try await server.get("/db/smuggled").status == 404)
    }
  }

  @Test func `a sender that stops is given up`() async throws {
    // A busy machine must not let the server give up an honest client.
    try await withServer({ $0.limits.idleTime = .seconds(3) }) { server async throws in
      let started = "PUT /db/a HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{"
      try await withThrowingTaskGroup { group in
        for text in ["", "GET / HT", started] {
          // Ends because the server closes the connection.
          group.addTask { _ = try await RawConnection.exchange(server.port, text) }
        }
        try await group.waitForAll()
      }
      #expect(try await server.manager.existingDatastore(named: "db").read { try $0.documentCount() } == 0)
    }
  }

  @Test func `a read-only server changes nothing`() async throws {
    try await withServer { server async throws in
      _ = try await server.put("/db/a", ["n": 1])
      try await withServer(of: server.manager, { $0.isReadOnly = true }) { server async throws in
        #expect(try await server.get("/db/a").json["n"] == 1)
        #expect(try await server.put("/db/b", [:]).status == 403)
        #expect(try await server.put("/other").status == 403)
        #expect(try await server.delete("/db").status == 403)
        #expect(try await server.put("/db/_local/a", [:]).status == 403)
        #expect(try await server.put("/db/_security", [:]).status == 403)
        #expect(try await server.post("/db/_bulk_docs", ["docs": [[:]]]).status == 403)
        #expect(try await server.post("/db/_index", ["index": ["fields": ["a"]]]).status == 403)
        #expect(try await server.post("/db/_compact", [:]).status == 403)
        #expect(
          try await server.post("/db/_find", ["selector": ["n": 1]]).json["docs"]?.arrayValue?.count == 1)
      }
    }
  }
}
