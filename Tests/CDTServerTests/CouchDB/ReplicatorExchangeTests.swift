import CDTGzip
import CDTJSON
import CDTServerTestSupport
import CDTTestSupport
import CouchDB
import Foundation
import Testing

/// The requests of CouchDB's replicator in the order in which it sends them, and what it needs of the replies.
@Suite struct ReplicatorExchangeTests {
  private static let checkpoint = "/db/_local/0123456789abcdef0123456789abcdef"
  private static let agent = [
    ("Accept", "application/json"), ("User-Agent", "CouchDB-Replicator/3.5.2"), ("Content-Length", "0"),
  ]
  private static let parts = [("Accept", "multipart/mixed"), ("User-Agent", "CouchDB-Replicator/3.5.2")]

  private static let history: JSONValue = [
    "session_id": "00112233445566778899aabbccddeeff", "source_last_seq": "12-x", "replication_id_version": 4,
    "history": [["session_id": "00112233445566778899aabbccddeeff", "recorded_seq": "12-x", "docs_read": 3]],
  ]

  /// A run begins the same at both ends.
  private static func begin(_ server: RunningServer) async throws -> JSONValue {
    let info = try await server.get("/db/", headers: agent)
    #expect(info.status == 200)
    #expect(info.json["update_seq"]?.stringValue?.isEmpty == false)
    let start = try #require(info.json["instance_start_time"])
    #expect(start.stringValue.flatMap { Int64($0) } != nil)
    let none = try await server.get(checkpoint, headers: agent)
    #expect(none.status == 404)
    #expect(none.json["error"] == "not_found")
    #expect(none.json["reason"]?.stringValue != nil)
    return start
  }

  /// Writes the checkpoint, and reads it in the next run.
  private static func end(_ server: RunningServer, start: JSONValue) async throws {
    let commit = try await server.send(
      "POST", "/db/_ensure_full_commit", body: [], headers: [("Content-Type", "application/json")])
    #expect(commit.status == 201)
    #expect(commit.json["ok"] == true)
    #expect(commit.json["instance_start_time"] == start)
    for revision in ["0-1", "0-2"] {
      var document = try #require(history.objectValue)
      if revision == "0-2" { document["_rev"] = "0-1" }
      let saved = try await server.send(
        "PUT", checkpoint, json: .object(document), headers: [("X-Couch-Full-Commit", "false")])
      #expect(saved.status == 201)
      #expect(saved.json["rev"] == .string(revision))
    }
    let read = try await server.get(checkpoint, headers: agent)
    #expect(read.status == 200)
    #expect(read.json["_rev"] == "0-2")
    #expect(read.json["history"] == history["history"])
    #expect(read.json["source_last_seq"] == "12-x")
  }

  private static func fill(_ server: RunningServer) async throws {
    let text = Data("hello".utf8).base64EncodedString()
    let made = try await server.post(
      "/db/_bulk_docs",
      [
        "new_edits": false,
        "docs": [
          ["_id": "c/slash", "_rev": "3-c", "_revisions": ["start": 3, "ids": ["c", "b", "a"]], "n": 1],
          [
            "_id": "c/slash", "_rev": "2-x", "_revisions": ["start": 2, "ids": ["x", "a"]], "_deleted": true,
          ],
          [
            "_id": "_design/d", "_rev": "1-a", "_revisions": ["start": 1, "ids": ["a"]],
            "language": "javascript",
          ],
          [
            "_id": "att", "_rev": "2-b", "_revisions": ["start": 2, "ids": ["b", "a"]],
            "_attachments": [
              "old": ["content_type": "text/plain", "revpos": 1, "data": .string(text)],
              "new": ["content_type": "image/png", "revpos": 2, "data": .string(text)],
            ],
          ],
        ],
      ])
    #expect(made.json == [])
  }

