import ArgumentParser
import CDTQuery
import CDTQueryTesting

struct TestCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "test",
    abstract: "Run golden-file query tests.",
    discussion: """
      Runs every case of every *.test file in DIR in memory, without an index and with the file's indexes. All runs must \
      return the golden answer. The file format is described in docs/cli.md. The exit code is 1 if a case fails.

      With --at, a database whose name begins with cdtquery_test_ is created at the server for each file, and deleted \
      afterwards. Every case runs without an index and with those of the file's indexes that the server can have.

      EXAMPLE
        $ mkdir goldens
        $ printf '== documents\\n{"_id": "mike", "age": 36}\\n' > goldens/age.test
        $ printf '== adults\\n{"age": {"$gte": 18}}\\n----\\nmike\\n' >> goldens/age.test
        $ cdtquery test goldens
        1 passed, 0 failed
      """)

  @Argument(help: "A *.test file or a directory of them.") var path = "QueryFixtures"
  @Flag(help: "Rewrite the files with the actual answers, and fail the run so that you review the change.")
  var record = false
  @Option(name: .customLong("at"), help: "The URL of a server to run the cases at.") var url: String?
  @OptionGroup var server: ServerOptions

  func validate() throws {
    guard url != nil || server.isEmpty else { throw ServerOptions.storeNeedsNone }
    try refuse(["--record is for runs without --at; leave one of them out": url != nil && record])
  }

  func run() throws {
    let files = try FixtureFiles(path)
    let place = try place()
    var totals = Totals()
    for file in files.paths {
      let fixture = try files.fixture(file)
      try totals.add(try place.run(fixture))
      if record { try totals.record(fixture, file, in: files) }
    }
    try totals.report(isRecorded: record)
  }

  private struct Totals {
    private var passed = 0
    private var failed = 0
    private var recorded = 0

    mutating func add(_ outcomes: [FixtureOutcome]) throws {
      for outcome in outcomes {
        if outcome.hasPassed { passed += 1 } else { failed += 1 }
        try outcome.report()
      }
    }

    mutating func record(_ fixture: QueryFixture, _ file: String, in files: FixtureFiles) throws {
      guard try files.record(fixture, file) else { return }
      recorded += 1
      Message.write("cdtquery: recorded \(file)")
    }

    func report(isRecorded: Bool) throws {
      try Output.standard.line(
        "\(passed) passed, \(failed) failed" + (isRecorded ? ", \(recorded) files recorded" : ""))
      if failed > 0 || isRecorded { throw ExitStatus.findings }
    }
  }

  private func place() throws -> any FixturePlace {
    guard let url else { return LocalFixtures() }
    #if Replication
      return try FixtureServer(url, server)
    #else
      throw ToolError.needsFullBuild("test --at")
    #endif
  }
}
