import CDTJSON
import CDTServerTestSupport
import Foundation
import Testing

/// The requests of PouchDB's replicator, and what it needs of the replies.
@Suite struct PouchDBExchangeTests {
  private static let checkpoint = "/db/_local/Kx2.d_3sBBcP2QnY6rHZzA%3D%3D"

  private static func saveCheckpoint(_ server: RunningServer, last: JSONValue) async throws {
    let missing = try await server.get(checkpoint)
    #expect(missing.status == 404)
    #expect(missing.json["error"] == "not_found")
    let document: JSONValue = [
      "_id": "_local/Kx2.d_3sBBcP2QnY6rHZzA==", "session_id": "5B2F", "last_seq": last,
      "history": [["last_seq": last, "session_id": "5B2F"]], "replicator": "pouchdb", "version": 1,
    ]
    let saved = try await server.put(checkpoint, document)
    #expect(saved.status == 201)
    #expect(saved.json["id"] == "_local/Kx2.d_3sBBcP2QnY6rHZzA==")
    let read = try await server.get(checkpoint)
    #expect(read.json["last_seq"] == last)
    #expect(read.json["_rev"] == saved.json["rev"])
    #expect(read.json["replicator"] == "pouchdb")
  }

  @Test func `PouchDB creates a database and writes to it`() async throws {
    try await withServer { server in
      let missing = try await server.get("/todos/")
      #expect(missing.status == 404)
      #expect(missing.json["error"] == "not_found")
      #expect(try await server.put("/todos/").status == 201)
      #expect(try await server.put("/todos/").status == 412)
      let root = try await server.get("/")
      #expect(root.json["uuid"]?.stringValue?.isEmpty == false)
      #expect(root.json["vendor"]?.objectValue != nil)
      #expect(
        try await server.post("/todos/_revs_diff", ["a": ["1-0123456789abcdef0123456789abcdef"]]).json
          == ["a": ["missing": ["1-0123456789abcdef0123456789abcdef"]]])
      let saved = try await server.post(
        "/todos/_bulk_docs",
        [
          "new_edits": false,
          "docs": [
            [
              "_id": "a", "_rev": "1-0123456789abcdef0123456789abcdef",
              "_revisions": ["start": 1, "ids": ["0123456789abcdef0123456789abcdef"]], "title": "milk",
              "_attachments": [
                "note": [
                  "content_type": "text/plain", "revpos": 1, "digest": "md5-XUFAKrxLKna5cZ2REBfFkg==",
                  "data": .string(Data("hello".utf8).base64EncodedString()),
                ]
              ],
            ]
          ],
        ])
      #expect(saved.status == 201)
      #expect(saved.json == [])
      #expect(try await server.get("/todos/a/note").text == "hello")
    }
  }

  @Test func `PouchDB reads batches of changes and their revisions`() async throws {
    try await withServer { server in
      for number in 0..<7 { _ = try await server.put("/db/doc\(number)", ["n": .int(Int64(number))]) }
      _ = try await server.send(
        "PUT", "/db/att/note", body: Array("hello".utf8), headers: [("Content-Type", "text/plain")])
      var since = "0"
      var found: [JSONValue] = []
      while true {
        let reply = try await server.get("/db/_changes?style=all_docs&limit=3&since=\(since)&seq_interval=3")
          .json
        let rows = try #require(reply["results"]?.arrayValue)
        guard let last = rows.last else {
          #expect(reply["last_seq"] == .string(since))
          break
        }
        found += rows
        since = try #require((last["seq"]?.stringValue ?? reply["last_seq"]?.stringValue))
      }
      #expect(found.count == 8)
      let revisions = found.map { row -> JSONValue in
        ["id": row["id"] ?? .null, "rev": row["changes"]?[0]?["rev"] ?? .null]
      }
      let documents = try await server.post(
        "/db/_bulk_get?revs=true&latest=true", ["docs": .array(revisions)])
      let results = try #require(documents.json["results"]?.arrayValue)
      #expect(results.map { $0["docs"]?[0]?["ok"]?["_rev"] } == revisions.map { $0["rev"] })
      let entry = results.last?["docs"]?[0]?["ok"]?["_attachments"]?["note"]
      #expect(entry?["stub"] == true)
      #expect(entry?["digest"]?.stringValue?.isEmpty == false)
      let revision = try #require(revisions.last?["rev"]?.stringValue)
      #expect(try await server.get("/db/att/note?rev=\(revision)").text == "hello")
      try await Self.saveCheckpoint(server, last: .string(since))
    }
  }

  @Test func `PouchDB waits with heartbeats`() async throws {
    try await withServer { server in
      let since = try #require(try await server.get("/db/_changes?since=now").json["last_seq"]?.stringValue)
      async let waiting = server.get(
        "/db/_changes?style=all_docs&feed=longpoll&heartbeat=50&limit=100&since=\(since)")
      try await Task.sleep(for: .milliseconds(200))
      _ = try await server.put("/db/doc", ["n": 1])
      let reply = try await waiting
      #expect(reply.json["results"]?.arrayValue?.map { $0["id"] } == ["doc"])
      #expect(reply.json["last_seq"]?.stringValue != since)
    }
  }
}
