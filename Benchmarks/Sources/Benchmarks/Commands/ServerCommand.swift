import ArgumentParser
import CDTJSON
import FoundationEssentials
import Glibc

struct ServerCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "server",
    abstract: "Measure cdtquery serve: requests with wrk, notifications, and the memory of large bodies.",
    discussion: """
      With COUCHDB in the environment, such as http://admin:password@127.0.0.1:5984, a CouchDB gets the same requests, in \
      turn. Its databases cdt_bench and cdt_bench_new are deleted. wrk runs on the same processors as the server.
      """)

  @Option(help: "The documents of the database that requests are for.")
  var documents = 10_000
  @Option(help: "How long each kind of request is sent.")
  var seconds = 10
  @Option(parsing: .upToNextOption, help: "Over how many connections.")
  var connections = [1, 16, 64, 256]
  @Option(parsing: .upToNextOption, help: "Kinds of requests: get, find, put, bulk.")
  var kinds = ServerLoad.Kind.allCases
  @Option(help: "How many listeners wait for a change.")
  var listeners = 1_000
  @Option(help: "The documents of the lists that are streamed; 0 to leave streaming out.")
  var streamed = 1_000_000
  @Option(help: "The bytes of the attachment.")
  var attachment = 1_000_000_000
  @Option(help: "The release build of cdtquery.")
  var server = ".build/release/cdtquery"
  @Option(help: "What wrk sends, in Lua.")
  var script = "Benchmarks/Scripts/requests.lua"
  @OptionGroup var options: MeasuringOptions

  private static let writes = 20

  func validate() throws {
    guard documents >= 10_000, seconds > 0, listeners > 0, streamed >= 0, attachment > 0,
      connections.allSatisfy({ $0 > 0 })
    else {
      throw ValidationError(
        "--documents must be at least 10000, --seconds, --connections, --listeners and --attachment at least 1"
      )
    }
  }

  func run() throws {
    let program = try Program(server)
    let other = try ServerAddress.couchDB()
    try Self.allowManyConnections()
    try options.report { scratch, machine in
      var report = ServerReport(
        machine: machine, documents: documents, seconds: seconds, streamed: streamed, listeners: listeners)
      report.couchdb = try other?.version()
      let wrk = try Wrk(script: script, output: "\(scratch.path)/wrk")
      try ServerProcess.run(program, directory: "\(scratch.path)/server") { server in
        let ours = ServerLoad(
          address: server.address, wrk: wrk, documents: documents, seconds: seconds,
          processorTime: server.processorTime)
        let theirs = other.map {
          ServerLoad(address: $0, wrk: wrk, documents: documents, seconds: seconds, processorTime: nil)
        }
        try ours.prepare()
        try theirs?.prepare()
        report.notifications.ours = try ours.notify(listeners, writes: Self.writes)
        report.notifications.couchdb = try theirs?.notify(listeners, writes: Self.writes)
        for kind in kinds {
          for connections in connections {
            guard let load = try ours.run(kind, connections: connections) else {
              throw BenchError("\(kind.title) with \(connections) connections has failed")
            }
            let other = try theirs?.run(kind, connections: connections)
            report.lines.append(
              ServerReport.Line(kind: kind, connections: connections, ours: load, couchdb: other))
          }
        }
        try theirs?.removeAll()
      }
      if streamed > 0 {
        report.streams = try Streaming(program, scratch: scratch, documents: streamed, attachment: attachment)
          .run()
      }
      return report
    }
  }

  /// Raises the limit of open files for this process and the server, which inherits it.
  private static func allowManyConnections() throws {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = limit.rlim_max
    guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
      throw BenchError("the number of open files can't be raised")
    }
  }
}

extension ServerLoad.Kind: ExpressibleByArgument {}
