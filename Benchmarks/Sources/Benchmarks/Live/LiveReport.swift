/// How soon live queries have what was written, and what they cost the writer.
struct LiveReport: Measured {
  let machine: Machine
  let documents: Int
  let writes: Int
  var rows: [Row] = []

  struct Row: Codable {
    let observers: Int
    /// The time until every observer had its first results, in nanoseconds.
    let start: Int
    /// The time from the commit to the observer that it concerns.
    let arrival: Percentiles?
    /// A write that concerns nobody.
    let writeWall: Percentiles
    let writeProcessor: Percentiles
  }

  var tables: [MarkdownTable] {
    var table = MarkdownTable(
      "Live queries, \(Spelling.count(documents)) documents, \(Spelling.count(writes)) writes",
      columns: [
        "observers", "first results of all", "arrival: p50", "p99", "p99.9", "max", "other writes: p50",
        "cpu: p50",
      ])
    for row in rows {
      let arrival = row.arrival.map { [$0.p50, $0.p99, $0.p999, $0.greatest].map(Spelling.time) }
      table.append(
        [Spelling.count(row.observers), Spelling.time(row.start)] + (arrival ?? ["", "", "", ""])
          + [Spelling.time(row.writeWall.p50), Spelling.time(row.writeProcessor.p50)])
    }
    return [table]
  }
}
