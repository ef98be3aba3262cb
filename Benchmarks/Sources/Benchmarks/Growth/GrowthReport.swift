/// The same work in stores of several sizes.
struct GrowthReport: Measured {
  let machine: Machine
  let rounds: Int
  /// The sizes, the smallest first.
  let documents: [Int]
  var rows: [Row] = []
  var histories: [History] = []

  struct Row: Codable {
    let name: String
    let requestsPerRound: Int
    /// How many documents the requests of a round gave, in every size.
    var results: Int
    /// One for each size.
    let ours: [Figures]
    let yardstick: [Figures]

    func giving(results: Int) -> Row {
      var row = self
      row.results = results
      return row
    }
  }

  /// What replacing a document costs that has so many revisions.
  struct History: Codable {
    let revisions: Int
    let update: Figures
  }

  var tables: [MarkdownTable] { [sizeTable, historyTable] }

  private var sizeTable: MarkdownTable {
    var table = MarkdownTable(
      "By the number of documents, processor time",
      columns: [""] + documents.flatMap { [Spelling.count($0), "×"] } + ["yardstick ×"])
    for row in rows {
      let times = row.ours.flatMap { [Spelling.time($0.processor), Self.growth($0, from: row.ours.first)] }
      table.append([row.name] + times + [Self.growth(row.yardstick.last, from: row.yardstick.first)])
    }
    return table
  }

  private var historyTable: MarkdownTable {
    var table = MarkdownTable(
      "Updating a document with a history", columns: ["revisions before", "cpu", "×", "wall", "×"])
    for history in histories {
      table.append([
        Spelling.count(history.revisions),
        Spelling.time(history.update.processor), Self.growth(history.update, from: histories.first?.update),
        Spelling.time(history.update.wall),
        Spelling.number(
          Double(history.update.wall.median) / Double(histories.first?.update.wall.median ?? 1)),
      ])
    }
    return table
  }

  /// The ratio of medians of processor time to that of the smallest.
  private static func growth(_ figures: Figures?, from first: Figures?) -> String {
    guard let figures, let first else { return "" }
    return Spelling.number(Double(figures.processor.median) / Double(max(1, first.processor.median)))
  }
}
