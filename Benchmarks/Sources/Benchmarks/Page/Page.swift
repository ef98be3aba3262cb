import FoundationEssentials

/// A page whose tables are made of results.
struct Page {
  private let path: String
  private let results: String

  init(path: String, results: String) {
    self.path = path
    self.results = results
  }

  func write() throws {
    let lines = try String(contentsOfFile: path, encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    var written: [String] = []
    var isOld = false
    for line in lines {
      if let mark = Mark(line) {
        written += [line, "", try text(mark), ""]
        isOld = true
      } else if line == Mark.end {
        isOld = false
      }
      if Mark(line) == nil, !isOld { written.append(line) }
    }
    guard !isOld else { throw BenchError("\(path): a table has no line \(Mark.end)") }
    try written.joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
  }

  private func text(_ mark: Mark) throws -> String {
    let file = "\(results)/\(mark.file)"
    let measured = try Self.read(file)
    if mark.number == 0 { return measured.machine.summary + "." }
    guard measured.tables.indices.contains(mark.number - 1) else {
      throw BenchError("\(file) has no table \(mark.number)")
    }
    let table = measured.tables[mark.number - 1]
    return "\(table.title):\n\n\(table.text)"
  }

  /// A result of any kind: each has members that no other has.
  private static func read(_ file: String) throws -> any Measured {
    let kinds: [any Measured.Type] = [
      ComparisonReport.self, LatencyReport.self, MemoryReport.self, ProcessReport.self, ServerReport.self,
      ReplicationReport.self,
    ]
    for kind in kinds { if let report = try? kind.init(from: file) { return report } }
    throw BenchError("\(file) is no result")
  }

  /// The mark of a table: `<!-- now.json, 1 -->`.
  private struct Mark {
    static let end = "<!-- end -->"

    let file: String
    let number: Int

    init?(_ line: String) {
      let words = line.split(separator: " ")
      guard words.count == 4, words[0] == "<!--", words[3] == "-->", words[1].hasSuffix(".json,"),
        let number = Int(words[2])
      else { return nil }
      file = String(words[1].dropLast())
      self.number = number
    }
  }
}
