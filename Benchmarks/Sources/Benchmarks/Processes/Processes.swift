/// `cdtquery` and `sqlite3` on the same documents, each command a process of its own.
struct Processes {
  private let tool: Program
  private let sqlite: Program?
  private let documents: Int
  private let rounds: Int
  private let scratch: Scratch
  private let file: String
  private let output: String

  init(tool: Program, sqlite: Program?, documents: Int, rounds: Int, scratch: Scratch) throws {
    self.tool = tool
    self.sqlite = sqlite
    self.documents = documents
    self.rounds = rounds
    self.scratch = scratch
    file = "\(scratch.path)/docs.jsonl"
    output = "\(scratch.path)/output"
    try DataFiles.writeDocuments(documents, to: file)
  }

  private var store: String { "\(Store.ours.directory(in: scratch.path))/bench" }
  private var database: String { "\(Store.yardstick.directory(in: scratch.path))/yardstick.sqlite" }

  /// Imports into new stores and indexes them, each round anew; the last stay for what follows.
  func building() throws -> [ProcessReport.Row] {
    var imports = ProcessReport.Row("import")
    var indexes = ProcessReport.Row("index create")
    for _ in 0..<rounds {
      for store in Store.changing { try scratch.empty(store.directory(in: scratch.path)) }
      imports.ours.append(try tool.run(["import", store, file], output: output))
      indexes.ours.append(try tool.run(["index", "create", store, "name", "age"], output: output))
      guard let sqlite else { continue }
      imports.other.append(
        try sqlite.run(
          [
            database,
            """
            PRAGMA journal_mode = WAL;
            CREATE TABLE docs (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, doc TEXT NOT NULL);
            CREATE TEMP TABLE lines (line TEXT);
            """,
            ".mode ascii", #".separator "\t" "\n""#, ".import --schema temp \(file) lines",
            "INSERT INTO docs (id, doc) SELECT json_extract(line, '$._id'), line FROM temp.lines",
          ], output: output))
      indexes.other.append(
        try sqlite.run(
          [
            database,
            "CREATE INDEX docs_name_age ON docs (json_extract(doc, '$.name'), json_extract(doc, '$.age'))",
          ], output: output))
    }
    return [imports, indexes]
  }

  /// Gets single documents.
  func getting(_ count: Int) throws -> ProcessReport.Row {
    var random = LCG(seed: 5)
    return try reading("get of one document", rounds: count, results: 1) {
      let id = BenchDocument.id(1 + random.below(documents))
      return (["get", store, id], "SELECT doc FROM docs WHERE id = '\(id)'")
    }
  }

  /// Finds every document.
  func finding() throws -> ProcessReport.Row {
    try reading("find of every document", rounds: rounds, results: documents) {
      (["find", store, "{}"], "SELECT doc FROM docs")
    }
  }

  /// Reads so many documents, written to a file.
  private func reading(
    _ name: String, rounds: Int, results: Int, _ request: () -> (arguments: [String], sql: String)
  ) throws -> ProcessReport.Row {
    var row = ProcessReport.Row(name)
    for _ in 0..<rounds {
      let (arguments, sql) = request()
      row.ours.append(try tool.run(arguments, output: output))
      let mine = try Scratch.size(ofFile: output)
      guard let sqlite else { continue }
      row.other.append(try sqlite.run([database, sql], output: output))
      let other = try Scratch.size(ofFile: output)
      guard other > 1, mine == other + Self.revisionBytes * results else {
        throw BenchError("\(name): ours wrote \(mine) bytes, sqlite3 \(other)")
      }
    }
    return row
  }

  private static let revisionBytes = #""_rev":"1-0123456789abcdef0123456789abcdef","#.utf8.count
}
