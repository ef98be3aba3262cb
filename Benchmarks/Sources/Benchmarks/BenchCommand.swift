import ArgumentParser
import FoundationEssentials

@main
struct BenchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "Benchmarks",
    abstract: "Measure this package against SQLite by hand, in turn, in one process.",
    discussion: """
      Every answer is compared with the yardstick's, document by document, before it is timed. Ratios are ours by the \
      yardstick's: below 1, ours is faster. Nothing is asserted about time.

      EXAMPLES
        $ swift run -c release --package-path Benchmarks Benchmarks --documents 10000 --only q1,q3
        $ swift run -c release --package-path Benchmarks Benchmarks --show Benchmarks/Results/start.json
      """)

  @Option(parsing: .upToNextOption, help: "How many documents; several numbers are several runs.")
  var documents = [10_000, 100_000]
  @Option(help: "Operations to measure, as in q1,q3; all of them unless given.")
  var only: String?
  @Option(help: "How many rounds, each with ours first and then the yardstick.")
  var rounds = 5
  @Option(help: ArgumentHelp("Write the figures as JSON.", valueName: "file"))
  var json: String?
  @Option(help: "Where the stores lie meanwhile; the disk of this directory is measured.")
  var directory = "Benchmarks/data"
  @Option(
    help: ArgumentHelp("Print the tables of an earlier result, and measure nothing.", valueName: "file"))
  var show: String?
  @Option(
    help: ArgumentHelp("Write documents and parameters there, and measure nothing.", valueName: "directory"))
  var data: String?

  func validate() throws {
    guard rounds > 0 else { throw ValidationError("--rounds must be at least 1") }
    guard documents.allSatisfy({ $0 >= 100 }) else {
      throw ValidationError("--documents must be at least 100")
    }
    _ = try wanted()
  }

  func run() throws {
    if let show {
      let report = try JSONDecoder().decode(Report.self, from: Data(contentsOf: URL(filePath: show)))
      for run in report.runs { Self.print(run, report.machine) }
    } else if let data {
      for count in documents { try DataFiles.write(Workload(count: count), to: "\(data)/\(count)") }
    } else {
      try measure()
    }
  }

  private func measure() throws {
    let wanted = try wanted()
    let scratch = try Scratch(directory)
    defer { try? scratch.remove() }
    var report = Report(machine: try Machine(directory: scratch.path), rounds: rounds)
    for count in documents {
      let workload = Workload(count: count, maintenanceRounds: max(rounds, Workload.maintenanceRounds))
      var duel = try Duel(workload, wanted: wanted, rounds: rounds, scratch: scratch)
      try duel.go()
      report.runs.append(duel.run)
      Self.print(duel.run, report.machine)
    }
    if let json {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      try (encoder.encode(report) + Data("\n".utf8)).write(to: URL(filePath: json))
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

  private static func print(_ run: Report.Run, _ machine: Machine) {
    Swift.print("\(run.documents) documents, \(run.bytes) bytes; \(machine.summary)\n\n\(Table(run).text)\n")
  }
}
