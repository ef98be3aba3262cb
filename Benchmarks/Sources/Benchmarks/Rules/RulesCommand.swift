import ArgumentParser
import CDTDatastore
import CDTJSON
import CDTQuery

struct RulesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rules",
    abstract: "Measure what rules of writing cost a write, and rules of reading a query.",
    discussion: """
      Processor time of the calling thread. A write is measured beside the same write to a store without rules, in turn; the \
      figure is the median of the differences. A query as a user is measured beside the same query with the condition by hand.
      """)

  @Option(help: "How many documents the store for reading has; 0 leaves reading out.")
  var documents = 1_000_000
  @Option(help: "How many pairs of writes are measured; 0 leaves writing out.")
  var pairs = 200
  @Option(help: "Where the stores lie meanwhile.")
  var directory = "Benchmarks/data"

  func validate() throws {
    guard documents == 0 || documents >= 10_000 else {
      throw ValidationError("--documents must be 0 or at least 10000")
    }
  }

  func run() throws {
    let scratch = try Scratch(directory)
    defer { try? scratch.remove() }
    print("\(try Machine(directory: scratch.path).summary)\n")
    if pairs > 0 { try WritingUnderRules(scratch, pairs: pairs).measure().show() }
    if documents > 0 { try ReadingAsUser(scratch, documents: documents).measure().show() }
  }
}

extension MarkdownTable {
  fileprivate func show() { print("\(title)\n\n\(text)\n") }
}

extension [Double] {
  var median: Double {
    let sorted = sorted()
    return isEmpty ? 0 : (sorted[count / 2] + sorted[(count - 1) / 2]) / 2
  }
}
