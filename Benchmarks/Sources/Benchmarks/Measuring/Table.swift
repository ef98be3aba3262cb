/// A run as a Markdown table.
struct Table {
  private let run: Report.Run

  init(_ run: Report.Run) {
    self.run = run
  }

  var text: String {
    var rows = [
      ["", "ours, cpu", "yardstick, cpu", "ratio", "ours, wall", "yardstick, wall", "ratio"],
      ["---", "---:", "---:", "---:", "---:", "---:", "---:"],
    ]
    for row in run.operations {
      rows.append([
        row.operation.rawValue,
        Self.time(row.ours.processor), Self.time(row.yardstick.processor), Self.ratio(row.processorRatio),
        Self.time(row.ours.wall), Self.time(row.yardstick.wall), Self.ratio(row.wallRatio),
      ])
    }
    if let disk = run.disk {
      rows.append([
        "disk", "", "", "", Self.size(disk.ours), Self.size(disk.yardstick), Self.ratio(disk.ratio),
      ])
    }
    return Self.aligned(rows)
  }

  /// The median in a fitting unit, and the least and greatest round behind it: `26.7 µs (26.1–28.0)`.
  private static func time(_ spread: Figures.Spread) -> String {
    let units = [("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)]
    let (name, unit) = units.last { Double(spread.median) >= $0.1 } ?? ("ns", 1)
    func digits(_ nanoseconds: Int) -> String { threeDigits(Double(nanoseconds) / unit) }
    return "\(digits(spread.median)) \(name) (\(digits(spread.least))–\(digits(spread.greatest)))"
  }

  private static func size(_ bytes: Int) -> String { "\(threeDigits(Double(bytes) / 1e6)) MB" }

  private static func ratio(_ ratio: Double) -> String { threeDigits(ratio) }

  private static func threeDigits(_ value: Double) -> String {
    if value >= 100 { return String(Int(value.rounded())) }
    let scale: Double = value >= 10 ? 10 : 100
    return String((value * scale).rounded() / scale)
  }

  private static func aligned(_ rows: [[String]]) -> String {
    let widths = rows.reduce(into: [Int](repeating: 0, count: rows.first?.count ?? 0)) { widths, row in
      for (column, cell) in row.enumerated() { widths[column] = max(widths[column], cell.count) }
    }
    return rows.map { row in
      let cells = row.enumerated().map { column, cell in
        let padding = String(repeating: " ", count: widths[column] - cell.count)
        return column == 0 ? cell + padding : padding + cell
      }
      return "| " + cells.joined(separator: " | ") + " |"
    }.joined(separator: "\n")
  }
}
