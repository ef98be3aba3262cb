/// The costs of whole processes.
struct ProcessReport: Measured {
  let machine: Machine
  let rounds: Int
  let documents: Int
  let gets: Int
  var rows: [Row] = []

  struct Row: Codable {
    let name: String
    var ours: [Program.Cost] = []
    var other: [Program.Cost] = []

    init(_ name: String) {
      self.name = name
    }
  }

  var tables: [MarkdownTable] {
    var table = MarkdownTable(
      "Whole processes, \(Spelling.count(documents)) documents",
      columns: [
        "", "cdtquery, cpu", "sqlite3, cpu", "ratio", "cdtquery, wall", "sqlite3, wall", "ratio",
        "cdtquery, peak memory", "sqlite3, peak memory",
      ])
    for row in rows {
      table.append(
        [row.name] + Self.times(row, \.processor) + Self.times(row, \.wall)
          + [row.ours, row.other].map { $0.compactMap(\.peakBytes).max().map(Spelling.size) ?? "" })
    }
    return [table]
  }

  private static func times(_ row: Row, _ time: KeyPath<Program.Cost, Int>) -> [String] {
    let ours = Figures.Spread(row.ours.map { Double($0[keyPath: time]) })
    guard !row.other.isEmpty else { return [Spelling.time(ours), "", ""] }
    let other = Figures.Spread(row.other.map { Double($0[keyPath: time]) })
    return [
      Spelling.time(ours), Spelling.time(other),
      Spelling.number(Double(ours.median) / Double(max(1, other.median))),
    ]
  }
}
