import CDTDatastore
import CDTImport
import CDTQuery

/// Decision 27: groups over an index that has every field, against SQLite's GROUP BY of the same documents.
struct GroupingDocuments {
  private static let count = 100_000
  private static let rounds = 9
  private let scratch: Scratch

  private struct Question {
    let name: String
    let query: GroupQuery
    /// The columns in SQL, with fields as `{name}`.
    let columns: String
  }

  init(_ scratch: Scratch) {
    self.scratch = scratch
  }

  private static func questions() throws -> [Question] {
    [
      Question(
        name: "count by name", query: try GroupQuery(by: ["name"], [.count()]), columns: "{name}, count(*)"),
      Question(
        name: "sum of integers by name", query: try GroupQuery(by: ["name"], [.sum("age", as: "sum")]),
        columns: "{name}, sum({age})"),
      Question(
        name: "sum of doubles by species",
        query: try GroupQuery(by: ["pet.species"], [.sum("score", as: "sum")]),
        columns: "{pet.species}, sum({score})"),
      Question(
        name: "all of doubles by species",
        query: try GroupQuery(
          by: ["pet.species"],
          [
            .count(), .sum("score", as: "sum"), .average("score", as: "mean"), .minimum("score", as: "least"),
            .maximum("score", as: "most"),
          ]), columns: "{pet.species}, count(*), sum({score}), avg({score}), min({score}), max({score})"),
    ]
  }

  func measure() throws -> MarkdownTable {
    let path = "\(scratch.path)/documents.jsonl"
    try DataFiles.writeDocuments(Self.count, to: path)
    let manager = try DatastoreManager(directory: "\(scratch.path)/ours")
    defer { try? manager.closeDatastore(named: "bench") }
    let ours = try manager.datastore(named: "bench")
    _ = try DocumentImporter(into: ours).run([path])
    try ours.ensureIndexed(["name", "age"])
    try ours.ensureIndexed(["pet.species", "score"])
    try scratch.empty("\(scratch.path)/theirs")
    try fillYardstick()
    let theirs = try ExperimentFile("\(scratch.path)/theirs/yardstick.sqlite")
    var table = MarkdownTable(
      "Groups of 100,000 documents over an index that has the fields, ms",
      columns: ["", "ours", "SQLite, of expressions", "ratio", "SQLite, of columns", "ratio"])
    for question in try Self.questions() {
      let statements = [
        try theirs.statement("SELECT \(Self.expressions(question.columns)) FROM docs GROUP BY 1"),
        try theirs.statement("SELECT \(Self.names(question.columns)) FROM fields GROUP BY 1"),
      ]
      var times: [[Double]] = [[], [], []]
      for _ in 0..<Self.rounds {
        times[0].append(try Self.milliseconds { try ours.read { try $0.group(question.query) }.count })
        for (number, statement) in statements.enumerated() {
          times[number + 1].append(Self.milliseconds { Self.rows(statement) })
        }
      }
      let medians = times.map { $0.sorted()[Self.rounds / 2] }
      table.append(
        [question.name, Spelling.number(medians[0])]
          + medians.dropFirst().flatMap { [Spelling.number($0), Spelling.number(medians[0] / $0)] })
    }
    return table
  }

  private func fillYardstick() throws {
    var (documents, random) = (JSONLines(), LCG(seed: 1_000_003 * UInt64(Self.count) + 7))
    let vocabulary = Vocabulary()
    for number in 1...Self.count {
      documents.append(BenchDocument(number: number, vocabulary, from: &random))
    }
    let yardstick = try Yardstick(directory: "\(scratch.path)/theirs", mapsFile: false)
    try yardstick.load(documents, file: "")
    try yardstick.execute(
      """
      CREATE INDEX docs_name_age ON docs (\(Self.expressions("{name}, {age}")));
      CREATE INDEX docs_species_score ON docs (\(Self.expressions("{pet.species}, {score}")));
      CREATE TABLE fields ("name", "age", "pet.species", "score");
      INSERT INTO fields SELECT \(Self.expressions("{name}, {age}, {pet.species}, {score}")) FROM docs;
      CREATE INDEX fields_name_age ON fields ("name", "age");
      CREATE INDEX fields_species_score ON fields ("pet.species", "score");
      ANALYZE
      """)
    try yardstick.close()
  }

  /// Columns `{name}` as expressions of a document's text.
  private static func expressions(_ columns: String) -> String {
    columns.replacing("{", with: "json_extract(doc, '$.").replacing("}", with: "')")
  }

  /// The names as columns of a table.
  private static func names(_ columns: String) -> String {
    columns.replacing("{", with: "\"").replacing("}", with: "\"")
  }

  private static func milliseconds(_ body: () throws -> Int) rethrows -> Double {
    let start = Clock.thread.now
    let rows = try body()
    precondition(rows > 0)
    return Double(Clock.thread.now - start) / 1e6
  }

  private static func rows(_ statement: ExperimentStatement) -> Int {
    var rows = 0
    while statement.step() { rows += 1 }
    statement.reset()
    return rows
  }
}
