import ArgumentParser

struct GrowthCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "growth",
    abstract: "Measure how the cost of the same work grows with the store.",
    discussion: """
      Stores of every size are open at once, and each round asks all of them. What is asked gives as many results in \
      the largest store as in the smallest, so what grows is the finding of them.
      """)

  @Option(parsing: .upToNextOption, help: "How many documents, the smallest store first.")
  var documents = [10_000, 100_000, 1_000_000]
  @Option(help: "How many rounds over all stores.")
  var rounds = 5
  @OptionGroup var options: MeasuringOptions

  func validate() throws {
    guard rounds > 0 else { throw ValidationError("--rounds must be at least 1") }
    guard documents.count > 1, documents == documents.sorted(), documents[0] >= 1_000 else {
      throw ValidationError("--documents must be two sizes or more, the least first and at least 1000")
    }
  }

  func run() throws {
    try options.report { scratch, machine in
      var growth = Growth(rounds: rounds, scratch: scratch)
      for count in documents { try growth.add(count) }
      defer { growth.close() }
      var report = GrowthReport(machine: machine, rounds: rounds, documents: documents)
      for question in GrowthQuestion.allCases { report.rows.append(try growth.ask(question)) }
      report.rows.append(try growth.update())
      report.histories = try growth.lengthenHistory()
      return report
    }
  }
}
