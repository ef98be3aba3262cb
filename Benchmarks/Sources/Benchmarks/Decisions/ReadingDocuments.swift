/// Decision 2: documents that an index names, by a join or looked up one by one.
struct ReadingDocuments {
  private static let documents = 200_000
  /// The number of documents with the same value.
  private static let perValue = 200
  private let index: String
  private let store: String

  init(_ scratch: Scratch) throws {
    (store, index) = ("\(scratch.path)/documents.sqlite", "\(scratch.path)/index.sqlite")
    let file = try ExperimentFile(store)
    try file.execute(
      """
      CREATE TABLE documents (number INTEGER PRIMARY KEY, id TEXT UNIQUE, body TEXT);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(Self.documents))
      INSERT INTO documents SELECT i, 'document-' || i, hex(randomblob(150)) FROM n
      """)
    let entries = try ExperimentFile(index)
    try entries.execute(
      """
      ATTACH '\(store)' AS store;
      CREATE TABLE entries (value, document, PRIMARY KEY (value, document)) WITHOUT ROWID;
      INSERT INTO entries SELECT number * 7919 % \(Self.documents / Self.perValue), number FROM store.documents ORDER BY 1, 2
      """)
  }

  func measure() throws -> MarkdownTable {
    var table = MarkdownTable(
      "Documents named by an index, µs for each",
      columns: ["", "pages in the cache", "pages not in the cache"])
    table.append(
      try row(
        "a join of index and documents",
        """
        SELECT d.number, d.body FROM i.entries e CROSS JOIN documents d ON d.number = e.document WHERE e.value = ?1
        """, lookup: nil))
    table.append(
      try row(
        "a second statement, run for each", "SELECT document FROM i.entries WHERE value = ?1",
        lookup: "SELECT number, body FROM documents WHERE number = ?1"))
    return table
  }

  private func row(_ name: String, _ sql: String, lookup: String?) throws -> [String] {
    let file = try ExperimentFile(store)
    try file.execute("ATTACH '\(index)' AS i")
    let statement = try file.statement(sql)
    let second = try lookup.map(file.statement)
    let values = Array(0..<100)
    // The first pass finds no page in the cache, the last one all of them.
    let first = Self.pass(values, statement, second)
    _ = Self.pass(values, statement, second)
    return [name, Self.pass(values, statement, second), first].map { $0 }
  }

  private static func pass(_ values: [Int], _ statement: ExperimentStatement, _ lookup: ExperimentStatement?)
    -> String
  {
    var bytes = 0
    let start = Clock.thread.now
    for value in values {
      statement.bind([value])
      while statement.step() {
        guard let lookup else {
          bytes += statement.size(1)
          continue
        }
        lookup.bind([statement.number(0)])
        _ = lookup.step()
        bytes += lookup.size(1)
        lookup.reset()
      }
      statement.reset()
    }
    let taken = Double(Clock.thread.now - start) / 1_000 / Double(values.count * perValue)
    precondition(bytes == values.count * perValue * 300)
    return Spelling.number(taken)
  }
}
