import ArgumentParser

struct PageCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "page",
    abstract: "Write the tables of earlier results into docs/performance.md, and measure nothing.",
    discussion: """
      A table stands between a line `<!-- RESULT.json, NUMBER -->`, which names a file beside the others and which of \
      its tables it is, from 1, and a line `<!-- end -->`. NUMBER 0 is the machine.
      """)

  @Option(help: "The page.")
  var page = "docs/performance.md"
  @Option(help: "Where the results are.")
  var results = "Benchmarks/Results"

  func run() throws {
    try Page(path: page, results: results).write()
  }
}
