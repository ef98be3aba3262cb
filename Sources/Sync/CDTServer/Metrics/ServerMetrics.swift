import CDTDatastore
import CDTPlatform
import CDTQuery
import CoreMetrics
import HTTPTypes
import Synchronization

/// The metrics of a server, recorded with swift-metrics: for `/_metrics`, and for the backend that the app has.
final class ServerMetrics: Sendable {
  private struct Reply: Hashable {
    let method: String
    let status: Int
  }

  private let collected: PrometheusMetrics
  private let factory: any MetricsFactory
  private let replies = Mutex<[Reply: Counter]>([:])
  private let durations: [String: Timer]
  private let feeds: Meter
  private let openDatabases, tasks, logBytes, indexLag, freeBytes: Gauge
  private let start = Date.now

  /// A client can send any word as a method, but only these are counted by their names.
  private static let methods = ["GET", "HEAD", "POST", "PUT", "DELETE", "COPY", "OPTIONS"]
  private static let otherMethod = "other"
  private static let repliesName = "cdtdatastore_replies_total"
  private static let durationName = "cdtdatastore_request_duration_seconds"

  /// - Parameter backend: The backend of the process.
  init(backend: any MetricsFactory = MetricsSystem.factory) {
    let collected = backend as? PrometheusMetrics ?? PrometheusMetrics()
    let factory: any MetricsFactory =
      backend is PrometheusMetrics ? collected : MultiplexMetricsHandler(factories: [collected, backend])
    func gauge(_ name: String, _ help: String) -> Gauge {
      collected.describe(name, as: .gauge, help)
      return Gauge(label: name, factory: factory)
    }
    self.collected = collected
    self.factory = factory
    collected.describe(
      Self.repliesName, as: .counter, "The number of replies, by method and status.")
    collected.describe(
      Self.durationName, as: .histogram, "The time until a reply begins, by method.")
    durations = Dictionary(
      uniqueKeysWithValues: (Self.methods + [Self.otherMethod]).map {
        ($0, Timer(label: Self.durationName, dimensions: [("method", $0)], factory: factory))
      })
    collected.describe("cdtdatastore_feeds", as: .gauge, "The number of live feeds that clients listen to.")
    feeds = Meter(label: "cdtdatastore_feeds", factory: factory)
    openDatabases = gauge("cdtdatastore_open_databases", "The number of databases that are open.")
    tasks = gauge(
      "cdtdatastore_active_tasks", "The number of index builds and compactions that are running.")
    logBytes = gauge(
      "cdtdatastore_write_ahead_log_bytes", "The bytes of the write-ahead logs of the open databases.")
    indexLag = gauge(
      "cdtdatastore_index_lag_changes",
      "The largest number of changes that the indexes of an open database lack.")
    freeBytes = gauge("cdtdatastore_disk_free_bytes", "The bytes that the server can still write.")
    collected.describe(
      "cdtdatastore_replication_pending_changes", as: .gauge,
      "The number of changes that a running replication knows of and has not transferred.")
    gauge("process_start_time_seconds", "When the server was started, in seconds since 1970.")
      .record(Int64(start.timeIntervalSince1970))
  }

  /// Counts a reply whose head is sent.
  func count(
    _ method: HTTPRequest.Method, _ status: HTTPResponse.Status, since start: ContinuousClock.Instant
  ) {
    let name = Self.methods.contains(method.rawValue) ? method.rawValue : Self.otherMethod
    counter(of: Reply(method: name, status: status.code)).increment()
    durations[name]?.recordNanoseconds(Int64((ContinuousClock.now - start) / .nanoseconds(1)))
  }

  private func counter(of reply: Reply) -> Counter {
    replies.withLock { replies in
      if let known = replies[reply] { return known }
      let counter = Counter(
        label: Self.repliesName,
        dimensions: [("method", reply.method), ("status", "\(reply.status)")], factory: factory)
      replies[reply] = counter
      return counter
    }
  }

  /// Counts a live feed, until ``endFeed()``.
  func beginFeed() { feeds.increment() }

  func endFeed() { feeds.decrement() }

  /// The metrics in the text format of Prometheus.
  var text: String { collected.text }

  /// Records what is looked at when the metrics are asked for.
  func sample(_ databases: Databases, tasks count: Int) async {
    let names = databases.openNames
    openDatabases.record(names.count)
    tasks.record(count)
    let deadline = ContinuousClock.now + .seconds(5)
    var (bytes, lag): (Int64, Int64) = (0, 0)
    for name in names {
      // One that is closed or busy is left out.
      guard let database = databases.openDatabase(named: name) else { continue }
      let found = try? await Datastore.withDeadline(deadline) {
        try await database.store.readForQuery { (try database.store.logBytes(), try $0.indexLag()) }
      }
      bytes += found?.0 ?? 0
      lag = max(lag, found?.1 ?? 0)
    }
    logBytes.record(bytes)
    indexLag.record(lag)
    if let free = try? await databases.freeBytes() { freeBytes.record(free) }
  }
}

// What CouchDB reports in other forms.
extension ServerMetrics {
  /// The seconds since the server was started.
  var uptime: Int64 { Int64(Date.now.timeIntervalSince(start)) }

  /// The number of replies by method, and by status.
  var replyCounts: (methods: [String: Int], statuses: [Int: Int]) {
    let values = collected.values(of: Self.repliesName)
    var (methods, statuses): ([String: Int], [Int: Int]) = ([:], [:])
    for reply in replies.withLock({ Array($0.keys) }) {
      let count = Int(values[#"method="\#(reply.method)",status="\#(reply.status)""#] ?? 0)
      methods[reply.method, default: 0] += count
      statuses[reply.status, default: 0] += count
    }
    return (methods, statuses)
  }

  /// The number of live feeds.
  var feedCount: Int { Int(collected.values(of: "cdtdatastore_feeds")[""] ?? 0) }
}
