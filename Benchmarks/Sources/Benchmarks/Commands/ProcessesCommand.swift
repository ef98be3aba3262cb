import ArgumentParser

struct ProcessesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "processes",
    abstract: "Measure cdtquery as whole processes, against the program sqlite3.",
    discussion: "Without sqlite3 there is nothing to compare with; this is told, and only ours is measured.")

  @Option(help: "How many documents.")
  var documents = 1_000_000
  @Option(help: "How many rounds of a whole store read or written.")
  var rounds = 3
  @Option(help: "How many documents are fetched, each by a process.")
  var gets = 100
  @Option(help: "The release build of cdtquery.")
  var tool = ".build/small/release/cdtquery"
  @OptionGroup var options: MeasuringOptions

  func validate() throws {
    guard rounds > 0, gets > 0, documents >= 10_000 else {
      throw ValidationError("--rounds and --gets must be at least 1, --documents 10000")
    }
  }

  func run() throws {
    let tool = try Program(tool)
    let sqlite = Program.installed("sqlite3")
    if sqlite == nil { print("sqlite3 is not installed (apt-get install sqlite3): ours is measured alone\n") }
    try options.report { scratch, machine in
      let processes = try Processes(
        tool: tool, sqlite: sqlite, documents: documents, rounds: rounds, scratch: scratch)
      var report = ProcessReport(machine: machine, rounds: rounds, documents: documents, gets: gets)
      report.rows = try processes.building()
      report.rows += [try processes.getting(gets), try processes.finding()]
      return report
    }
  }
}
