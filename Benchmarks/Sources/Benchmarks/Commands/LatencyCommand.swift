import ArgumentParser

struct LatencyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "latency",
    abstract: "Measure how long single queries and writes take, up to the slowest.",
    discussion: """
      Mixed: some threads, of whose requests nine in ten are queries (q1, q2, q5) and one is a write. Writes: one thread \
      replaces single documents. A write is durable when it returns. The last row is the disk alone: 4 KiB written and \
      synced.
      """)

  @Option(help: "How many documents.")
  var documents = 100_000
  @Option(help: "How many threads send mixed requests.")
  var threads = 4
  @Option(help: "How long each part lasts, instead of 30 s of mixed requests and 60 s of writes.")
  var seconds: Double?
  @OptionGroup var options: MeasuringOptions

  /// Enough for no document to be replaced by what it is, within the longest part.
  private static let updates = 250_000

  func validate() throws {
    guard documents >= 10_000, threads > 0, (seconds ?? 1) > 0 else {
      throw ValidationError("--documents must be at least 10000, --threads 1, --seconds over 0")
    }
  }

  func run() throws {
    try options.report { scratch, machine in
      let workload = Workload(count: documents, maintenanceRounds: 0, updates: Self.updates)
      let file = try scratch.write(workload.documents.text, "docs.jsonl")
      var report = LatencyReport(
        machine: machine, documents: documents, threads: threads, mixedSeconds: seconds ?? 30,
        writesSeconds: seconds ?? 60)
      let mixed = Traffic(threads: threads, writes: 10, seconds: report.mixedSeconds)
      let writing = Traffic(threads: 1, writes: 100, seconds: report.writesSeconds)
      for store in Store.changing {
        let contestant = try store.openEmpty(in: scratch)
        try contestant.fill(workload.documents, file: file)
        let outcome = try mixed.run(contestant, workload)
        let name = store.rawValue
        report.mixed += [
          LatencyReport.Row("\(name), queries", outcome.queries, seconds: mixed.seconds),
          LatencyReport.Row("\(name), writes", outcome.writes, seconds: mixed.seconds),
        ]
        let writes = try writing.run(contestant, workload).writes
        report.writes.append(LatencyReport.Row(name, writes, seconds: writing.seconds))
        try contestant.close()
      }
      let probe = try DiskProbe(directory: scratch.path)
      var disk = Latencies()
      let end = Clock.monotonic.now + Int64(writing.seconds * 1e9)
      while Clock.monotonic.now < end { disk.measure { probe.sync() } }
      report.writes.append(LatencyReport.Row("the disk alone", disk, seconds: writing.seconds))
      return report
    }
  }
}
