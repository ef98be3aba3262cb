/// The delay until live queries have what was written, and their cost for the writer.
struct LiveReport: Measured {
  let machine: Machine
  let documents: Int
  let writes: Int
  var rows: [Row] = []

  struct Row: Codable {
    let observers: Int
    /// The time until every observer had its first results, in nanoseconds.
    let start: Int
    /// The time from the return of a write to the observer that it concerns.
    let arrival: Percentiles
    /// Writes that concern nobody.
    let observed: Writes
    /// The same writes without observers.
    let alone: Writes
  }

  struct Writes: Codable {
    let wall: Percentiles
    /// Time of the thread on a processor.
    let processor: Percentiles

    init(_ latencies: Latencies) {
      (wall, processor) = (Percentiles(latencies.walls), Percentiles(latencies.processors))
    }
  }

  var tables: [MarkdownTable] {
    var table = MarkdownTable(
      "Live queries, \(Spelling.count(documents)) documents, \(Spelling.count(writes)) writes",
      columns: [
        "observers", "first results of all", "arrival: p50", "p99", "p99.9", "max", "other write: p50",
        "cpu: p50",
        "without observers: p50", "cpu: p50",
      ])
    for row in rows {
      let times = [
        row.start, row.arrival.p50, row.arrival.p99, row.arrival.p999, row.arrival.greatest,
        row.observed.wall.p50,
        row.observed.processor.p50, row.alone.wall.p50, row.alone.processor.p50,
      ]
      table.append([Spelling.count(row.observers)] + times.map(Spelling.time))
    }
    return [table]
  }
}
