import CDTDatastore
import CDTGzip
import CDTJSON
import CDTServer
import CDTServerTestSupport
import CDTTestSupport
import Foundation
import Logging
import Testing

/// Files that clients send: `_import`.
@Suite struct ImportTests {
  private static func lines(
    _ server: RunningServer, _ text: String, file: String = "a.jsonl", _ more: String = "",
    to database: String = "db"
  ) async throws -> [JSONValue] {
    let name = file.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    let reply = try await server.send(
      "POST", "/\(database)/_import?file=\(name)\(more)", body: Array(text.utf8))
    #expect(reply.status == 200, "\(reply.text)")
    return reply.lines
  }

  private static func gzip(_ text: String) throws -> [UInt8] {
    let writer = try GzipWriter()
    var (bytes, rest): ([UInt8], ArraySlice<UInt8>) = ([], Array(text.utf8)[...])
    while let part = writer.next(&rest) { bytes += part }
    return bytes + writer.finish()
  }

  @Test func `the name of a file decides whether it is a table`() async throws {
    try await withServer { server in
      let csv = try await Self.lines(server, "_id;age\nann;7\nbob;8\n", file: "more.CSV")
      #expect(
        csv.first?["notice"]?.stringValue?.hasPrefix("more.CSV: a table; values are separated by semicolons")
          == true)
      #expect(csv.contains { $0["progress"]?["imported"] == 2 })
      #expect(csv.last?["ok"] == true)
      #expect(csv.last?["imported"] == 2)
      #expect(try await server.get("/db/ann").json["age"] == 7)
      let tsv = try await Self.lines(server, "_id\tage\ncy\t9\n", file: "../x/a.tsv")
      #expect(tsv.last?["imported"] == 1)
      let json = try await Self.lines(server, #"[{"_id":"dan"},{"_id":"eve"}]"#, file: "people")
      #expect(json.last?["imported"] == 2)
      let reply = try await server.send("POST", "/db/_import?file=a.csv", body: Self.gzip("_id,age\nfay,1\n"))
      #expect(reply.lines.last?["imported"] == 1)
    }
  }

