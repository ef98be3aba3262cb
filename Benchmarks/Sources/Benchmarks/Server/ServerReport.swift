/// The requests that a server answers in a second, their times, and its memory.
struct ServerReport: Measured {
  let machine: Machine
  let documents: Int
  let seconds: Int
  let streamed: Int
  let listeners: Int
  /// The version of the CouchDB beside it.
  var couchdb: String?
  var lines: [Line] = []
  var notifications = Notifications()
  var streams: [Stream] = []

  /// Requests of a kind, over so many connections.
  struct Line: Codable {
    let kind: ServerLoad.Kind
    let connections: Int
    var ours: Load?
    var couchdb: Load?
  }

  /// Times are in nanoseconds.
  struct Load: Codable {
    let perSecond: Double
    let p50: Int
    let p99: Int
    let greatest: Int
    /// The server's time on a processor for a request.
    let processor: Int?

    init(_ outcome: Wrk.Outcome, processor: Int?) {
      perSecond = Double(outcome.requests) * 1e9 / Double(outcome.nanoseconds)
      (p50, p99, greatest) = (outcome.p50, outcome.p99, outcome.greatest)
      self.processor = processor
    }
  }

  /// The delay between a write and its arrival at each listener.
  struct Notifications: Codable {
    var ours: Percentiles?
    var couchdb: Percentiles?
  }

  struct Stream: Codable {
    let name: String
    let bytes: Int
    let nanoseconds: Int
    /// The memory of the server before.
    let idleBytes: Int
    /// The most meanwhile.
    let peakBytes: Int
  }

  var tables: [MarkdownTable] { streams.isEmpty ? [loads] : [loads, streaming] }

  private var loads: MarkdownTable {
    var table = MarkdownTable(
      "Requests, \(Spelling.count(documents)) documents",
      columns: [
        "", "connections", "ours, a second", "p50", "p99", "max", "cpu", "CouchDB, a second", "p50", "p99",
        "max",
        "ratio",
      ])
    for line in lines {
      var row = [line.kind.title, Spelling.count(line.connections)] + Self.cells(line.ours)
      row.append(line.ours?.processor.map(Spelling.time) ?? "")
      row += Self.cells(line.couchdb)
      row.append(Self.ratio(line.ours?.perSecond, line.couchdb?.perSecond))
      table.append(row)
    }
    func cells(_ times: Percentiles?) -> [String] {
      [""] + [times?.p50, times?.p99, times?.greatest].map { $0.map(Spelling.time) ?? "" }
    }
    table.append(
      ["PUT until a listener has it", Spelling.count(listeners)] + cells(notifications.ours) + [""]
        + cells(notifications.couchdb)
        + [
          Self.ratio(notifications.couchdb.map { Double($0.p50) }, notifications.ours.map { Double($0.p50) })
        ])
    return table
  }

  private static func cells(_ load: Load?) -> [String] {
    guard let load else { return ["", "", "", ""] }
    return [Spelling.count(Int(load.perSecond.rounded()))]
      + [load.p50, load.p99, load.greatest].map(Spelling.time)
  }

  private static func ratio(_ ours: Double?, _ other: Double?) -> String {
    guard let ours, let other, other > 0 else { return "" }
    return Spelling.number(ours / other)
  }

  private var streaming: MarkdownTable {
    var table = MarkdownTable(
      "Streaming, \(Spelling.count(streamed)) documents",
      columns: ["", "size", "time", "MB a second", "memory at idle", "above idle"])
    for stream in streams {
      table.append([
        stream.name, Spelling.size(stream.bytes), Spelling.time(stream.nanoseconds),
        Spelling.number(Double(stream.bytes) * 1e3 / Double(max(1, stream.nanoseconds))),
        Spelling.size(stream.idleBytes), Spelling.size(stream.peakBytes - stream.idleBytes),
      ])
    }
    return table
  }
}
