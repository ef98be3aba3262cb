import CDTPlatform
import HTTPTypes
import Synchronization

/// The counters of a server, for `/_metrics`.
final class Metrics: Sendable {
  private struct Key: Hashable, Comparable {
    let method: String
    let status: Int

    static func < (one: Key, other: Key) -> Bool {
      (one.method, one.status) < (other.method, other.status)
    }
  }

  private let replies = Mutex<[Key: Int]>([:])
  private let start = Date.now

  /// A client can send any word as a method, but only these are counted by their names.
  private static let methods = ["GET", "HEAD", "POST", "PUT", "DELETE", "COPY", "OPTIONS"]

  /// Counts a reply whose head is sent.
  func count(_ method: HTTPRequest.Method, _ status: HTTPResponse.Status) {
    let name = Self.methods.contains(method.rawValue) ? method.rawValue : "other"
    replies.withLock { $0[Key(method: name, status: status.code), default: 0] += 1 }
  }

  /// The metrics in the text format of Prometheus.
  ///
  /// - Parameters:
  ///   - openDatabases: The number of databases that are open.
  ///   - tasks: The number of index builds and compactions that are running.
  func text(openDatabases: Int, tasks: Int) -> String {
    var text = """
      # HELP process_start_time_seconds When the server was started, in seconds since 1970.
      # TYPE process_start_time_seconds gauge
      process_start_time_seconds \(Int64(start.timeIntervalSince1970))
      # HELP cdtdatastore_open_databases The number of databases that are open.
      # TYPE cdtdatastore_open_databases gauge
      cdtdatastore_open_databases \(openDatabases)
      # HELP cdtdatastore_active_tasks The number of index builds and compactions that are running.
      # TYPE cdtdatastore_active_tasks gauge
      cdtdatastore_active_tasks \(tasks)
      # HELP cdtdatastore_replies_total The number of replies, by method and status.
      # TYPE cdtdatastore_replies_total counter

      """
    for (key, count) in replies.withLock({ $0.sorted { $0.key < $1.key } }) {
      text += "cdtdatastore_replies_total{method=\"\(key.method)\",status=\"\(key.status)\"} \(count)\n"
    }
    return text
  }
}