  @Test func `a field can be the id, and a separator can be named`() async throws {
    try await withServer { server in
      let table = try await Self.lines(server, "pet.code|a,b\n07|1\n", "&separator=%7C&id=pet.code")
      #expect(table.last?["imported"] == 1)
      #expect(try await server.get("/db/07").json["a,b"] == 1)
      let json = #"{"no":7,"x":1}"# + "\n" + #"{"_id":"own","no":8}"#
      let lines = try await Self.lines(server, json, "&id=no")
      #expect(lines.last?["imported"] == 2)
      #expect(lines.contains { $0["notice"]?.stringValue?.hasPrefix("--id has no effect on 1") == true })
      #expect(try await server.get("/db/7").json["x"] == 1)
      #expect(
        try await Self.lines(server, json, "&id=y").last?["reason"]?.stringValue?.contains("\"y\"") == true)
      for wrong in ["separator=", "separator=ab", "id=", "id=a..b"] {
        #expect(try await server.send("POST", "/db/_import?\(wrong)", body: []).status == 400)
      }
    }
  }

  @Test func `documents that exist are refused, skipped or replaced`() async throws {
    try await withServer { server in
      let text = #"{"_id":"a","n":1}"# + "\n" + #"{"_id":"b","n":1}"#
      #expect(try await Self.lines(server, text).last?["imported"] == 2)
      let failed = try await Self.lines(server, #"{"_id":"c"}"# + "\n" + text)
      #expect(failed.last?["error"] == "bad_request")
      #expect(
        failed.last?["reason"]?.stringValue?.hasPrefix("a.jsonl:2: document \"a\" already exists") == true)
      // Nothing of its batch is saved.
      #expect(failed.last?["imported"] == 0)
      #expect(try await server.get("/db/c").status == 404)
      let skipped = try await Self.lines(server, #"{"_id":"c"}"# + "\n" + text, "&on_conflict=skip")
      #expect(skipped.last?["skipped"] == 2)
      #expect(skipped.last?["imported"] == 1)
      let changed = text.replacing("1}", with: "2}")
      #expect(try await Self.lines(server, changed, "&on_conflict=replace").last?["replaced"] == 2)
      #expect(try await server.get("/db/a").json["n"] == 2)
      let stale = try await Self.lines(
        server, #"{"_id":"a","_rev":"1-a","n":3}"#, "&on_conflict=replace")
      #expect(stale.contains { $0["notice"]?.stringValue?.contains("has changed to 2-") == true })
      #expect(stale.last?["stale"] == 1)
    }
  }

  struct Refused: Sendable, CustomTestStringConvertible {
    let testDescription, file, text, reason: String
  }

  static let refused = [
    Refused(
      testDescription: "a line of a table", file: "a.csv", text: "_id,age\nann,7\nbob,8,9\n",
      reason: "a.csv:3: the record has 3 cells but the header has 2"),
    Refused(
      testDescription: "a line of JSON", file: "a.jsonl", text: "{\"_id\":\"a\"}\n{\"_id\":}\n",
      reason: "a.jsonl:2:8: "),
    Refused(testDescription: "a path", file: "../../etc/passwd", text: "{", reason: "../../etc/passwd:1:"),
    Refused(
      testDescription: "hidden characters", file: "a\u{202E}\n\u{0}.csv", text: "{}",
      reason: "a\u{202E}\n\u{0}.csv:1:"),
    Refused(
      testDescription: "what is said to be gzip", file: "a.gz", text: "\u{1F}\u{8B}\u{8}", reason: "a.gz:1:"),
    Refused(
      testDescription: "a reserved id", file: "a", text: #"{"_id":"_x"}"#, reason: "a:1: "),
    Refused(
      testDescription: "a reserved name of an attachment", file: "a",
      text: #"{"_id":"x","_attachments":{"_x":{"data":""}}}"#, reason: "a:1: "),
  ]

  @Test(arguments: refused) func `a file is refused with its place`(_ refused: Refused) async throws {
    try await withServer { server in
      let last = try await Self.lines(server, refused.text, file: refused.file).last
      #expect(last?["reason"]?.stringValue?.hasPrefix(refused.reason) == true, "\(last?.text ?? "")")
      #expect(last?["imported"] == 0)
      #expect(try await server.get("/db").json["doc_count"] == 0)
    }
  }

  @Test func `a broken file of gzip, an empty one, and a parameter that is unknown`() async throws {
    try await withServer { server in
      for broken in [[0x1F, 0x8B, 8, 0], Array(try Self.gzip("{\"_id\":\"a\"}\n").dropLast(6))] as [[UInt8]] {
        let reply = try await server.send("POST", "/db/_import?file=a.gz", body: broken)
        #expect(reply.lines.last?["error"] == "bad_request")
        #expect(reply.lines.last?["reason"]?.stringValue?.hasSuffix("gzip file; download it again") == true)
      }
      #expect(try await server.get("/db").json["doc_count"] == 0)
      #expect(try await Self.lines(server, "").last?["ok"] == true)
      for wrong in ["on_conflict=", "on_conflict=overwrite"] {
        #expect(try await server.send("POST", "/db/_import?\(wrong)", body: []).status == 400)
      }
      #expect(try await server.send("POST", "/none/_import", body: []).status == 404)
      #expect(try await server.get("/db/_import").status == 405)
      let coded = try await server.send(
        "POST", "/db/_import", body: [], headers: [("Content-Encoding", "br")])
      #expect(coded.status == 415)
    }
  }

  @Test func `the limits for documents hold`() async throws {
    try await withServer({
      $0.limits.documentLength = 1_000
      $0.limits.requestLength = 300_000
    }) { server in
      let long = String(repeating: "x", count: 2_000)
      for (file, text) in [
        ("a", #"{"_id":"a","t":"\#(long)"}"#), ("a", #"{"t":"\#(long)","n":1}"#), ("a.csv", "t\n\(long)\n"),
      ] {
        let last = try await Self.lines(server, text, file: file).last
        #expect(last?["reason"]?.stringValue?.contains("the document has more than 1000 bytes") == true)
      }
      // A small compressed file can have a value of any length.
      for (file, byte) in [("a", UInt8(ascii: "{")), ("b.csv", UInt8(ascii: ","))] {
        let bytes = Array(#"{"a":""#.utf8.prefix(file == "a" ? 6 : 0))
        let bomb = try gzipped(repeating: byte, count: 64 << 20)
        let head = try Self.gzip(String(decoding: bytes, as: UTF8.self))
        let reply = try await server.send(
          "POST", "/db/_import?file=\(file)", body: bytes.isEmpty ? bomb : head + bomb)
        #expect(reply.lines.last?["reason"]?.stringValue?.contains("is larger than") == true, "\(reply.text)")
      }
      // So can a record have any number of lines.
      let lines = try Self.gzip("t\n\"") + gzipped(repeating: UInt8(ascii: "\n"), count: 4 << 20)
      let reply = try await server.send("POST", "/db/_import?file=c.csv", body: lines)
      #expect(
        reply.lines.last?["reason"]?.stringValue?.hasPrefix("c.csv:2: the value that begins here") == true,
        "\(reply.text)")
    }
  }

  @Test func `only attachments make a value longer than a document`() async throws {
    try await withServer({
      $0.limits.documentLength = 300_000
      $0.limits.requestLength = 3_000_000
    }) { server in
      let content = String(repeating: "QUJD", count: 250_000)
      let file = #"{"_id":"a","_attachments":{"f":{"data":"\#(content)","content_type":"text/plain"}}}"#
      #expect(try await Self.lines(server, file).last?["imported"] == 1)
      let plain = try await Self.lines(server, #"{"_id":"b","t":"\#(content)"}"#).last
      #expect(
        plain?["reason"]?.stringValue?.contains("is larger than 300000 bytes") == true, "\(plain?.text ?? "")"
      )
    }
  }

  @Test func `a file that is too long is refused`() async throws {
    try await withServer { server in
      let text = try await RawConnection.waiting {
        let connection = try RawConnection(port: server.port)
        connection.send(
          "POST /db/_import HTTP/1.1\r\nHost: localhost\r\nContent-Length: 17179869185\r\n\r\n")
        return connection.read(until: "at most 17179869184 bytes")
      }
      #expect(text.hasPrefix("HTTP/1.1 413 "))
      #expect(text.contains("at most 17179869184 bytes"))
    }
  }

  @Test func `four files are sent or imported at the same time`() async throws {
    try await withServer { server in
      var connections: [RawConnection] = []
      func nextImport() async throws -> RunningServer.Reply {
        try await Task.sleep(for: .milliseconds(50))
        return try await server.send("POST", "/db/_import", body: [])
      }
      var reply = try await nextImport()
      while reply.status == 200 {
        let connection = try RawConnection(port: server.port)
        connection.send("POST /db/_import HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n ")
        connections.append(connection)
        reply = try await nextImport()
      }
      #expect(reply.status == 503)
      #expect(reply.headers["retry-after"] == "1")
      #expect(connections.count >= 4)
      connections = []
      while reply.status == 503 { reply = try await nextImport() }
      #expect(reply.status == 200)
    }
  }

  @Test func `the number of notices that are not sent is the last notice`() async throws {
    try await withServer { server in
      let ids = (0..<103).map { #"{"_id":"\#($0)","_rev":"1-a"}"# }.joined(separator: "\n")
      _ = try await Self.lines(server, ids)
      let notices = try await Self.lines(server, ids, "&on_conflict=replace").compactMap { $0["notice"] }
      #expect(notices.count == 101)
      #expect(notices.last == "and 3 more")
    }
  }

  @Test func `the rules for the user hold`() async throws {
    try await RuleSite.run { site in
      let rules: JSONValue = [
        "language": "query", "read": [["roles": ["*"], "selector": ["owner": ["$data": "userCtx.name"]]]],
        "validate_doc_update": ["newDoc": ["owner": ["$data": "userCtx.name"]]],
      ]
      #expect(try await site.admin.put("/db/_design/access", rules).status == 201)
      let (anna, owner) = (site.user("anna"), site.user("owner"))
      let mine = #"{"_id":"a","owner":"anna"}"#
      #expect(try await Self.lines(anna, mine).last?["imported"] == 1)
      let others = try await Self.lines(
        anna, mine.replacing("anna", with: "bob").replacing("\"a\"", with: "\"b\""))
      #expect(others.last?["reason"]?.stringValue?.hasPrefix("a.jsonl:1: newDoc.owner: ") == true)
      // A document that the user does not see.
      _ = try await site.user("bob").put("/db/hush", ["owner": "bob"])
      let rev = try await site.admin.get("/db/hush").json["_rev"]?.stringValue ?? ""
      #expect(rev.hasPrefix("1-"))
      for rule in ["fail", "skip", "replace"] {
        for head in [#""_id":"hush""#, #""_id":"hush","_rev":"1-a""#] {
          let lines = try await Self.lines(anna, "{\(head),\"owner\":\"anna\"}", "&on_conflict=\(rule)")
          #expect(lines.last?["reason"] == "a.jsonl:1: you may not change this document")
          #expect(lines.allSatisfy { !$0.text.contains(rev) })
        }
      }
      // One that another user has deleted has no revision that is told.
      let deleted = try await site.user("bob").delete("/db/hush?rev=\(rev)").json["rev"]?.stringValue ?? "2-"
      let lines = try await Self.lines(
        anna, #"{"_id":"hush","_rev":"1-a","owner":"anna"}"#, "&on_conflict=replace")
      #expect(lines.allSatisfy { !$0.text.contains(deleted) })
      // Design documents are for admins of the database.
      let design = #"{"_id":"_design/x","language":"query"}"#
      #expect(try await Self.lines(anna, design).last?["reason"]?.stringValue?.contains("admin") == true)
      #expect(try await Self.lines(owner, design).last?["imported"] == 1)
      let broken = #"{"_id":"_design/y","language":"query","read":[{"selector":{"$no":1}}]}"#
      #expect(try await Self.lines(owner, broken).last?["error"] == "bad_request")
      // An admin as another user.
      var asAnna = owner
      asAnna.headers.append(("X-As-User", "anna"))
      #expect(try await Self.lines(asAnna, #"{"_id":"d","owner":"owner"}"#).last?["error"] == "bad_request")
      #expect(try await Self.lines(asAnna, #"{"_id":"d","owner":"anna"}"#).last?["imported"] == 1)
      var stranger = site.server
      stranger.headers = []
      _ = try await site.admin.put(
        "/db/_security", ["admins": ["names": [], "roles": []], "members": ["names": ["bob"], "roles": []]])
      #expect(try await stranger.send("POST", "/db/_import", body: []).status == 401)
      #expect(try await anna.send("POST", "/db/_import", body: []).status == 403)
    }
    try await withServer({ $0.isReadOnly = true }) { server async throws in
      #expect(try await server.send("POST", "/db/_import", body: []).status == 403)
    }
  }

  @Test func `a unique index refuses a key, and names no document that the user does not see`() async throws {
    try await RuleSite.run { site in
      _ = try await site.admin.post(
        "/db/_index", ["index": ["fields": ["mail"], "unique": true], "name": "mail", "ddoc": "mail"])
      try await site.setRules([["roles": ["*"], "selector": ["owner": ["$data": "userCtx.name"]]]])
      try await site.save("hush", ["owner": "bob", "mail": "m"])
      let text = #"{"_id":"a","owner":"anna","mail":"m"}"#
      let last = try await Self.lines(site.user("anna"), text).last
      #expect(last?["reason"]?.stringValue?.contains("unique index") == true, "\(last?.text ?? "")")
      #expect(last?.text.contains("hush") == false)
      #expect(try await site.admin.get("/db/a").status == 404)
    }
  }

  @Test func `indexes of imported design documents are there, and old revisions are forgotten`() async throws
  {
    try await withServer { server in
      _ = try await server.send("PUT", "/db/_revs_limit", body: Array("2".utf8))
      let index =
        #"{"_id":"_design/i","language":"query","views":{"n":{"map":{"fields":{"n":"asc"}},"options":{"def":{"fields":["n"]}}}}}"#
      #expect(try await Self.lines(server, index).last?["imported"] == 1)
      #expect(try await server.get("/db/_index").json["total_rows"] == 2)
      for number in 0..<4 {
        _ = try await Self.lines(server, #"{"_id":"a","n":\#(number)}"#, "&on_conflict=replace")
      }
      #expect(try await server.get("/db/a?revs=true").json["_revisions"]?["ids"]?.arrayValue?.count == 2)
    }
  }

  @Test func `an import ends when its client goes away`() async throws {
    let recorder = LogTests.Recorder(.info)
    let manager = try DatastoreManager.inMemory()
    _ = try await manager.datastore(named: "db")
    try await withServer(of: manager, logger: Logger(label: "test") { _ in recorder }) { server in
      let total = 60_000
      let text = (0..<total).map { #"{"_id":"\#($0)"}"# + "\n" }.joined()
      try await RawConnection.waiting {
        let connection = try RawConnection(port: server.port)
        connection.send(
          "POST /db/_import HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)")
        _ = connection.read(until: "progress")
        connection.resetWhenClosed()
      }
      // The request is logged when its import has ended.
      let ended = try #require(try await recorder.wait(for: "request", count: 1).first)
      #expect(ended.metadata["path"] == "/db/_import")
      let count = try #require(try await server.get("/db").json["doc_count"]?.intValue)
      #expect(count < total)
    }
  }
}
