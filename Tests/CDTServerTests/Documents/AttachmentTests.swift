import CDTDatastore
import CDTGzip
import CDTJSON
import CDTServerTestSupport
import CDTTestSupport
import CouchDB
import Foundation
import Testing

/// Attachments over HTTP.
@Suite struct AttachmentTests {
  private static func put(
    _ server: RunningServer, _ path: String, _ body: [UInt8], type: String = "text/plain",
    headers: [(String, String)] = []
  ) async throws -> RunningServer.Reply {
    try await server.send("PUT", path, body: body, headers: [("Content-Type", type)] + headers)
  }

  @Test func `an attachment is saved, read, replaced and deleted`() async throws {
    try await withServer { server in
      let made = try await Self.put(server, "/db/doc/a.txt", Array("hello".utf8))
      #expect(made.status == 201)
      let first = try #require(made.json["rev"]?.stringValue)
      let read = try await server.get("/db/doc/a.txt")
      #expect(read.text == "hello")
      #expect(read.headers["content-type"] == "text/plain")
      let tag = try #require(read.headers["etag"])
      #expect(try await server.get("/db/doc/a.txt", headers: [("If-None-Match", tag)]).status == 304)
      #expect(try await Self.put(server, "/db/doc/b.txt", []).status == 409)
      let second = try await Self.put(server, "/db/doc/b%2Fc.txt?rev=\(first)", Array("other".utf8))
      let names = try await server.get("/db/doc").json["_attachments"]?.objectValue?.map(\.key)
      #expect(names == ["a.txt", "b/c.txt"])
      #expect(try await server.get("/db/doc/b/c.txt").text == "other")
      let revision = try #require(second.json["rev"]?.stringValue)
      let deleted = try await server.delete("/db/doc/a.txt?rev=\(revision)")
      #expect(deleted.status == 200)
      #expect(try await server.get("/db/doc/a.txt").json["reason"] == "Document is missing attachment")
      #expect(try await server.get("/db/doc/a.txt?rev=\(first)").text == "hello")
      #expect(try await Self.put(server, "/db/doc/_x", []).status == 400)
    }
  }

