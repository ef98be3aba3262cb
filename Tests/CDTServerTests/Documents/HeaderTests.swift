import CDTJSON
import CDTServerTestSupport
import CouchDB
import Testing

/// The headers that clients of CouchDB use.
@Suite struct HeaderTests {
  @Test func `a write answers with the URL of what was written`() async throws {
    try await withServer { server in
      func location(_ method: String, _ path: String, headers: [(String, String)] = []) async throws
        -> String?
      {
        let reply = try await server.send(
          method, path, json: ["COPY", "DELETE"].contains(method) ? nil : [:], headers: headers)
        #expect((200..<300).contains(reply.status), "\(reply.text)")
        return reply.headers["location"]
      }
      let url = server.url
      #expect(try await location("PUT", "/a-b") == "\(url)/a-b")
      #expect(try await location("PUT", "/db/a%2Fb%20c") == "\(url)/db/a%2Fb%20c")
      #expect(try await location("PUT", "/db/_design/d") == "\(url)/db/_design%2Fd")
      #expect(try await location("PUT", "/db/_local/l") == "\(url)/db/_local%2Fl")
      #expect(try await location("POST", "/db")?.hasPrefix("\(url)/db/") == true)
      #expect(try await location("PUT", "/db/doc/a%20b.txt") == "\(url)/db/doc/a%20b.txt")
      #expect(try await location("COPY", "/db/doc", headers: [("Destination", "copy")]) == "\(url)/db/copy")
      let revision = try await server.get("/db/copy").json["_rev"]?.stringValue ?? ""
      #expect(try await location("DELETE", "/db/copy?rev=\(revision)") == nil)
      let last = try await server.get("/db/doc").json["_rev"] ?? nil
      let deleted = try await server.put("/db/doc", ["_rev": last, "_deleted": true])
      #expect(deleted.status == 200)
      #expect(deleted.headers["location"] == "\(url)/db/doc")
    }
  }

  @Test func `behind a proxy the URL is the proxy's`() async throws {
    try await withServer { server in
      let forwarded = try await server.send(
        "PUT", "/db/a", json: [:],
        headers: [("X-Forwarded-Host", "couch.example:8443"), ("X-Forwarded-Proto", "https")])
      #expect(forwarded.headers["location"] == "https://couch.example:8443/db/a")
      let strange = try await server.send(
        "PUT", "/db/b", json: [:], headers: [("X-Forwarded-Host", "a/b<script>")])
      #expect(strange.headers["location"] == "\(server.url)/db/b")
    }
  }

  @Test func `every reply has the id of its request`() async throws {
    try await withServer { server in
      let ids = try await [server.get("/"), server.get("/none"), server.get("/db/_find")].map {
        $0.headers["x-couch-request-id"] ?? ""
      }
      #expect(ids.allSatisfy { $0.count == 10 })
      #expect(Set(ids).count == 3)
      for (sent, isTaken) in [
        ("my-request_1", true), ("a b", false), (String(repeating: "a", count: 37), false),
      ] {
        let reply = try await server.get("/", headers: [("X-Couch-Request-ID", sent)])
        #expect((reply.headers["x-couch-request-id"] == sent) == isTaken)
      }
    }
  }

  @Test func `a POST can stand for another method`() async throws {
    try await withServer { server in
      func send(_ method: String, as other: String, _ path: String) async throws -> RunningServer.Reply {
        try await server.send(method, path, json: [:], headers: [("X-HTTP-Method-Override", other)])
      }
      #expect(try await send("POST", as: "PUT", "/db/a").status == 201)
      #expect(try await send("POST", as: "GET", "/db/a").json["_id"] == "a")
      // Only a POST, and only for a method that there is.
      #expect(try await send("GET", as: "DELETE", "/db/a").status == 200)
      for other in ["PATCH", "HEAD"] { #expect(try await send("POST", as: other, "/db").status == 201) }
      let revision = try await server.get("/db/a").json["_rev"]?.stringValue ?? ""
      #expect(try await send("POST", as: "DELETE", "/db/a?rev=\(revision)").status == 200)
    }
  }
}
