import CDTJSON
import CDTServer
import CDTServerTestSupport
import CDTTestSupport
import Testing

/// The compaction that a server does by itself.
@Suite(.timeLimit(.usual)) struct SelfCompactionTests {
  /// Runs `body` with a database whose document was changed often, and most of whose bytes are those of earlier revisions.
  private static func withChangedDocument(
    _ configure: @escaping (inout ServerConfiguration) -> Void,
    _ body: (RunningServer, _ first: String) async throws -> Void
  ) async throws {
    try await withServer(configure) { server in
      let text = JSONValue.string(String(repeating: "x", count: 20_000))
      var revision = try await server.put("/db/a", ["text": text]).json["rev"]?.stringValue ?? ""
      let first = revision
      for number in 0..<120 {
        let document: JSONValue = ["_rev": .string(revision), "n": .int(Int64(number)), "text": text]
        revision = try await server.put("/db/a", document).json["rev"]?.stringValue ?? ""
      }
      try await body(server, first)
    }
  }

  @Test func `a database with more bytes of earlier revisions than others is compacted`() async throws {
    try await Self.withChangedDocument({ $0.compactionInterval = .milliseconds(50) }) { server, first in
      while try await server.get("/db/a?rev=\(first)").status == 200 {
        try await Task.sleep(for: .milliseconds(20))
      }
      #expect(try await server.get("/db/a").json["n"] == 119)
    }
  }

  @Test func `without an interval, and of other databases, nothing is compacted`() async throws {
    try await Self.withChangedDocument({ $0.compactionInterval = nil }) { server, first async throws in
      #expect(try await server.get("/db/a?rev=\(first)").status == 200)
    }
    try await withServer({ $0.compactionInterval = .milliseconds(10) }) { server in
      let text = JSONValue.string(String(repeating: "x", count: 30_000))
      for number in 0..<100 { _ = try await server.put("/db/doc\(number)", ["text": text]) }
      let first = try await server.get("/db/doc1").json["_rev"]?.stringValue ?? ""
      _ = try await server.put("/db/doc1?rev=\(first)", ["n": 1])
      try await Task.sleep(for: .milliseconds(200))
      #expect(try await server.get("/db/doc1?rev=\(first)").status == 200)
    }
  }
}
