import ArgumentParser

struct DataCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "data",
    abstract: "Write the workload's documents and parameters as files, and measure nothing.")

  @Argument(help: "Where to write them, a directory for each number of documents.")
  var directory: String
  @Option(parsing: .upToNextOption, help: "How many documents; several numbers are several workloads.")
  var documents = [10_000, 100_000]

  func run() throws {
    for count in documents { try DataFiles.write(Workload(count: count), to: "\(directory)/\(count)") }
  }
}
