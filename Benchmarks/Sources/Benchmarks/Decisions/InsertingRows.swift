/// Decision 3: rows in the order of their table, one or many to a statement.
struct InsertingRows {
  static let columns = 5
  private static let rows = 100_000
  private let scratch: Scratch

  init(_ scratch: Scratch) {
    self.scratch = scratch
  }

  func measure() throws -> MarkdownTable {
    var table = MarkdownTable(
      "100,000 rows inserted in the order of their table, ms", columns: ["rows in a statement", "ms"])
    for count in [1, 8, 64] { table.append(["\(count)", Spelling.number(try milliseconds(atOnce: count))]) }
    return table
  }

  private func milliseconds(atOnce count: Int) throws -> Double {
    let file = try ExperimentFile("\(scratch.path)/rows-\(count).sqlite")
    try file.execute(
      "CREATE TABLE entries (t, v, id, document, absent, PRIMARY KEY (t, v, id)) WITHOUT ROWID; BEGIN")
    let row = "(" + Array(repeating: "?", count: Self.columns).joined(separator: ", ") + ")"
    let insert = try file.statement(
      "INSERT INTO entries VALUES " + Array(repeating: row, count: count).joined(separator: ", "))
    let start = Clock.thread.now
    for first in stride(from: 0, to: Self.rows - count + 1, by: count) {
      for offset in 0..<count {
        let number = first + offset
        insert.bind([0, number / 10, number, number, 0], from: offset * Self.columns + 1)
      }
      insert.run()
    }
    try file.execute("COMMIT")
    return Double(Clock.thread.now - start) / 1e6
  }
}

/// Decision 3: an index over a million documents, in transactions that hold writers up for a short time.
struct BuildingIndex {
  private static let rows = 1_000_000
  private static let longest: Int64 = 6_000_000
  private let scratch: Scratch

  init(_ scratch: Scratch) {
    self.scratch = scratch
  }

  func measure() throws -> MarkdownTable {
    var table = MarkdownTable(
      "An index over a million documents", columns: ["", "s", "longest transaction, ms"])
    // Values that have nothing to do with the order of the documents.
    let values = (0..<Self.rows).map { ($0 * 7_919 % 100_003, $0) }
    table.append(try row("in the order of the documents", values))
    table.append(try row("sorted, then in the order of the index", values.sorted { $0 < $1 }))
    return table
  }

  private func row(_ name: String, _ rows: [(Int, Int)]) throws -> [String] {
    let file = try ExperimentFile("\(scratch.path)/\(name.prefix(6)).sqlite")
    try file.execute(
      "CREATE TABLE entries (t, v, id, document, absent, PRIMARY KEY (t, v, id)) WITHOUT ROWID")
    let insert = try file.statement("INSERT INTO entries VALUES (?, ?, ?, ?, ?)")
    let start = Clock.monotonic.now
    var longest: Int64 = 0
    var position = 0
    while position < rows.count {
      let begin = Clock.monotonic.now
      try file.execute("BEGIN IMMEDIATE")
      repeat {
        insert.bind([0, rows[position].0, rows[position].1, rows[position].1, 0])
        insert.run()
        position += 1
      } while position < rows.count && (position % 64 != 0 || Clock.monotonic.now - begin < Self.longest)
      try file.execute("COMMIT")
      longest = max(longest, Clock.monotonic.now - begin)
    }
    return [
      name, Spelling.number(Double(Clock.monotonic.now - start) / 1e9),
      Spelling.number(Double(longest) / 1e6),
    ]
  }
}
