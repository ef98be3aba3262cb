import ArgumentParser
import CSQLiteYardstick
import FoundationEssentials

@main
struct BenchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "Benchmarks",
    abstract:
      "Measure this package: against SQLite by hand, as it grows, with many at once, and as a program.",
    discussion: """
      Answers are checked before they are timed. Nothing is asserted about time. Without a subcommand it compares.

      EXAMPLES
        $ swift run -c release --package-path Benchmarks Benchmarks --documents 10000 --only q1,q3
        $ swift run -c release --package-path Benchmarks Benchmarks growth --documents 10000 100000
        $ swift run -c release --package-path Benchmarks Benchmarks page
      """,
    subcommands: [
      CompareCommand.self, GrowthCommand.self, ConcurrencyCommand.self, ProcessesCommand.self,
      MemoryCommand.self, PageCommand.self, DataCommand.self,
    ],
    defaultSubcommand: CompareCommand.self)
}

/// What every measuring command can be told.
struct MeasuringOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Write the figures as JSON.", valueName: "file"))
  var json: String?
  @Option(help: "Where the stores lie meanwhile; the disk of this directory is measured.")
  var directory = "Benchmarks/data"

  /// Runs `body` in a directory that is gone afterwards, and writes what it found.
  ///
  /// - Parameter countsMemory: Whether SQLite counts its memory, for ours and the yardstick, as it does in a program that
  ///   has not told it otherwise before the library could.
  func report<Findings: Measured>(
    countsMemory: Bool = true, _ body: (Scratch, Machine) throws -> Findings
  ) throws {
    _ = countsMemory ? sqlite3_initialize() : yardstick_spare_memory_statistics()
    let scratch = try Scratch(directory)
    defer { try? scratch.remove() }
    let machine = try Machine(directory: scratch.path)
    let findings = try body(scratch, machine)
    print("\(machine.summary)\n")
    for table in findings.tables { print("\(table.title)\n\n\(table.text)\n") }
    if let json { try findings.write(to: json) }
  }
}
