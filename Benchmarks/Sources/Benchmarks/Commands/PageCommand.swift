import ArgumentParser
import FoundationEssentials

struct PageCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "page",
    abstract: "Write the tables and the plot of earlier results into docs, and measure nothing.",
    discussion: """
      A table stands between a line `<!-- RESULT.json, NUMBER -->`, which names a file beside the others and which of \
      its tables it is, from 1, and a line `<!-- end -->`. NUMBER 0 is the machine. The plot is of 100,000 documents.
      """)

  @Option(help: "The pages.")
  var pages = ["docs/performance.md", "Benchmarks/README.md"]
  @Option(help: "Where the results are.")
  var results = "Benchmarks/Results"
  @Option(help: "The plot, an SVG file.")
  var plot = "docs/images/performance.svg"

  func run() throws {
    for page in pages { try Page(path: page, results: results).write() }
    let comparison = try ComparisonReport(from: "\(results)/now.json")
    guard let run = comparison.shown else {
      throw BenchError("\(results)/now.json has no run of 100,000 documents")
    }
    try Plot(run).svg.write(toFile: plot, atomically: true, encoding: .utf8)
  }
}
