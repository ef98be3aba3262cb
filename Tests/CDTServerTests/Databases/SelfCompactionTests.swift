import CDTJSON
import CDTServer
import CDTServerTestSupport
import CDTTestSupport
import Testing

/// The compaction that a server does by itself.
@Suite(.timeLimit(.usual)) struct SelfCompactionTests {
  /// Changes a document so often that most bytes of its database are those of earlier revisions.
  ///
  /// - Returns: Its first revision.
  private static func changeDocument(_ path: String, of server: RunningServer) async throws -> String {
    let text = JSONValue.string(String(repeating: "x", count: 20_000))
    var revision = try await server.put(path, ["text": text]).json["rev"]?.stringValue ?? ""
    let first = revision
    for number in 0..<120 {
      let document: JSONValue = ["_rev": .string(revision), "n": .int(Int64(number)), "text": text]
      revision = try await server.put(path, document).json["rev"]?.stringValue ?? ""
    }
    return first
  }

  private static func waitForCompaction(_ path: String, _ first: String, of server: RunningServer)
    async throws
  {
    try await eventually("\(path) is compacted") {
      try await server.get("\(path)?rev=\(first)").status != 200
    }
  }

  @Test func `a database with more bytes of earlier revisions than others is compacted`() async throws {
    try await withServer({ $0.compactionInterval = .milliseconds(50) }) { server in
      let first = try await Self.changeDocument("/db/a", of: server)
      try await Self.waitForCompaction("/db/a", first, of: server)
      #expect(try await server.get("/db/a").json["n"] == 119)
    }
  }

  @Test func `without an interval, and of other databases, nothing is compacted`() async throws {
    try await withServer({ $0.compactionInterval = nil }) { server async throws in
      let first = try await Self.changeDocument("/db/a", of: server)
      #expect(try await server.get("/db/a?rev=\(first)").status == 200)
    }
    try await withServer({ $0.compactionInterval = .milliseconds(10) }) { server in
      let text = JSONValue.string(String(repeating: "x", count: 30_000))
      for number in 0..<100 { _ = try await server.put("/db/doc\(number)", ["text": text]) }
      let first = try await server.get("/db/doc1").json["_rev"]?.stringValue ?? ""
      _ = try await server.put("/db/doc1?rev=\(first)", ["n": 1])
      // The server looks at the databases in the order of their names, so that it has looked at this one, too.
      _ = try await server.put("/last")
      let other = try await Self.changeDocument("/last/a", of: server)
      try await Self.waitForCompaction("/last/a", other, of: server)
      #expect(try await server.get("/db/doc1?rev=\(first)").status == 200)
    }
  }
}
