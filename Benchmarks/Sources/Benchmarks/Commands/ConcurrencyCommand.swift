import ArgumentParser

struct ConcurrencyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "concurrency",
    abstract: "Measure readers and a writer at full speed, each alone and all at once.",
    discussion: """
      Readers ask q1, the writer replaces single documents, each in a durable transaction. Where there are more threads \
      than cores they take each other's cores, which is no fault of the store: so what counts is how much is done in a \
      second of a processor, and on the wall how much by the cores that were had. What the machine takes of that by itself \
      shows where the writer has another store.
      """)

  @Option(help: "How many documents.")
  var documents = 100_000
  @Option(help: "How many threads that read.")
  var readers = 4
  @Option(help: "How many rounds, each of four parts a store; they differ much.")
  var rounds = 15
  @Option(help: "How long each part lasts, in seconds.")
  var seconds = 1.0
  @Flag(help: "Measure ours only, as for a profile.")
  var oursOnly = false
  @OptionGroup var options: MeasuringOptions

  func validate() throws {
    guard rounds > 0, readers > 0, documents >= 1_000, seconds > 0, seconds <= 3_600 else {
      throw ValidationError(
        "--rounds and --readers must be at least 1, --documents 1000, --seconds over 0 and at most 3600")
    }
  }

  func run() throws {
    // As the library has it wherever it may: threads would wait for each other's counting, the yardstick's as well.
    try options.report(countsMemory: false) { scratch, machine in
      var report = ConcurrencyReport(
        machine: machine, rounds: rounds, documents: documents, readers: readers, seconds: seconds)
      let workload = Workload(count: documents)
      let file = try scratch.write(workload.documents.text, "docs.jsonl")
      let ours = try Crowd<Ours>("ours", scratch, workload, file)
      let yardstick = oursOnly ? nil : try Crowd<Yardstick>("yardstick", scratch, workload, file)
      for round in 0..<rounds {
        report.ours.append(try ours.round(round, readers: readers, seconds: seconds))
        if let yardstick {
          report.yardstick.append(try yardstick.round(round, readers: readers, seconds: seconds))
        }
      }
      try ours.close()
      try yardstick?.close()
      return report
    }
  }
}
