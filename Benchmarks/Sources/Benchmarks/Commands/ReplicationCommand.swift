import ArgumentParser
import CDTJSON
import FoundationEssentials

struct ReplicationCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replication",
    abstract: "Measure cdtquery replicate, with our server and with a CouchDB.",
    discussion: """
      With COUCHDB in the environment, such as http://admin:password@127.0.0.1:5984, a CouchDB is replicated with, too, and \
      its own replicator copies the same databases. Its databases cdt_bench_documents, cdt_bench_files and cdt_bench_live are deleted.
      """)

  @Option(help: "How many documents without attachments.")
  var documents = 100_000
  @Option(help: "How many documents with an attachment.")
  var files = 1_000
  @Option(help: "The bytes of each attachment.")
  var fileSize = 1_000_000
  @Option(parsing: .upToNextOption, help: "The added round-trip times, in milliseconds.")
  var latency = [0, 50]
  @Option(help: "How many writes a continuous replication carries.")
  var writes = 100
  @Option(help: "The release build of cdtquery.")
  var server = ".build/release/cdtquery"
  @Option(
    help:
      "A bundle of PouchDB, pouchdb.min.js, which replicates with our server in Chromium, with the first added round-trip time."
  )
  var pouchdb: String?
  @Option(help: "A Python that has Selenium.")
  var python = ".build/clients/bin/python"
  @Option(help: "What drives PouchDB.")
  var script = "Benchmarks/Scripts/pouchdb.py"
  @OptionGroup var options: MeasuringOptions

  func validate() throws {
    guard documents > 0, files > 0, fileSize > 0, writes > 0, latency.allSatisfy({ $0 >= 0 }) else {
      throw ValidationError(
        "--documents, --files, --file-size and --writes must be at least 1, --latency not negative")
    }
  }

  func run() throws {
    let program = try Program(server)
    let other = try ServerAddress.couchDB()
    let browser = try pouchdb.map { try PouchDB(bundle: $0, python: python, script: script) }
    try options.report { scratch, machine in
      var report = ReplicationReport(
        machine: machine, documents: documents, files: files, fileSize: fileSize)
      report.couchdb = try other?.version()
      var bound = try AttachmentBound(scratch, files: files, size: fileSize)
      let replications = try Replications(
        program, scratch: scratch, documents: documents, files: files, fileSize: fileSize)
      for milliseconds in latency {
        report.lines += try ServerProcess.run(program, directory: "\(scratch.path)/server") { server in
          try replications.run(
            with: server.address, isCouchDB: false, latency: milliseconds, bound: &bound,
            pouchdb: milliseconds == latency.first ? browser : nil)
        }
        if let other {
          report.lines += try replications.run(
            with: other, isCouchDB: true, latency: milliseconds, bound: &bound)
        }
      }
      (report.bound, report.hashedBound) = (bound.median, bound.medianWithDigests)
      func measureDelay(_ ends: ReplicationReport.Ends, _ server: ServerAddress) throws {
        report.delays.append(.init(ends: ends, times: try replications.delays(to: server, writes: writes)))
      }
      try ServerProcess.run(program, directory: "\(scratch.path)/server") { server in
        try measureDelay(.push, server.address)
      }
      if let other { try measureDelay(.pushToCouchDB, other) }
      return report
    }
  }
}
