/// `cdtquery` against `sqlite3`, on stores with the same documents.
struct Processes {
  private let tool: Program
  private let sqlite: Program?
  private let workload: Workload
  private let scratch: Scratch
  private let file: String
  private let output: String
  private let store: String
  private let yardstick: String

  init(tool: Program, sqlite: Program?, workload: Workload, scratch: Scratch) throws {
    self.tool = tool
    self.sqlite = sqlite
    self.workload = workload
    self.scratch = scratch
    file = try scratch.write(workload.documents.text, "docs.jsonl")
    output = "\(scratch.path)/output"
    store = "\(scratch.path)/ours/bench"
    yardstick = "\(scratch.path)/yardstick"
  }

  /// `cdtquery import` of a file, against the yardstick's load of the same documents from memory, in this process.
  ///
  /// The last stores stay for what follows.
  func importing(rounds: Int) throws -> ProcessReport.Row {
    var (ours, theirs): ([Timing], [Timing]) = ([], [])
    for _ in 0..<rounds {
      _ = try scratch.directory("ours")
      ours.append(try tool.run(["import", store, file], output: output).timing)
      let other = try Yardstick(directory: scratch.directory("yardstick"))
      theirs.append(try Timing.of { try other.load(workload.documents, file: file) })
      try other.close()
    }
    return ProcessReport.Row(
      name: "import of \(Spelling.count(workload.documents.count)) documents", ours: Figures(ours),
      other: Figures(theirs), otherName: "yardstick's load")
  }

  /// `cdtquery get` of one document, against `sqlite3 FILE 'select …'`.
  func getting(_ count: Int) throws -> ProcessReport.Row {
    var (ours, theirs): ([Timing], [Timing]) = ([], [])
    var random = LCG(seed: 5)
    for _ in 0..<count {
      let id = BenchDocument.id(1 + random.below(workload.documents.count))
      ours.append(try tool.run(["get", store, id], output: output).timing)
      let mine = try Scratch.size(ofFile: output)
      guard let sqlite else { continue }
      theirs.append(
        try sqlite.run([database, "select doc from docs where id = '\(id)'"], output: output).timing)
      // Ours has the revision beside it: `"_rev":"1-…",` is 43 bytes.
      let other = try Scratch.size(ofFile: output)
      guard other > 1, mine == other + Self.revisionBytes else {
        throw BenchError("\(id) has \(mine) bytes in ours, \(other) in the yardstick")
      }
    }
    return ProcessReport.Row(
      name: "get of one document", ours: Figures(ours), other: theirs.isEmpty ? nil : Figures(theirs),
      otherName: "sqlite3")
  }

  /// `cdtquery find` of everything, against `sqlite3 FILE 'select …'`, each written to a file.
  func streaming(rounds: Int) throws -> ProcessReport.Row {
    var (ours, theirs): ([Timing], [Timing]) = ([], [])
    var (mine, other) = (0, 0)
    for _ in 0..<rounds {
      ours.append(try tool.run(["find", store, "{}"], output: output).timing)
      mine = try Scratch.size(ofFile: output)
      guard let sqlite else { continue }
      theirs.append(try sqlite.run([database, "select doc from docs"], output: output).timing)
      other = try Scratch.size(ofFile: output)
      guard mine == other + Self.revisionBytes * workload.documents.count else {
        throw BenchError("ours wrote \(mine) bytes, the yardstick \(other)")
      }
    }
    var row = ProcessReport.Row(
      name: "find of \(Spelling.count(workload.documents.count)) documents", ours: Figures(ours),
      other: theirs.isEmpty ? nil : Figures(theirs), otherName: "sqlite3")
    row.bytes = (mine, other)
    return row
  }

  private static let revisionBytes = #""_rev":"1-0123456789abcdef0123456789abcdef","#.utf8.count

  private var database: String { "\(yardstick)/yardstick.sqlite" }
}
