/// The times of single requests, up to the slowest of many.
struct LatencyReport: Measured {
  let machine: Machine
  let documents: Int
  let threads: Int
  /// The time for which each store had mixed requests.
  let mixedSeconds: Double
  /// The time for which each store had nothing but writes, of one thread.
  let writesSeconds: Double
  var mixed: [Row] = []
  var writes: [Row] = []

  struct Row: Codable {
    let name: String
    let perSecond: Double
    let wall: Percentiles
    /// Time of the thread on a processor.
    let processor: Percentiles

    init(_ name: String, _ latencies: Latencies, seconds: Double) {
      self.name = name
      perSecond = (Double(latencies.walls.count) / seconds).rounded()
      wall = Percentiles(latencies.walls)
      processor = Percentiles(latencies.processors)
    }
  }

  var tables: [MarkdownTable] {
    let count = "\(Spelling.count(documents)) documents"
    return [
      table("Mixed, \(threads) threads, \(Spelling.number(mixedSeconds)) s, \(count)", mixed),
      table("Single writes, one thread, \(Spelling.number(writesSeconds)) s, \(count)", writes),
    ]
  }

  private func table(_ title: String, _ rows: [Row]) -> MarkdownTable {
    var table = MarkdownTable(
      title, columns: ["", "a second", "wall: p50", "p99", "p99.9", "max", "cpu: p50", "p99.9", "max"])
    for row in rows {
      let walls = [row.wall.p50, row.wall.p99, row.wall.p999, row.wall.greatest]
      let processors = [row.processor.p50, row.processor.p999, row.processor.greatest]
      table.append([row.name, Spelling.count(Int(row.perSecond))] + (walls + processors).map(Spelling.time))
    }
    return table
  }
}
