extension ComparisonReport {
  /// Three tables for each number of documents: queries for the first time, queries repeated, changes. Then the same for
  /// all numbers of documents beside each other. Then what a user notices first.
  var tables: [MarkdownTable] { runs.flatMap(\.tables) + sizes + [notable].compactMap(\.self) }

  /// The run that pages and plots show.
  var shown: Run? { runs.first { $0.documents == 100_000 } }

  /// Ten figures by the clock, with the ratios of the plot.
  private var notable: MarkdownTable? {
    guard let shown else { return nil }
    var table = MarkdownTable(
      "In \(Spelling.count(shown.documents)) documents",
      columns: ["", "ours", "SQLite by hand", "ratio", "best other"])
    for operation in [.q2, .q1, .q5, .q3, .q4i, .q6b, .q8, .load, .index, .update] as [Operation] {
      let isQuery = Operation.queries.contains(operation) || operation == .q4i
      let rows = isQuery ? shown.first : shown.changes
      guard let row = rows.first(where: { $0.operation == operation }) else { continue }
      let times = [row.ours, row.yardstick.figures].map { isQuery ? $0.single.p50 : $0.wall.median }
      let ratio = isQuery ? row.yardstick.processorRatio : row.yardstick.wallRatio
      let peer = Peer.best(in: operation).map { "\($0.name), \(Spelling.number($0.ratio))" } ?? ""
      table.append([operation.title] + times.map(Spelling.time) + [Spelling.number(ratio), peer])
    }
    return table
  }

  private var sizes: [MarkdownTable] {
    [
      queries("For the first time, cpu, by the number of documents", \.first),
      queries("Repeated, cpu, by the number of documents", \.repeated), changes,
    ]
  }

  private func queries(_ title: String, _ rows: KeyPath<Run, [Row]>) -> MarkdownTable {
    sizes(title, rows, of: ["", "ratio", "unmapped"]) { row in
      [
        Spelling.time(row.ours.processor.median), Spelling.number(row.yardstick.processorRatio),
        row.unmapped.map { Spelling.number($0.processorRatio) } ?? "",
      ]
    }
  }

  private var changes: MarkdownTable {
    sizes("Loading, indexing, changing, wall, by the number of documents", \.changes, of: ["", "ratio"]) {
      [Spelling.time($0.ours.wall.median), Spelling.number($0.yardstick.wallRatio)]
    }
  }

  /// A table with a row for each operation and some columns for each number of documents.
  private func sizes(
    _ title: String, _ rows: KeyPath<Run, [Row]>, of columns: [String], _ cells: (Row) -> [String]
  ) -> MarkdownTable {
    let heads = runs.flatMap { [Spelling.count($0.documents)] + columns.dropFirst() }
    var table = MarkdownTable(title, columns: [""] + heads)
    for operation in Operation.allCases {
      let found = runs.map { run in run[keyPath: rows].first { $0.operation == operation } }
      guard found.contains(where: { $0 != nil }) else { continue }
      table.append([operation.rawValue] + found.flatMap { $0.map(cells) ?? columns.map { _ in "" } })
    }
    return table
  }
}

extension ComparisonReport.Run {
  fileprivate var tables: [MarkdownTable] {
    let count = "\(Spelling.count(documents)) documents"
    return [
      queries("For the first time, \(count)", first), queries("Repeated, \(count)", repeated), changed(count),
    ]
  }

  private func queries(_ title: String, _ rows: [ComparisonReport.Row]) -> MarkdownTable {
    var table = MarkdownTable(
      title,
      columns: [
        "", "ours, cpu", "yardstick", "ratio", "unmapped", "ratio", "ours, wall: p50", "p99", "max",
        "yardstick: p50", "p99", "max",
      ])
    for row in rows {
      let others = [row.yardstick, row.unmapped].flatMap { other in
        [
          other.map { Spelling.time($0.figures.processor.median) } ?? "",
          other.map { Spelling.number($0.processorRatio) } ?? "",
        ]
      }
      table.append(
        [row.operation.rawValue, Spelling.time(row.ours.processor.median)] + others
          + Self.single(row.ours) + Self.single(row.yardstick.figures))
    }
    return table
  }

  private static func single(_ figures: Figures) -> [String] {
    [figures.single.p50, figures.single.p99, figures.single.greatest].map(Spelling.time)
  }

  private func changed(_ count: String) -> MarkdownTable {
    var table = MarkdownTable(
      "Loading, indexing, changing, \(count)",
      columns: ["", "ours, cpu", "yardstick, cpu", "ratio", "ours, wall", "yardstick, wall", "ratio"])
    for row in changes {
      table.append([
        row.operation.rawValue,
        Spelling.time(row.ours.processor), Spelling.time(row.yardstick.figures.processor),
        Spelling.number(row.yardstick.processorRatio),
        Spelling.time(row.ours.wall), Spelling.time(row.yardstick.figures.wall),
        Spelling.number(row.yardstick.wallRatio),
      ])
    }
    if let disk {
      table.append([
        Operation.disk.rawValue, "", "", "",
        Spelling.size(disk.ours), Spelling.size(disk.yardstick), Spelling.number(disk.ratio),
      ])
    }
    return table
  }
}
