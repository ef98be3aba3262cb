import ArgumentParser

struct CompareCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compare",
    abstract: "Measure the workload against SQLite by hand, in turn, in one process.",
    discussion: """
      Each query is measured for the first time, every request once, and repeated. Every answer is compared with the \
      yardstick's, document by document, before it is timed. Ratios are ours by the yardstick's: below 1, ours is faster.
      """)

  @Option(parsing: .upToNextOption, help: "How many documents; several numbers are several runs.")
  var documents = [10_000, 100_000, 1_000_000]
  @Option(help: "Operations to measure, as in q1,q3; all of them unless given.")
  var only: String?
  @Option(help: "How many rounds, each with ours first and then the yardstick.")
  var rounds = 5
  @OptionGroup var options: MeasuringOptions

  func validate() throws {
    guard rounds > 0 else { throw ValidationError("--rounds must be at least 1") }
    guard documents.allSatisfy({ $0 >= 10_000 }) else {
      throw ValidationError("--documents must be at least 10000")
    }
    _ = try wanted()
  }

  func run() throws {
    let wanted = try wanted()
    try options.report { scratch, machine in
      var report = ComparisonReport(machine: machine, rounds: rounds)
      for count in documents {
        // Each round has its own replacements: the same ones again would leave the indexes as they are.
        let workload = Workload(
          count: count, maintenanceRounds: max(rounds, Workload.maintenanceRounds),
          updates: rounds * Operation.update.requestsPerRound)
        var duel = try Duel(workload, wanted: wanted, rounds: rounds, scratch: scratch)
        try duel.go()
        report.runs.append(duel.run)
      }
      return report
    }
  }

  private func wanted() throws -> Set<Operation> {
    guard let only else { return Set(Operation.allCases) }
    return Set(
      try only.split(separator: ",").map { name in
        guard let operation = Operation(rawValue: String(name)) else {
          let known = Operation.allCases.map(\.rawValue).joined(separator: ", ")
          throw ValidationError("there is no operation \(name); there are \(known)")
        }
        return operation
      })
  }
}
