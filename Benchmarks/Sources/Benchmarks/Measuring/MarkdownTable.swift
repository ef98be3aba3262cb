/// A table of figures in Markdown.
struct MarkdownTable {
  let title: String
  /// The heads of the columns first; the first column is aligned to the left, the others to the right.
  private(set) var rows: [[String]]

  init(_ title: String, columns: [String]) {
    self.title = title
    rows = [columns, ["---"] + columns.dropFirst().map { _ in "---:" }]
  }

  mutating func append(_ row: [String]) {
    rows.append(row)
  }

  var text: String {
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
