import CDTGzip
import CDTJSON
import CDTServer
import CDTServerTestSupport
import CDTTestSupport
import Testing

/// What an import would save: `/_import`.
@Suite struct PreviewTests {
  private static func gzip(_ text: String) throws -> [UInt8] { try GzipWriter.compressed(Array(text.utf8)) }

  private static func preview(
    _ server: RunningServer, _ text: [UInt8], _ parameters: String
  ) async throws -> RunningServer.Reply {
    try await server.send("POST", "/_import?\(parameters)", body: text)
  }

  private static func preview(
    _ server: RunningServer, _ text: String, _ parameters: String
  ) async throws -> RunningServer.Reply {
    try await preview(server, Array(text.utf8), parameters)
  }

  @Test func `the first documents of a file, and nothing is saved`() async throws {
    try await withServer { server async throws in
      let rows = (0..<50).map { "\($0);\"0\($0)\";x\n" }.joined()
      let reply = try await Self.preview(server, "code;zip;name\n" + rows, "file=a.csv&limit=3&id=zip")
      #expect(reply.status == 200)
      #expect(reply.json["format"] == "csv")
      #expect(reply.json["separator"] == ";")
      #expect(reply.json["fields"] == ["_id", "code", "zip", "name"])
      #expect(reply.json["documents"]?.arrayValue?.count == 3)
      #expect(reply.json["documents"]?[2] == ["_id": "02", "code": 2, "zip": "02", "name": "x"])
      #expect(reply.json["notices"]?[0]?.stringValue?.contains("semicolons") == true)
      #expect(reply.json["cut"] == nil)
      let other = try await Self.preview(server, "a|b\n1|2\n", "separator=%7C").json
      #expect(other["documents"] == [["a": 1, "b": 2]])
      #expect(try await Self.preview(server, "a\tb\n1\t2\n", "separator=tab").json["separator"] == "\t")
      #expect(try await Self.preview(server, rows, "file=a.csv").json["documents"]?.arrayValue?.count == 10)
      let json = try await Self.preview(server, #"[{"a":1.10},{"b":[]}"#, "").json
      #expect(json["format"] == "json" && json["separator"] == .null && json["fields"] == ["a", "b"])
      #expect(json["cut"]?.stringValue?.hasPrefix("documents:1:") == true)
      #expect(try await server.get("/db").json["doc_count"] == 0)
      #expect(try await server.get("/_all_dbs").json == ["db"])
    }
  }

  @Test func `a file of gzip that is cut in the middle`() async throws {
    try await withServer { server async throws in
      let lines = (0..<20_000).map { #"{"_id":"\#($0)","x":"\#($0 &* 7_919)"}"# + "\n" }.joined()
      let bytes = try Self.gzip(lines)
      for length in [bytes.count / 2, bytes.count - 3, bytes.count] {
        let reply = try await Self.preview(server, Array(bytes.prefix(length)), "file=a.jsonl.gz&limit=100")
        #expect(reply.json["documents"]?.arrayValue?.count == 100, "\(reply.text.prefix(300))")
        #expect(reply.json["documents"]?[99]?["_id"] == "99")
      }
      let few = try Self.gzip(#"{"a":1}"# + "\n" + #"{"a":2}"#)
      let cut = try await Self.preview(server, Array(few.dropLast(9)), "")
      #expect(cut.status == 200, "\(cut.text)")
      // What is compressed for the transfer is decompressed first.
      let coded = try await server.send(
        "POST", "/_import", body: few, headers: [("Content-Encoding", "gzip")])
      #expect(coded.json["documents"] == [["a": 1], ["a": 2]])
      var broken = bytes
      for index in 20..<200 { broken[index] = 0xFF }
      #expect(try await Self.preview(server, broken, "").status == 400)
    }
  }

  @Test func `invalid text, unknown fields and long bodies are refused`() async throws {
    try await withServer { server async throws in
      let line = try await Self.preview(server, "{\"a\":1}\n{\"a\":}\n", "file=x.jsonl")
      #expect(line.status == 400)
      #expect(line.json["reason"]?.stringValue?.hasPrefix("x.jsonl:2:6: ") == true)
      #expect(try await Self.preview(server, "{\"a\":1}", "id=b").status == 400)
      for wrong in ["limit=-1", "limit=x", "separator=", "separator=ab", "separator=%22", "id=", "id=a..b"] {
        #expect(try await Self.preview(server, "{}", wrong).status == 400, "\(wrong)")
      }
      #expect(try await server.get("/_import").status == 405)
      let long = try await Self.preview(server, [UInt8](repeating: 0x20, count: (1 << 20) + 1), "")
      #expect(long.status == 413)
      #expect(try await Self.preview(server, [UInt8](repeating: 0x20, count: 1 << 20), "").status == 200)
    }
  }

  @Test(.timeLimit(.usual)) func `hostile files`() async throws {
    try await withServer { server async throws in
      let deep = String(repeating: "[", count: 500_000)
      #expect(try await Self.preview(server, #"{"a":"# + deep, "").status == 400)
      let openings = String(repeating: #"{"a":"#, count: 200_000)
      #expect(try await Self.preview(server, openings, "").status == 400)
      #expect(
        try await Self.preview(server, String(repeating: "x", count: 1 << 20), "file=a.csv").status == 200)
      let columns = try await Self.preview(server, String(repeating: ",", count: 10_000), "file=a.csv")
      #expect(columns.json["reason"]?.stringValue?.contains("more than 10000 cells") == true)
      for byte in " [\n\",".utf8 {
        let bomb = try gzipped(repeating: byte, count: 8 << 20)
        for file in ["a", "a.csv"] {
          let reply = try await Self.preview(server, bomb, "file=\(file)")
          #expect([200, 400].contains(reply.status), "\(byte) \(file) \(reply.text.prefix(200))")
          #expect(reply.body.count < 3 << 20)
        }
      }
      let names = (0..<20_000).map { "\"\($0)\":1" }.joined(separator: ",")
      #expect(try await Self.preview(server, "{\(names)}", "").json["fields"]?.arrayValue?.count == 20_000)
      let odd = try await Self.preview(server, #"{"a\u0000b":"<script>"}"#, "file=%00%22%3Cb%3E")
      #expect(odd.json["documents"] == [["a\u{0}b": "<script>"]])
    }
  }

  @Test func `everyone who is let in may ask, also where nothing is saved`() async throws {
    try await RuleSite.run { site async throws in
      for server in [site.server, site.user("anna"), site.user("owner"), site.admin] {
        #expect(try await Self.preview(server, "{}", "").status == 200)
      }
      let foreign = try await site.user("anna").send(
        "POST", "/_import", body: [], headers: [("Origin", "http://evil.example")])
      #expect(foreign.status == 403)
    }
    try await RuleSite.run(requiresUser: true) { site async throws in
      #expect(try await Self.preview(site.server, "{}", "").status == 401)
      #expect(try await Self.preview(site.user("anna"), "{}", "").status == 200)
    }
    try await withServer({ $0.isReadOnly = true }) { server async throws in
      #expect(try await Self.preview(server, "{}", "").status == 200)
    }
  }
}
