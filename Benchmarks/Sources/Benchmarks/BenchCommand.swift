import ArgumentParser
import FoundationEssentials

@main
struct BenchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "Benchmarks",
    abstract: """
      Measure this package against SQLite by hand: queries and changes, latency, memory, as a program, as a server, and \
      as a replicator.
      """,
    discussion: """
      Answers are checked before they are timed. Nothing is asserted about time. Without a subcommand it compares.

      EXAMPLES
        $ make bench-compare BENCH='--documents 10000 --only q1,q3'
        $ make bench-latency BENCH='--seconds 5'
        $ make bench-page
      """,
    subcommands: [
      CompareCommand.self, LatencyCommand.self, LiveCommand.self, MemoryCommand.self,
      MemorySampleCommand.self,
      ProcessesCommand.self, ServerCommand.self, ReplicationCommand.self, RulesCommand.self,
      VectorsCommand.self,
      DecisionsCommand.self,
      PageCommand.self, DataCommand.self, GateCommand.self, CountedCommand.self,
    ],
    defaultSubcommand: CompareCommand.self)
}

/// The options of every measuring command.
struct MeasuringOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Write the figures as JSON.", valueName: "file"))
  var json: String?
  @Option(help: "Where the stores lie meanwhile; the disk of this directory is measured.")
  var directory = "Benchmarks/data"

  /// Runs `body` in a directory that is gone afterwards, and writes what it found.
  func report<Findings: Measured>(_ body: (Scratch, Machine) throws -> Findings) throws {
    let scratch = try Scratch(directory)
    defer { try? scratch.remove() }
    let machine = try Machine(directory: scratch.path)
    let findings = try body(scratch, machine)
    print("\(machine.summary)\n")
    for table in findings.tables { print("\(table.title)\n\n\(table.text)\n") }
    if let json { try findings.write(to: json) }
  }
}
