/// What whole processes took.
struct ProcessReport: Measured {
  let machine: Machine
  let rounds: Int
  let documents: Int
  let gets: Int
  var rows: [Row] = []

  struct Row: Codable {
    let name: String
    let ours: Figures
    let other: Figures?
    let otherName: String
    /// The bytes that were written, where the two differ in that.
    private var oursBytes: Int?
    private var otherBytes: Int?

    init(name: String, ours: Figures, other: Figures?, otherName: String) {
      self.name = name
      self.ours = ours
      self.other = other
      self.otherName = otherName
    }

    var bytes: (ours: Int, other: Int)? {
      get {
        if let oursBytes, let otherBytes { (oursBytes, otherBytes) } else { nil }
      }
      set { (oursBytes, otherBytes) = (newValue?.ours, newValue?.other) }
    }
  }

  var tables: [MarkdownTable] {
    var table = MarkdownTable(
      "Whole processes",
      columns: ["", "against", "ours, cpu", "the other's", "ratio", "ours, wall", "the other's", "ratio"])
    for row in rows {
      table.append(
        [row.name, row.other == nil ? "" : row.otherName]
          + Self.cells(row, \.processor) + Self.cells(row, \.wall))
    }
    return [table]
  }

  /// The ratio is by byte written where the two write different amounts.
  private static func cells(_ row: Row, _ figure: KeyPath<Figures, Figures.Spread>) -> [String] {
    let ours = row.ours[keyPath: figure]
    guard let other = row.other?[keyPath: figure] else { return [Spelling.time(ours), "", ""] }
    let bytes = row.bytes.map { Double($0.other) / Double(max(1, $0.ours)) } ?? 1
    let ratio = Double(ours.median) / Double(max(1, other.median)) * bytes
    return [Spelling.time(ours), Spelling.time(other), Spelling.number(ratio)]
  }
}