  @Test func `CouchDB reads from the server`() async throws {
    try await withServer { server in
      try await Self.fill(server)
      let start = try await Self.begin(server)
      let changes = try await server.get(
        "/db/_changes?feed=normal&style=all_docs&since=0&timeout=10000", headers: Self.agent)
      #expect(changes.status == 200)
      let rows = try #require(changes.json["results"]?.arrayValue)
      #expect(rows.map { $0["id"] } == ["c/slash", "_design/d", "att"])
      #expect(rows[0]["changes"] == [["rev": "3-c"], ["rev": "2-x"]])
      #expect(rows.allSatisfy { $0["seq"]?.stringValue != nil && $0["deleted"] == nil })
      #expect(changes.json["pending"] == 0)
      let last = try #require(changes.json["last_seq"]?.stringValue)
      #expect(rows.last?["seq"] == .string(last))
      let pending = try await server.get("/db/_changes?since=0&limit=0", headers: Self.agent)
      #expect(pending.json["results"] == [])
      #expect(pending.json["pending"] == 3)
      // A row a line, so that the replicator can read the feed while it arrives.
      let lines = changes.text.split(separator: "\n")
      #expect(lines.first == "{\"results\":[")
      #expect(lines.count == rows.count + 3)
      try await Self.end(server, start: start)
      let none = try await server.get("/db/_changes?since=\(last)&style=all_docs", headers: Self.agent)
      #expect(none.json == ["results": [], "last_seq": .string(last), "pending": 0])
    }
  }

