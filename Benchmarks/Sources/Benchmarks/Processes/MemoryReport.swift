/// The most memory that some commands held.
struct MemoryReport: Measured {
  let machine: Machine
  let documents: Int
  let bytes: Int
  private(set) var rows: [Row] = []

  struct Row: Codable {
    let name: String
    let peakBytes: Int
    let processorNanoseconds: Int
    let wallNanoseconds: Int
  }

  /// Imports a file and asks for it in several ways.
  init(machine: Machine, bytes: Int, results: Int, tool: Program, scratch: Scratch) throws {
    let file = "\(scratch.path)/docs.jsonl"
    self.machine = machine
    documents = try DataFiles.writeDocuments(of: bytes, to: file)
    self.bytes = try Scratch.size(ofFile: file)
    let store = "\(scratch.path)/ours/bench"
    let output = "\(scratch.path)/output"
    let limit = ["--limit", String(results)]
    let commands = [
      ("import", ["import", store, file]),
      ("find, by scan", ["find", store, #"{"score": {"$gte": 0}}"#] + limit),
      ("find of ids", ["find", store, "{}", "--ids"] + limit),
      ("find, sorted by no index", ["find", store, "{}", "--sort", "age"] + limit),
      ("index create", ["index", "create", store, "age"]),
      ("find, by index", ["find", store, #"{"age": {"$gte": 0}}"#] + limit),
    ]
    for (name, arguments) in commands {
      let cost = try tool.run(arguments, output: output)
      rows.append(
        Row(
          name: name, peakBytes: cost.peakBytes, processorNanoseconds: Int(cost.timing.processor),
          wallNanoseconds: Int(cost.timing.wall)))
    }
  }

  var tables: [MarkdownTable] {
    var table = MarkdownTable(
      "\(Spelling.count(documents)) documents, \(Spelling.size(bytes))",
      columns: ["", "peak memory", "cpu", "wall"])
    for row in rows {
      table.append([
        row.name, Spelling.size(row.peakBytes), Spelling.time(row.processorNanoseconds),
        Spelling.time(row.wallNanoseconds),
      ])
    }
    return [table]
  }
}
