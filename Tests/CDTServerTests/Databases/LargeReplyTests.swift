import CDTDatastore
import CDTJSON
import CDTServerTestSupport
import Testing

/// Replies that are longer than what the server reads of a store at once.
@Suite struct LargeReplyTests {
  private static let ids = (0..<7).map { "doc\($0)" }
  private static let text = JSONValue.string(String(repeating: "x", count: 400_000))

  private static func withDocuments(_ body: (RunningServer) async throws -> Void) async throws {
    try await withServer { server in
      let store = try await server.manager.datastore(named: "db")
      try await store.write { transaction in
        for id in ids { try transaction.createDocument(from: DocumentDraft(id: id, body: ["text": text])) }
      }
      try await body(server)
    }
  }

  @Test(arguments: [
    "_all_docs?include_docs=true", "_changes?include_docs=true",
    "_changes?include_docs=true&feed=continuous&timeout=1",
  ])
  func `every document is listed, in order`(path: String) async throws {
    try await Self.withDocuments { server in
      let reply = try await server.get("/db/\(path)")
      let rows =
        path.contains("continuous")
        ? reply.lines : (reply.json["rows"] ?? reply.json["results"])?.arrayValue ?? []
      #expect(rows.compactMap { $0["id"]?.stringValue } == Self.ids)
      #expect(rows.filter { $0["id"] != nil }.allSatisfy { $0["doc"]?["text"] == Self.text })
    }
  }

  @Test(arguments: ["_all_docs", "_changes"]) func `also backwards, and only some`(path: String) async throws
  {
    try await Self.withDocuments { server in
      let reply = try await server.get("/db/\(path)?include_docs=true&descending=true&limit=6").json
      let rows = (reply["rows"] ?? reply["results"])?.arrayValue
      #expect(rows?.compactMap { $0["id"]?.stringValue } == Self.ids.reversed().dropLast())
    }
  }

  @Test func `many documents are read by their ids`() async throws {
    try await Self.withDocuments { server in
      let keys = JSONValue.array(Self.ids.map { .string($0) })
      let rows = try await server.post("/db/_all_docs?include_docs=true", ["keys": keys]).json["rows"]?
        .arrayValue
      #expect(rows?.compactMap { $0["doc"]?["_id"]?.stringValue } == Self.ids)
      let wanted = JSONValue.array(Self.ids.map { ["id": .string($0)] })
      let results = try await server.post("/db/_bulk_get", ["docs": wanted]).json["results"]?.arrayValue
      #expect(results?.compactMap { $0["docs"]?[0]?["ok"]?["_id"]?.stringValue } == Self.ids)
      let parts = try await server.send(
        "POST", "/db/_bulk_get", json: ["docs": wanted], headers: [("Accept", "multipart/mixed")])
      for id in Self.ids { #expect(parts.text.contains(#""_id":"\#(id)""#)) }
    }
  }

  @Test func `a query has all its results`() async throws {
    try await Self.withDocuments { server in
      let reply = try await server.post("/db/_find", ["selector": [:], "limit": 100, "sort": ["_id"]]).json
      #expect(reply["docs"]?.arrayValue?.compactMap { $0["_id"]?.stringValue } == Self.ids)
      #expect(reply["docs"]?.arrayValue?.allSatisfy { $0["text"] == Self.text } == true)
      #expect(reply["bookmark"]?.stringValue != nil)
    }
  }

  @Test func `every linked document is included`() async throws {
    try await Self.withDocuments { server in
      _ = try await server.put("/db/~hub", ["to": .array(Self.ids.map { .string($0) })])
      let reply = try await server.post(
        "/db/_find", ["selector": ["_id": "~hub"], "include": ["a": "to", "b": "to[]"]]
      ).json
      for name in ["a", "b"] {
        let included = reply["included"]?[name]?.objectValue ?? [:]
        #expect(included.map(\.key) == Self.ids && included.allSatisfy { $0.value["text"] == Self.text })
      }
      #expect(reply["bookmark"]?.stringValue != nil)
    }
  }
}