  /// The part of a damaged document must not end the reply, in which other documents follow.
  @Test(arguments: ["something else", nil])
  func `a document whose attachment is damaged or missing is an error of its own`(content: String?)
    async throws
  {
    try await withServer { server in
      let store = try await server.manager.datastore(named: "db")
      var wanted: [JSONValue] = []
      for id in ["a", "damaged", "z"] {
        let reply = try await Self.put(server, "/db/\(id)/file", Array("content of \(id)".utf8))
        wanted.append(["id": .string(id), "rev": try #require(reply.json["rev"])])
      }
      let digest = try #require(try await store.document(withID: "damaged").attachments["file"]?.digest)
      let file = URL(filePath: "\(store.directory)/attachments/\(digest)")
      if let content {
        try Data(content.utf8).write(to: file)
      } else {
        try FileManager.default.removeItem(at: file)
      }
      let body: JSONValue = ["docs": .array(wanted)]
      let json = try await server.post("/db/_bulk_get?attachments=true", body)
      let rows = try #require(json.json["results"]?.arrayValue)
      #expect(rows.map { $0["docs"]?[0]?["ok"]?["_id"] } == ["a", nil, "z"])
      let error = rows[1]["docs"]?[0]?["error"]
      #expect(error?["error"] == "internal_server_error")
      #expect(error?["rev"] == wanted[1]["rev"])
      let mixed = try await server.send(
        "POST", "/db/_bulk_get", json: body, headers: [("Accept", "multipart/mixed")])
      #expect(mixed.text.contains("content of a") && mixed.text.contains("content of z"))
      #expect(mixed.text.contains(#"application/json; error="true""#))
      for accept in ["multipart/mixed", "application/json"] {
        let open = try await server.get(
          "/db/damaged?open_revs=all&attachments=true", headers: [("Accept", accept)])
        #expect(open.status == 200)
        #expect(open.text.contains(#""error":"internal_server_error""#))
      }
      let options = "include_docs=true&attachments=true"
      let keys: JSONValue = ["keys": ["a", "damaged", "z"]]
      let lists = [
        ("rows", try await server.get("/db/_all_docs?\(options)")),
        ("rows", try await server.post("/db/_all_docs?\(options)", keys)),
        ("results", try await server.get("/db/_changes?\(options)")),
      ]
      for (name, reply) in lists {
        let rows = try #require(reply.json[name]?.arrayValue)
        #expect(rows.map { $0["doc"]?["_id"] } == ["a", nil, "z"])
        #expect(rows[1]["doc"] == .null && rows[1]["error"] == "internal_server_error")
      }
    }
  }

  struct RangeCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let status: Int
    let text: String
  }

  static let ranges = [
    RangeCase(testDescription: "bytes=0-1", status: 206, text: "01"),
    RangeCase(testDescription: "bytes=7-", status: 206, text: "789"),
    RangeCase(testDescription: "bytes=-2", status: 206, text: "89"),
    RangeCase(testDescription: "bytes=8-100", status: 206, text: "89"),
    RangeCase(testDescription: "bytes=0-", status: 200, text: "0123456789"),
    RangeCase(testDescription: "bytes=0-99999999999999999999", status: 206, text: "0123456789"),
    RangeCase(testDescription: "bytes=-99999999999999999999", status: 206, text: "0123456789"),
    RangeCase(testDescription: "bytes=99999999999999999999-", status: 416, text: ""),
    RangeCase(testDescription: "bytes=5-2", status: 416, text: ""),
    RangeCase(testDescription: "bytes=-0", status: 416, text: ""),
    RangeCase(testDescription: "bytes=0-1,3-4", status: 200, text: "0123456789"),
    RangeCase(testDescription: "lines=1-2", status: 200, text: "0123456789"),
    RangeCase(testDescription: "bytes=10-", status: 416, text: ""),
  ]

  @Test(arguments: ranges) func `a range`(range: RangeCase) async throws {
    try await withServer { server in
      _ = try await Self.put(server, "/db/doc/a", Array("0123456789".utf8))
      let reply = try await server.get("/db/doc/a", headers: [("Range", range.testDescription)])
      #expect(reply.status == range.status)
      if range.status == 416 {
        #expect(reply.headers["content-range"] == "bytes */10")
      } else {
        #expect(reply.text == range.text)
      }
    }
  }

  @Test(arguments: ["notBase64Encoded=", "YW=J", "====", "abc", "YWJ", "%%%%", "YWJj=", "YWI=YWI="])
  func `data other than base64 is refused`(data: String) async throws {
    try await withServer { server in
      let refused = try await server.put("/db/a", ["_attachments": ["a": ["data": .string(data)]]])
      #expect(refused.status == 400)
      #expect(refused.json["reason"] == "Invalid attachment data for a")
      #expect(try await server.get("/db/a").status == 404)
    }
  }

  @Test func `the digest of the header Content-MD5 is verified`() async throws {
    try await withServer { server in
      func put(_ digest: String) async throws -> RunningServer.Reply {
        try await server.send(
          "PUT", "/db/m/a.txt", body: Array("hello".utf8), headers: [("Content-MD5", digest)])
      }
      let refused = try await put("AAAAAAAAAAAAAAAAAAAAAA==")
      #expect(refused.status == 400)
      #expect(refused.json["error"] == "content_md5_mismatch")
      #expect(try await server.get("/db/m").status == 404)
      #expect(try await put("XUFAKrxLKna5cZ2REBfFkg==").status == 201)
    }
  }

  @Test func `a form of a page uploads files`() async throws {
    try await withServer { server in
      func post(_ path: String, _ fields: [(disposition: String, content: String)]) async throws
        -> RunningServer.Reply
      {
        let parts = fields.map {
          "--b\r\nContent-Disposition: form-data; \($0.disposition)\r\n\r\n\($0.content)\r\n"
        }
        return try await server.send(
          "POST", path, body: Array((parts.joined() + "--b--\r\n").utf8),
          headers: [("Content-Type", "multipart/form-data; boundary=b")])
      }
      let file = (disposition: #"name="_attachments"; filename="a.txt""#, content: "hello")
      let made = try await post("/db/d", [(#"name="_doc""#, #"{"n": 1}"#), file])
      #expect(made.status == 201)
      let revision = try #require(made.json["rev"]?.stringValue)
      let other = (disposition: #"name="_attachments"; filename="b.txt""#, content: "more")
      #expect(try await post("/db/d", [(#"name="_rev""#, revision), other]).status == 201)
      #expect(try await server.get("/db/d").json["n"] == 1)
      #expect(try await server.get("/db/d/a.txt").text == "hello")
      #expect(try await server.get("/db/d/b.txt").text == "more")
      #expect(try await post("/db/d", [(#"name="_rev""#, revision), other]).status == 409)
      #expect(try await post("/db/e", [other]).status == 400)
      #expect(
        try await server.post("/db/d", [:]).json["reason"] == "Content-Type must be multipart/form-data")
    }
  }

  @Test func `a stub of another generation is refused`() async throws {
    try await withServer { server in
      let made = try await server.put("/db/d", ["_attachments": ["a": ["data": "aGVsbG8="]]])
      var revision = try #require(made.json["rev"])
      func update(_ stub: JSONObject) async throws -> RunningServer.Reply {
        try await server.put("/db/d", ["_rev": revision, "_attachments": ["a": .object(stub)]])
      }
      let refused = try await update(["stub": true, "revpos": 10])
      #expect(refused.status == 412)
      #expect(refused.json["error"] == "missing_stub")
      for stub in [["stub": true, "revpos": 1], ["stub": true]] as [JSONObject] {
        let saved = try await update(stub)
        #expect(saved.status == 201)
        revision = try #require(saved.json["rev"])
      }
      #expect(try await server.get("/db/d/a").text == "hello")
    }
  }

  @Test func `a range of other content than the client knows is not served`() async throws {
    try await withServer { server in
      let made = try await Self.put(server, "/db/doc/a", Array("0123456789".utf8))
      #expect(made.status == 201)
      let tag = try await server.get("/db/doc/a").headers["etag"] ?? ""
      func read(_ known: String) async throws -> RunningServer.Reply {
        try await server.get("/db/doc/a", headers: [("Range", "bytes=5-"), ("If-Range", known)])
      }
      #expect(try await read(tag).text == "56789")
      for other in ["\"sha1-old\"", "Tue, 24 Nov 2026 12:00:00 GMT"] {
        let whole = try await read(other)
        #expect(whole.status == 200)
        #expect(whole.text == "0123456789")
      }
    }
  }

  @Test(arguments: ["/db/doc//", "/db/doc/_a", "/db/doc/_%CC%81a"])
  func `an attachment that could not be replicated is refused`(path: String) async throws {
    try await withServer { server in
      let reply = try await Self.put(server, path, [1])
      #expect(reply.status == 400)
    }
  }

  @Test func `a document comes with its attachments inline or as parts`() async throws {
    try await withServer { server in
      let data = Data("hello".utf8).base64EncodedString()
      let made = try await server.put(
        "/db/doc",
        ["n": 1, "_attachments": ["a.txt": ["content_type": "text/plain", "data": .string(data)]]])
      #expect(made.status == 201)
      let stub = try await server.get("/db/doc").json["_attachments"]?["a.txt"]
      #expect(stub?["stub"] == true)
      #expect(stub?["length"] == 5)
      #expect(stub?["revpos"] == 1)
      #expect(stub?["data"] == nil)
      let inline = try await server.get("/db/doc?attachments=true", headers: [("Accept", "application/json")])
      #expect(inline.json["_attachments"]?["a.txt"]?["data"] == .string(data))
      let parts = try await server.get("/db/doc?attachments=true")
      #expect(parts.headers["content-type"]?.hasPrefix("multipart/related") == true)
      #expect(parts.text.contains("\"follows\":true"))
      #expect(parts.text.contains("\r\n\r\nhello\r\n--"))
      #expect(parts.headers["content-length"] == "\(parts.body.count)")
      // An update with the stub keeps it; one without loses it.
      var document = try #require(try await server.get("/db/doc").json.objectValue)
      document["n"] = 2
      let kept = try await server.put("/db/doc", .object(document))
      #expect(kept.status == 201)
      #expect(try await server.get("/db/doc/a.txt").text == "hello")
      let lost = try await server.put("/db/doc", ["_rev": kept.json["rev"] ?? .null, "n": 3])
      #expect(lost.status == 201)
      #expect(try await server.get("/db/doc/a.txt").status == 404)
      let unknown = try await server.put("/db/doc2", ["_attachments": ["x": ["stub": true]]])
      #expect(unknown.status == 412)
      #expect(unknown.json["error"] == "missing_stub")
    }
  }

  @Test func `a replicator may send a revision again with stubs of what it has sent`() async throws {
    try await withServer { server async throws in
      let whole: JSONValue = [
        "_id": "a", "_rev": "2-b", "_revisions": ["start": 2, "ids": ["b"]],
        "_attachments": ["x": ["data": "aGVsbG8=", "content_type": "text/plain"]],
      ]
      #expect(try await server.put("/db/a?new_edits=false", whole).status == 201)
      // The ancestor is new, the attachment is that of no revision that the server can read.
      let stub: JSONValue = [
        "_id": "a", "_rev": "2-b", "_revisions": ["start": 2, "ids": ["b", "a"]],
        "_attachments": ["other": ["stub": true]],
      ]
      #expect(try await server.put("/db/a?new_edits=false", stub).status == 201)
      #expect(try await server.get("/db/a/x").text == "hello")
      #expect(
        try await server.get("/db/a?revs=true").json["_revisions"] == ["start": 2, "ids": ["b", "a"]])
    }
  }

  @Test func `a document and its attachments are sent as parts`() async throws {
    try await withServer { server in
      var writer = MultipartWriter()
      let json: JSONObject = [
        "_rev": "2-b", "_revisions": ["start": 2, "ids": ["b", "a"]],
        "_attachments": [
          "one": ["content_type": "text/plain", "follows": true, "length": 5, "revpos": 1],
          "two": [
            "content_type": "text/html", "follows": true, "length": 3, "revpos": 2, "digest": "md5-nope",
          ],
        ],
      ]
      var body = writer.begin(.document) + json.utf8Text
      body += writer.begin(MultipartHead()) + Array("first".utf8)
      body += writer.begin(MultipartHead()) + Array("two".utf8) + writer.end()
      let type = [("Content-Type", writer.contentType("multipart/related"))]
      func state(_ digest: String) {
        body = Array(String(decoding: body, as: UTF8.self).replacing("md5-nope", with: digest).utf8)
      }
      let original = body
      for wrong in ["md5-nope", "sha1-nope", "md5-", "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk="] {
        body = original
        state(wrong)
        let refused = try await server.send("PUT", "/db/doc?new_edits=false", body: body, headers: type)
        #expect(refused.status == 400, "\(wrong)")
        #expect(try await server.get("/db/doc").status == 404)
      }
      body = original
      state("md5-" + Data("two".utf8).md5Base64)
      let saved = try await server.send("PUT", "/db/doc?new_edits=false", body: body, headers: type)
      #expect(saved.status == 201)
      #expect(try await server.get("/db/doc/one").text == "first")
      #expect(try await server.get("/db/doc/two").text == "two")
      #expect(try await server.get("/db/doc").json["_attachments"]?["one"]?["revpos"] == 1)
      // Cut off in the middle: nothing is saved.
      let cut = Array(body.prefix(body.count - 20))
      #expect(
        try await server.send("PUT", "/db/doc3?new_edits=false", body: cut, headers: type).status == 400)
      #expect(try await server.get("/db/doc3").status == 404)
    }
  }

  @Test func `parts whose names differ only in their Unicode form keep their content`() async throws {
    try await withServer { server in
      let names = ["\u{FC}", "u\u{308}"]
      let follows: JSONValue = ["follows": true, "length": 5, "content_type": "text/plain"]
      let json = JSONObject([("_attachments", .object(JSONObject(names.map { ($0, follows) })))])
      var writer = MultipartWriter()
      var body = writer.begin(.document) + json.utf8Text
      for content in ["first", "other"] { body += writer.begin(MultipartHead()) + Array(content.utf8) }
      body += writer.end()
      let type = [("Content-Type", writer.contentType("multipart/related"))]
      let saved = try await server.send("PUT", "/db/doc", body: body, headers: type)
      #expect(saved.status == 201)
      var contents: [String] = []
      for name in names {
        contents.append(try await server.get("/db/doc/\(PercentCoding.encode(name))").text)
      }
      #expect(contents == ["first", "other"])
    }
  }

  @Test func `a multipart body that is compressed as a whole is refused`() async throws {
    try await withServer { server in
      let refused = try await server.send(
        "PUT", "/db/doc", body: try gzipped(repeating: 0, count: 1 << 20),
        headers: [("Content-Type", "multipart/related; boundary=b"), ("Content-Encoding", "gzip")])
      #expect(refused.status == 415)
      #expect(refused.json["reason"]?.stringValue?.contains("uncompressed") == true)
    }
  }

  @Test func `a compressed attachment is stored plain`() async throws {
    try await withServer { server in
      let text = String(repeating: "hello ", count: 10_000)
      let writer = try GzipWriter()
      var chunk = Array(text.utf8)[...]
      var compressed: [UInt8] = []
      while let piece = writer.next(&chunk) { compressed += piece }
      compressed += writer.finish()
      let gzip = [("Content-Encoding", "gzip")]
      #expect(try await Self.put(server, "/db/doc/a", compressed, headers: gzip).status == 201)
      #expect(try await server.get("/db/doc/a").text == text)
      let broken = Array(compressed.prefix(compressed.count / 2))
      #expect(try await Self.put(server, "/db/doc2/a", broken, headers: gzip).status == 400)
      #expect(
        try await Self.put(server, "/db/doc2/a", [], headers: [("Content-Encoding", "br")]).status == 415)
    }
  }
}

extension Data {
  fileprivate var md5Base64: String {
    var digest = ContentDigest(.md5)
    digest.update(Array(self))
    return String(digest.text.dropFirst("md5-".count))
  }
}
