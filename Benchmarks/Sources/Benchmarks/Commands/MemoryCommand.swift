import ArgumentParser
import FoundationEssentials

struct MemoryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "memory",
    abstract: "Measure the memory of a store at rest, after its first query, and with many threads.",
    discussion: """
      Each store is measured in a process of its own, with q1 as the first query and then q1 to q8 in turn. What counts is \
      anonymous memory: files that are mapped do not.
      """)

  @Option(help: "How many documents.")
  var documents = 1_000_000
  @Option(help: "How many threads ask at once.")
  var threads = 12
  @Option(help: "How long they ask.")
  var seconds = 15.0
  @OptionGroup var options: MeasuringOptions

  func validate() throws {
    guard documents >= 10_000, threads > 0, seconds > 0 else {
      throw ValidationError("--documents must be at least 10000, --threads 1, --seconds over 0")
    }
  }

  func run() throws {
    let program = try Program("/proc/self/exe")
    try options.report { scratch, machine in
      try fill(scratch)
      func sample(_ store: Store) throws -> MemorySample {
        let output = "\(scratch.path)/sample.json"
        let numbers = ["--documents", "\(documents)", "--threads", "\(threads)", "--seconds", "\(seconds)"]
        _ = try program.run(["memory-sample", store.rawValue, scratch.path] + numbers, output: output)
        return try JSONDecoder().decode(MemorySample.self, from: Data(contentsOf: URL(filePath: output)))
      }
      return MemoryReport(
        machine: machine, documents: documents, threads: threads, seconds: seconds,
        ours: try sample(.ours), yardstick: try sample(.yardstick), unmapped: try sample(.unmapped))
    }
  }

  private func fill(_ scratch: Scratch) throws {
    let workload = Workload(count: documents, maintenanceRounds: 0)
    let file = try scratch.write(workload.documents.text, "docs.jsonl")
    for store in Store.changing {
      let contestant = try store.openEmpty(in: scratch)
      try contestant.fill(workload.documents, file: file)
      try contestant.close()
    }
  }
}

/// The command that `memory` runs for each store, in a process of its own.
struct MemorySampleCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "memory-sample", shouldDisplay: false)

  @Argument var store: String
  @Argument var directory: String
  @Option var documents: Int
  @Option var threads: Int
  @Option var seconds: Double

  func run() throws {
    guard let store = Store(rawValue: store) else { throw ValidationError("there is no store \(store)") }
    let sample = try MemorySample(
      store, in: directory, Workload.parameters(count: documents), threads: threads, seconds: seconds)
    print(String(decoding: try JSONEncoder().encode(sample), as: UTF8.self))
  }
}
