import CDTDatastore
import CDTJSON
import CDTServerTestSupport
import Testing

/// Documents over HTTP, as CouchDB answers for them.
@Suite struct DocumentTests {
  @Test func `a document is created, read, changed and deleted`() async throws {
    try await withServer { server in
      let made = try await server.put("/db/mike", ["age": 36])
      #expect(made.status == 201)
      #expect(made.json == ["ok": true, "id": "mike", "rev": "1-dc7c404fb82b5e0160f925a3aaa9534b"])
      #expect(made.headers["location"] == "\(server.url)/db/mike")
      let read = try await server.get("/db/mike")
      #expect(read.status == 200)
      #expect(read.headers["etag"] == "\"1-dc7c404fb82b5e0160f925a3aaa9534b\"")
      #expect(read.text == #"{"_id":"mike","_rev":"1-dc7c404fb82b5e0160f925a3aaa9534b","age":36}"# + "\n")
      let changed = try await server.put("/db/mike", ["_rev": made.json["rev"] ?? .null, "age": 37])
      #expect(changed.status == 201)
      let revision = try #require(changed.json["rev"]?.stringValue)
      #expect(revision.hasPrefix("2-"))
      let deleted = try await server.delete("/db/mike?rev=\(revision)")
      #expect(deleted.status == 200)
      let gone = try await server.get("/db/mike")
      #expect(gone.status == 404)
      #expect(gone.json == ["error": "not_found", "reason": "deleted"])
      #expect(try await server.get("/db/nobody").json["reason"] == "missing")
      #expect(try await server.post("/db", ["_id": "tombstone", "_deleted": true]).status == 201)
      #expect(try await server.put("/db/tombstone2", ["_deleted": true]).status == 200)
      // Again, on top of the tombstone.
      #expect(try await server.put("/db/mike", ["age": 38]).json["rev"]?.stringValue?.hasPrefix("4-") == true)
    }
  }

  @Test func `a change that names no revision, or an old one, is a conflict`() async throws {
    try await withServer { server in
      let first = try await server.put("/db/a", ["n": 1]).json["rev"] ?? .null
      _ = try await server.put("/db/a", ["_rev": first, "n": 2])
      for body: JSONValue in [["n": 3], ["_rev": first, "n": 3]] {
        let refused = try await server.put("/db/a", body)
        #expect(refused.status == 409)
        #expect(refused.json == ["error": "conflict", "reason": "Document update conflict."])
      }
      #expect(try await server.delete("/db/a").status == 409)
      #expect(try await server.get("/db/a").json["n"] == 2)
    }
  }

  @Test func `numbers and the order of members stay as they were sent`() async throws {
    try await withServer { server in
      let text = #"{"z":1.0,"a":100000000000000000000,"m":{"y":1e2,"b":[]},"s":"\u0000ü"}"#
      _ = try await server.send("PUT", "/db/a", body: Array(text.utf8))
      let read = try await server.get("/db/a").text
      #expect(read.contains(#""z":1.0,"a":100000000000000000000,"m":{"y":1e2,"b":[]},"s":"\u0000ü"}"#))
    }
  }

  @Test func `HEAD has the headers of GET and no body`() async throws {
    try await withServer { server in
      _ = try await server.put("/db/a", ["n": 1])
      let (get, head) = (try await server.get("/db/a"), try await server.send("HEAD", "/db/a"))
      #expect(head.status == 200)
      #expect(head.body.isEmpty)
      #expect(head.headers["etag"] == get.headers["etag"])
      #expect(head.headers["content-length"] == "\(get.body.count)")
    }
  }
}
