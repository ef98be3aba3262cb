import ArgumentParser

struct MemoryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "memory",
    abstract: "Measure the most memory that cdtquery holds when it imports a gigabyte and finds a million.")

  @Option(help: "How many bytes of JSON Lines to import.")
  var bytes = 1_000_000_000
  @Option(help: "How many results a find is to have.")
  var results = 1_000_000
  @Option(help: "The release build of cdtquery.")
  var tool = ".build/release/cdtquery"
  @OptionGroup var options: MeasuringOptions

  func validate() throws {
    guard bytes >= 1_000_000, results > 0 else {
      throw ValidationError("--bytes must be at least 1000000, --results 1")
    }
  }

  func run() throws {
    let tool = try Program(tool)
    try options.report { scratch, machine in
      try MemoryReport(machine: machine, bytes: bytes, results: results, tool: tool, scratch: scratch)
    }
  }
}
