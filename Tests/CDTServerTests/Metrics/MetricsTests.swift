import CDTDatastore
import CDTJSON
import CDTQuery
import CDTServerTestSupport
import CDTTestSupport
import CoreMetrics
import Foundation
import Testing

@testable import CDTServer

/// What a server tells its operator: `_metrics`, `_up`, and what CouchDB has of a node.
@Suite(.timeLimit(.usual)) struct MetricsTests {
  private func lines(_ server: RunningServer, _ path: String = "/_metrics") async throws -> [Substring] {
    let reply = try await server.get(path)
    #expect(reply.status == 200)
    #expect(reply.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
    return reply.text.split(separator: "\n")
  }

  /// The value of a metric.
  private func value(_ name: String, _ server: RunningServer) async throws -> Double? {
    let line = try await lines(server).first { $0.hasPrefix("\(name) ") }
    return line?.split(separator: " ").last.flatMap { Double($0) }
  }

  @Test(arguments: ["/_metrics", "/_node/_local/_prometheus", "/_node/nonode@nohost/_prometheus"])
  func `metrics count replies, open databases and tasks`(path: String) async throws {
    try await withServer { server in
      for _ in 0..<2 { #expect(try await server.get("/db").status == 200) }
      #expect(try await server.send("PATCH", "/db").status == 405)
      let lines = try await lines(server, path)
      for line in [
        #"cdtdatastore_replies_total{method="GET",status="200"} 2"#,
        #"cdtdatastore_replies_total{method="other",status="405"} 1"#, "cdtdatastore_open_databases 1",
        "cdtdatastore_active_tasks 0", "# TYPE process_start_time_seconds gauge",
        "# TYPE cdtdatastore_request_duration_seconds histogram",
        #"cdtdatastore_request_duration_seconds_count{method="GET"} 2"#,
        #"cdtdatastore_request_duration_seconds_bucket{method="GET",le="+Inf"} 2"#, "cdtdatastore_feeds 0",
        "cdtdatastore_index_lag_changes 0",
      ] {
        #expect(lines.contains { $0 == line }, "\(line)")
      }
    }
  }

  @Test func `metrics have the length of logs and the free bytes of the disk`() async throws {
    try await withServer { server in
      _ = try await server.put("/db/a", ["n": 1])
      #expect(try #require(try await value("cdtdatastore_write_ahead_log_bytes", server)) > 0)
      #expect(try #require(try await value("cdtdatastore_disk_free_bytes", server)) > 0)
    }
  }

  @Test func `the lag of an index is the number of changes that it lacks`() async throws {
    try await withServer { server in
      _ = try await server.put("/db/a", ["n": 1])
      let store = try await server.manager.datastore(named: "db")
      #expect(try await store.read { try $0.indexLag() } == 0)
      _ = try await store.ensureIndexed(["n"], name: "numbers")
      #expect(try await store.read { try $0.indexLag() } == 0)
      // The indexes follow when the write is committed.
      let lag = try await store.write { transaction in
        for id in ["b", "c"] {
          try transaction.createDocument(from: DocumentDraft(id: id, body: ["n": 1]))
        }
        return try transaction.indexLag()
      }
      #expect(lag == 2)
      #expect(try await value("cdtdatastore_index_lag_changes", server) == 0)
    }
  }

  @Test(arguments: ["/db/_changes?feed=continuous&heartbeat=50", "/db/_find?feed=continuous&heartbeat=50"])
  func `metrics count the feeds that clients listen to`(path: String) async throws {
    try await withServer { server in
      let body: JSONValue? = path.contains("_find") ? ["selector": [:]] : nil
      let (counts, counted) = AsyncStream<Double?>.makeStream()
      let feed = Task {
        try await server.stream(path, json: body) { text in
          guard text.hasSuffix("\n\n") else { return }
          counted.yield(try await value("cdtdatastore_feeds", server))
          try await Task.sleep(for: .seconds(3_600))
        }
      }
      var iterator = counts.makeAsyncIterator()
      #expect(await iterator.next() == 1)
      feed.cancel()
      _ = await feed.result
      while try await value("cdtdatastore_feeds", server) != 0 {
        try await Task.sleep(for: .milliseconds(10))
      }
    }
  }

  @Test func `metrics are also recorded in the backend of the process`() {
    let backend = PrometheusMetrics()
    #expect(ServerMetrics(backend: backend).text == backend.text)
    let other = CountingBackend()
    let metrics = ServerMetrics(backend: other)
    metrics.count(.get, .ok, since: .now)
    #expect(other.collected.text.contains(#"cdtdatastore_replies_total{method="GET",status="200"} 1"#))
    #expect(metrics.text.contains(#"cdtdatastore_replies_total{method="GET",status="200"} 1"#))
  }

  /// A backend of another kind.
  private final class CountingBackend: MetricsFactory {
    let collected = PrometheusMetrics()

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
      collected.makeCounter(label: label, dimensions: dimensions)
    }
    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
      collected.makeRecorder(label: label, dimensions: dimensions, aggregate: aggregate)
    }
    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
      collected.makeTimer(label: label, dimensions: dimensions)
    }
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
  }

  // MARK: Whether it is up

  @Test func `a server without space is not up`() async throws {
    try await withServer {
      $0.minimumFreeBytes = .max
    } _: { server in
      let reply = try await server.get("/_up")
      #expect(reply.status == 503)
      #expect(reply.json["status"] == "unwritable")
      #expect(reply.json["reason"]?.stringValue?.hasPrefix("The disk is full: ") == true)
    }
    try await withServer {
      $0.minimumFreeBytes = .max
      $0.isReadOnly = true
    } _: { server async throws in
      #expect(try await server.get("/_up").status == 200)
    }
  }

  @Test func `a server whose directory is gone is not up`() async throws {
    try await withServer { server in
      #expect(try await server.get("/_up").json == ["status": "ok", "seeds": [:]])
      let directory = server.manager.directory
      try FileManager.default.moveItem(atPath: directory, toPath: "\(directory)-moved")
      defer { try? FileManager.default.moveItem(atPath: "\(directory)-moved", toPath: directory) }
      let reply = try await server.get("/_up")
      #expect(reply.status == 503)
      #expect(
        reply.json["reason"]
          == "The directory of the databases can't be written to; allow the server to write to it.")
    }
  }

  // MARK: Nodes

  @Test func `there is one node`() async throws {
    try await withServer { server in
      #expect(
        try await server.get("/_membership").json
          == ["all_nodes": ["nonode@nohost"], "cluster_nodes": ["nonode@nohost"]])
      for node in ["_local", "nonode@nohost", "nonode%40nohost"] {
        #expect(try await server.get("/_node/\(node)").json == ["name": "nonode@nohost"])
      }
      for path in ["", "/_stats", "/_system", "/_prometheus", "/_config", "/_config/cors"] {
        let reply = try await server.get("/_node/other@host\(path)")
        #expect(reply.status == 404)
        #expect(reply.json["reason"] == "no such node: other@host")
      }
    }
  }

  @Test func `statistics have CouchDB's form`() async throws {
    try await withServer { server in
      for id in ["a", "b"] { #expect(try await server.put("/db/\(id)", [:]).status == 201) }
      let statistics = try await server.get("/_node/_local/_stats").json["couchdb"]
      #expect(statistics?["httpd_request_methods"]?["PUT"]?["value"] == 2)
      #expect(statistics?["httpd_status_codes"]?["201"]?["value"] == 2)
      #expect(statistics?["httpd"]?["requests"]?["value"] == 2)
      #expect(statistics?["httpd"]?["requests"]?["type"] == "counter")
      #expect(statistics?["open_databases"]?["value"] == 1)
      #expect(try await server.get("/_node/_local/_system").json["uptime"]?.intValue.map { $0 >= 0 } == true)
    }
  }

  @Test func `settings have CouchDB's names`() async throws {
    try await withServer {
      $0.origins = ["http://localhost:3000"]
      $0.limits.documentLength = 1_000
    } _: { server in
      let all = try await server.get("/_node/_local/_config").json
      #expect(all["couchdb"]?["max_document_size"] == "1000")
      #expect(try await server.get("/_node/_local/_config/cors").json == all["cors"])
      #expect(
        try await server.get("/_node/_local/_config/cors/origins").json == "http://localhost:3000")
      #expect(try await server.get("/_node/_local/_config/nothing").json == [:])
      for path in ["cors/nothing", "nothing/x"] {
        let reply = try await server.get("/_node/_local/_config/\(path)")
        #expect(reply.status == 404)
        #expect(reply.json["reason"] == "unknown_config_value")
      }
      #expect(try await server.send("POST", "/_node/_local/_config/cors/origins", json: "*").status == 405)
    }
  }
}
