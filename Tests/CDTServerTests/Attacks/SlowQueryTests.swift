import CDTJSON
import CDTServerTestSupport
import CDTTestSupport
import Foundation
import Testing

@testable import CDTServer

/// Queries that take long.
@Suite struct SlowQueryTests {
  /// A server whose `db` needs minutes to answer ``query``.
  private static func withLongQueries(
    limit: Duration = .seconds(36_000), _ body: (RunningServer, _ query: JSONValue) async throws -> Void
  ) async throws {
    try await withServer({
      $0.limits.queryTime = limit
      $0.limits.idleTime = .seconds(36_000)
    }) { server in
      let text = String(repeating: "a", count: 3_000)
      let documents = (0..<2_000).map { ["_id": .string("d\($0)"), "s": .string(text)] as JSONValue }
      for start in stride(from: 0, to: documents.count, by: 500) {
        _ = try await server.post("/db/_bulk_docs", ["docs": .array(Array(documents[start..<start + 500]))])
      }
      let patterns = (0..<400).map { ["s": ["$regex": .string("a*a*a*b\($0)")]] as JSONValue }
      try await body(server, ["selector": ["$or": .array(patterns)]])
    }
  }

  private static func request(_ query: JSONValue) -> String {
    let text = query.text
    return "POST /db/_find HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      + "Content-Length: \(text.utf8.count)\r\n\r\n\(text)"
  }

  @Test(.timeLimit(.usual)) func `other reads don't wait for long queries, however many there are`()
    async throws
  {
    try await Self.withLongQueries { server, query in
      let (port, request) = (server.port, Self.request(query))
      let clients = try (0..<50).map { _ in try RawConnection(port: port) }
      for client in clients { client.send(request) }
      #expect(try await server.get("/db/d7").status == 200)
      #expect(try await server.get("/db/_all_docs?limit=3").status == 200)
      #expect(try await server.get("/db/_changes?limit=3").status == 200)
      #expect(clients.allSatisfy { !$0.hasReply(within: 0) })
    }
  }

  @Test(.timeLimit(.usual), arguments: [false, true])
  func `a query whose client is gone ends`(resets: Bool) async throws {
    try await Self.withLongQueries { server, query in
      let (port, request) = (server.port, Self.request(query))
      // More than there are threads for queries, and then one that needs one of them.
      var clients = try (0..<40).map { _ in try RawConnection(port: port) }
      for client in clients { client.send(request) }
      #expect(try await server.get("/db/d7").status == 200)
      if resets { for client in clients { client.resetWhenClosed() } }
      clients = []
      let reply = try await server.post("/db/_find", ["selector": ["_id": "d9"]])
      #expect(reply.json["docs"]?[0]?["_id"] == "d9")
    }
  }