  @Test func `CouchDB reads revisions from the server`() async throws {
    try await withServer { server in
      try await Self.fill(server)
      let path = "/db/_bulk_get?latest=true&revs=true&attachments=false"
      func body(_ documents: JSONValue) -> JSONValue {
        ["revs": true, "latest": true, "attachments": false, "docs": documents]
      }
      let accept = [("Accept", "application/json")]
      let none = try await server.send("POST", path, json: body([]), headers: accept)
      #expect(none.status == 200)
      #expect(none.json == ["results": []])
      let found = try await server.send(
        "POST", path,
        json: body([
          ["id": "c/slash", "rev": "3-c", "atts_since": []],
          ["id": "c/slash", "rev": "2-x", "atts_since": []],
          ["id": "att", "rev": "2-b", "atts_since": ["1-a"]],
        ]), headers: accept)
      #expect(found.headers["content-type"]?.hasPrefix("application/json") == true)
      let results = try #require(found.json["results"]?.arrayValue)
      #expect(results.map { $0["id"] } == ["c/slash", "c/slash", "att"])
      #expect(
        results[0]["docs"] == [
          [
            "ok": [
              "_id": "c/slash", "_rev": "3-c", "n": 1, "_revisions": ["start": 3, "ids": ["c", "b", "a"]],
            ]
          ]
        ])
      #expect(results[1]["docs"]?[0]?["ok"]?["_deleted"] == true)
      // The replicator fetches documents with stubs again.
      let stubs = results[2]["docs"]?[0]?["ok"]?["_attachments"]?.objectValue
      #expect(stubs.map { Set($0.keys) } == ["new", "old"])
      #expect(stubs?["old"]?["stub"] == true)
    }
  }

  @Test func `CouchDB reads design documents and attachments from the server`() async throws {
    try await withServer { server in
      try await Self.fill(server)
      let design = try await server.get(
        #"/db/_design/d?revs=true&open_revs=["1-a"]&latest=true"#.encoded, headers: Self.parts)
      #expect(design.status == 200)
      #expect(design.headers["content-type"]?.hasPrefix("multipart/mixed; boundary=\"") == true)
      let whole = try await server.get(
        #"/db/att?revs=true&open_revs=["2-b"]&latest=true"#.encoded, headers: Self.parts)
      #expect(whole.text.contains("Content-Type: multipart/related; boundary=\""))
      #expect(whole.text.components(separatedBy: "\r\n\r\nhello\r\n--").count == 3)
      // In chunks it can stop the replicator's HTTP client.
      #expect(whole.headers["content-length"] == "\(whole.body.count)")
      let some = try await server.get(
        #"/db/att?atts_since=["1-a"]&revs=true&open_revs=["2-b"]&latest=true"#.encoded, headers: Self.parts)
      #expect(some.text.components(separatedBy: "\r\n\r\nhello\r\n--").count == 2)
      #expect(some.text.contains("filename=\"new\""))
      let missing = try await server.get(
        #"/db/att?revs=true&open_revs=["9-z"]&latest=true"#.encoded, headers: Self.parts)
      #expect(missing.status == 200)
      #expect(
        missing.text.contains("Content-Type: application/json; error=\"true\"\r\n\r\n{\"missing\":\"9-z\"}"))
    }
  }

  @Test func `an attachment without content is in the JSON, as CouchDB waits after an empty part`()
    async throws
  {
    try await withServer { server in
      for (name, text) in [("empty", ""), ("full", "hello")] {
        let revision = try await server.get("/db/doc").json["_rev"]?.stringValue
        let saved = try await server.send(
          "PUT", "/db/doc/\(name)\(revision.map { "?rev=\($0)" } ?? "")", body: Array(text.utf8),
          headers: [("Content-Type", "image/png")])
        #expect(saved.status == 201)
      }
      for path in ["/db/doc?open_revs=all", "/db/doc?attachments=true"] {
        let reply = try await server.get(path, headers: [("Accept", "multipart/mixed, multipart/related")])
        #expect(reply.text.contains("\"data\":\"\""))
        #expect(reply.text.components(separatedBy: "\"follows\":true").count == 2)
        #expect(reply.text.components(separatedBy: "filename=").count == 2)
        #expect(reply.headers["content-length"] == "\(reply.body.count)")
      }
    }
  }

  @Test func `CouchDB waits for changes and filters them`() async throws {
    try await withServer { server in
      try await Self.fill(server)
      // Without a heartbeat: the feed ends by itself.
      let idle = try await server.get(
        "/db/_changes?feed=continuous&style=all_docs&since=0&timeout=100", headers: Self.agent)
      #expect(idle.lines.count == 4)
      #expect(idle.lines.last?["last_seq"]?.stringValue != nil)
      #expect(idle.lines.last?["pending"] == 0)
      let selected = try await server.send(
        "POST", "/db/_changes?filter=_selector&feed=normal&style=all_docs&since=0&timeout=10000",
        json: ["selector": ["n": 1]])
      #expect(selected.json["results"]?.arrayValue?.map { $0["id"] } == ["c/slash"])
      let named = try await server.send(
        "POST", "/db/_changes?filter=_doc_ids&feed=normal&style=all_docs&since=0&timeout=10000",
        json: ["doc_ids": ["att", "unknown"]])
      #expect(named.json["results"]?.arrayValue?.map { $0["id"] } == ["att"])
      // What was filtered out has been looked at.
      #expect(named.json["last_seq"] == selected.json["last_seq"])
    }
  }

  @Test func `CouchDB writes to the server`() async throws {
    try await withServer { server in
      #expect(try await server.send("PUT", "/new/", body: []).status == 201)
      #expect(try await server.send("PUT", "/new/", body: []).status == 412)
      let start = try await Self.begin(server)
      let requested: JSONValue = ["doc": ["2-b", "2-x"], "_design/d": ["1-a"]]
      let difference = try await server.post("/db/_revs_diff", requested)
      #expect(difference.status == 200)
      #expect(difference.json == ["doc": ["missing": ["2-b", "2-x"]], "_design/d": ["missing": ["1-a"]]])
      #expect(try await server.post("/db/_revs_diff", [:]).json == [:])
      let saved = try await server.send(
        "POST", "/db/_bulk_docs",
        json: [
          "new_edits": false,
          "docs": [
            ["_id": "doc", "_rev": "2-b", "_revisions": ["start": 2, "ids": ["b", "a"]], "n": 1.0],
            ["_id": "doc", "_rev": "2-x", "_revisions": ["start": 2, "ids": ["x", "a"]], "_deleted": true],
          ],
        ], headers: [("X-Couch-Full-Commit", "false")])
      #expect(saved.status == 201)
      #expect(saved.json == [])
      let design = try await server.put(
        "/db/_design/d?new_edits=false",
        ["_id": "_design/d", "_rev": "1-a", "_revisions": ["start": 1, "ids": ["a"]], "views": [:]])
      #expect(design.status == 201)
      #expect(design.json == ["ok": true, "id": "_design/d", "rev": "1-a"])
      #expect(try await server.post("/db/_revs_diff", requested).json == [:])
      try await Self.end(server, start: start)
    }
  }

  @Test func `CouchDB writes attachments to the server`() async throws {
    try await withServer { server in
      let text = String(repeating: "hello ", count: 1_000)
      let gzip = try GzipWriter()
      var chunk = Array(text.utf8)[...]
      var compressed: [UInt8] = []
      while let piece = gzip.next(&chunk) { compressed += piece }
      compressed += gzip.finish()
      var digest = ContentDigest(.md5)
      digest.update(compressed)
      let json: JSONObject = [
        "_id": "doc", "_rev": "1-a", "_revisions": ["start": 1, "ids": ["a"]],
        "_attachments": [
          "z.txt": [
            "content_type": "text/plain", "revpos": 1, "digest": .string(digest.text), "length": 6_000,
            "encoding": "gzip", "encoded_length": .int(Int64(compressed.count)), "follows": true,
          ],
          "a.bin": ["content_type": "image/png", "revpos": 1, "length": 2, "follows": true],
        ],
      ]
      // As CouchDB's replicator writes it: the parts have no fields.
      let boundary = "0f0e0d0c0b0a"
      var body = Array("--\(boundary)\r\nContent-Type: application/json\r\n\r\n".utf8) + json.utf8Text
      for content in [compressed, Array("ab".utf8)] {
        body += Array("\r\n--\(boundary)\r\n\r\n".utf8) + content
      }
      body += Array("\r\n--\(boundary)--".utf8)
      let saved = try await server.send(
        "PUT", "/db/doc?new_edits=false", body: body,
        headers: [("Content-Type", "multipart/related; boundary=\"\(boundary)\"")])
      #expect(saved.status == 201)
      #expect(saved.json == ["ok": true, "id": "doc", "rev": "1-a"])
      #expect(try await server.get("/db/doc/z.txt").text == text)
      #expect(try await server.get("/db/doc/a.bin").text == "ab")
      // The next revision names what the server has.
      let next: JSONObject = [
        "_id": "doc", "_rev": "2-b", "_revisions": ["start": 2, "ids": ["b", "a"]],
        "_attachments": [
          "z.txt": [
            "content_type": "text/plain", "revpos": 1, "digest": .string(digest.text), "length": 6_000,
            "stub": true,
          ],
          "c.bin": ["content_type": "image/png", "revpos": 2, "length": 3, "follows": true],
        ],
      ]
      body = Array("--\(boundary)\r\nContent-Type: application/json\r\n\r\n".utf8) + next.utf8Text
      body += Array("\r\n--\(boundary)\r\n\r\nabc\r\n--\(boundary)--".utf8)
      let second = try await server.send(
        "PUT", "/db/doc?new_edits=false", body: body,
        headers: [("Content-Type", "multipart/related; boundary=\"\(boundary)\"")])
      #expect(second.status == 201)
      #expect(try await server.get("/db/doc/z.txt").text == text)
      #expect(try await server.get("/db/doc/c.bin").text == "abc")
      #expect(try await server.get("/db/doc/a.bin").status == 404)
      // A stub of nothing: the replicator then sends the content.
      let refused = try await server.put(
        "/db/other?new_edits=false",
        ["_rev": "1-a", "_attachments": ["x": ["stub": true, "content_type": "text/plain", "revpos": 1]]])
      #expect(refused.status == 412)
      #expect(refused.json["error"] == "missing_stub")
    }
  }
}
