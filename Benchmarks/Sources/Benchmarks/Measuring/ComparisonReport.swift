/// Ours and the yardstick on the whole workload.
struct ComparisonReport: Measured {
  let machine: Machine
  let rounds: Int
  var runs: [Run] = []

  var tables: [MarkdownTable] { runs.map(\.table) }

  struct Run: Codable {
    let documents: Int
    /// The bytes of the documents as JSON Lines.
    let bytes: Int
    var operations: [Row] = []
    var disk: Disk?
  }

  struct Row: Codable {
    let operation: Operation
    let requestsPerRound: Int
    /// How many documents or ids the requests of a round gave.
    let results: Int
    let ours: Figures
    let yardstick: Figures
    /// Ours by the yardstick's, of the medians.
    let processorRatio: Double
    let wallRatio: Double

    init(_ operation: Operation, results: Int = 0, ours: [Timing], yardstick: [Timing]) {
      self.operation = operation
      requestsPerRound = operation.requestsPerRound
      self.results = results
      self.ours = Figures(ours)
      self.yardstick = Figures(yardstick)
      processorRatio = ComparisonReport.ratio(self.ours.processor.median, self.yardstick.processor.median)
      wallRatio = ComparisonReport.ratio(self.ours.wall.median, self.yardstick.wall.median)
    }
  }

  /// Bytes on disk, with the three indexes and everything closed.
  struct Disk: Codable {
    let ours: Int
    let yardstick: Int
    let ratio: Double

    init(ours: Int, yardstick: Int) {
      self.ours = ours
      self.yardstick = yardstick
      ratio = ComparisonReport.ratio(ours, yardstick)
    }
  }

  /// A ratio to three digits after the point.
  private static func ratio(_ ours: Int, _ yardstick: Int) -> Double {
    (Double(ours) / Double(max(1, yardstick)) * 1_000).rounded() / 1_000
  }
}

extension ComparisonReport.Run {
  var table: MarkdownTable {
    var table = MarkdownTable(
      "\(Spelling.count(documents)) documents",
      columns: ["", "ours, cpu", "yardstick, cpu", "ratio", "ours, wall", "yardstick, wall", "ratio"])
    for row in operations {
      table.append([
        row.operation.rawValue,
        Spelling.time(row.ours.processor), Spelling.time(row.yardstick.processor),
        Spelling.number(row.processorRatio),
        Spelling.time(row.ours.wall), Spelling.time(row.yardstick.wall), Spelling.number(row.wallRatio),
      ])
    }
    if let disk {
      table.append([
        "disk", "", "", "",
        Spelling.size(disk.ours), Spelling.size(disk.yardstick), Spelling.number(disk.ratio),
      ])
    }
    return table
  }
}