  @Test(.timeLimit(.usual)) func `a feed whose filter accepts nothing ends, and can be continued`()
    async throws
  {
    try await Self.withLongQueries(limit: .milliseconds(1)) { server, query in
      for feed in ["normal", "longpoll", "continuous"] {
        let reply = try await server.post("/db/_changes?filter=_selector&feed=\(feed)", query)
        let end = try #require(feed == "continuous" ? reply.lines.last : reply.json)
        let last = try #require(end["last_seq"]?.stringValue)
        let left = try #require(end["pending"]?.intValue)
        #expect(reply.status == 200 && left > 0 && left < 2_000)
        let rest = try await server.get("/db/_changes?since=\(last)").json["results"]?.arrayValue
        #expect(rest?.count == left)
      }
      await #expect(throws: (any Error).self) {
        try await server.post("/db/_changes?filter=_selector&descending=true", query)
      }
    }
  }

  @Test func `the time for which a feed waits for changes does not count`() async throws {
    try await withServer({ $0.limits.queryTime = .milliseconds(500) }) { server in
      _ = try await server.put("/db/a", [:])
      let text = try await server.stream(
        "/db/_changes?filter=_selector&feed=continuous&heartbeat=100&limit=1", json: ["selector": ["n": 1]]
      ) { text in
        // The feed begins with one line feed. With six heartbeats, 100 ms apart, more than the time of a query has passed.
        guard text == String(repeating: "\n", count: 7) else { return }
        _ = try await server.put("/db/b", ["n": 1])
      }
      #expect(text.contains("\"id\":\"b\""), "\(text)")
    }
  }

  /// A request of each endpoint whose work depends on the number of documents, and is limited by the time of a query.
  private static let limited: [String: (path: String, body: JSONValue?)] = [
    "POST /{db}/_find": ("_find", ["selector": [:]]), "POST /{db}/_explain": ("_explain", ["selector": [:]]),
    "GET /{db}/_results": ("_results?request=%7B%22selector%22:%7B%7D%7D", nil),
    "POST /{db}/_results": ("_results", ["selector": [:]]),
    "GET /{db}/_fields": ("_fields", nil), "GET /{db}/_conflicts": ("_conflicts", nil),
    "GET /{db}/_rules": ("_rules", nil), "GET /{db}/_index": ("_index?statistics=true", nil),
    "GET /{db}/_design/{ddoc}/_view/{view}": ("_design/v/_view/n", nil),
    "POST /{db}/_design/{ddoc}/_view/{view}": ("_design/v/_view/n", [:]),
    "POST /{db}/_design/{ddoc}/_view/{view}/queries": ("_design/v/_view/n/queries", ["queries": [[:]]]),
  ]

  /// The other endpoints that read: pages of a list, single documents, settings, and what is sent as it is read.
  private static let unlimited: Set<String> = [
    "GET /{db}/_security", "GET /{db}/_revs_limit", "GET /{db}/_all_docs", "POST /{db}/_all_docs",
    "POST /{db}/_all_docs/queries", "GET /{db}/_design_docs", "POST /{db}/_design_docs",
    "POST /{db}/_design_docs/queries", "GET /{db}/_local_docs", "POST /{db}/_local_docs",
    "POST /{db}/_local_docs/queries", "POST /{db}/_bulk_get", "GET /{db}/_changes", "POST /{db}/_changes",
    "POST /{db}/_revs_diff", "POST /{db}/_missing_revs", "GET /{db}/_backup", "GET /{db}/_local/{id}",
  ]

  /// The endpoints that write or maintain.
  private static let writing: Set<String> = [
    "POST /{db}/_bulk_docs", "POST /{db}/_compact", "POST /{db}/_compact/{ddoc}", "POST /{db}/_import",
    "POST /{db}/_ensure_full_commit", "POST /{db}/_view_cleanup", "POST /{db}/_index",
    "POST /{db}/_index/_bulk_delete", "POST /{db}/_index/_delete", "POST /{db}/_index/_rebuild",
  ]

  @Test func `every endpoint of a database has a time limit, or is listed as one without`() {
    let routes = Route.list.filter { $0.hasPrefix("GET /{db}/_") || $0.hasPrefix("POST /{db}/_") }
    #expect(Set(routes) == Set(Self.limited.keys).union(Self.unlimited).union(Self.writing))
  }

  @Test(.timeLimit(.usual)) func `a query that takes longer than the server allows is refused`()
    async throws
  {
    try await withServer({ $0.limits.queryTime = .zero }) { server in
      _ = try await server.put("/db/a", ["n": 1])
      _ = try await server.put(
        "/db/_design/v",
        ["language": "query", "views": ["n": ["map": ["fields": ["n": "asc"]], "reduce": "_count"]]])
      for (route, request) in Self.limited {
        let path = "/db/\(request.path)"
        let reply =
          if let body = request.body { try await server.post(path, body) } else { try await server.get(path) }
        #expect(reply.status == 503, "\(route): \(reply.json)")
        #expect(reply.json["error"] == "timeout", "\(route)")
        #expect(reply.headers["retry-after"] == "1", "\(route)")
      }
      #expect(
        try await server.get("/db/_index?statistics=true").json["reason"]
          == "Measuring the indexes took longer than the server allows; list them without `statistics`.")
      #expect(try await server.get("/db/_index").status == 200)
    }
  }
}
