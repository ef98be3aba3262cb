import ArgumentParser
import CDTCommandLine
import CDTQuery
import CDTQueryTesting

struct TestCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "test",
    abstract: "Run golden-file query tests.",
    discussion: """
      Runs every case of every *.test file in DIR in memory, without an index and with the file's indexes. All runs must
      return the golden answer. The file format is described in docs/cli.md. The exit code is 1 if a case fails.

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

  func run() throws {
    let files = try FixtureFiles(path)
    var (passed, failed, recorded) = (0, 0, 0)
    for file in files.paths {
      let fixture = try files.fixture(file)
      for outcome in try files.run(fixture) {
        if outcome.hasPassed { passed += 1 } else { failed += 1 }
        try outcome.report()
      }
      if record, try files.record(fixture, file) {
        recorded += 1
        Message.write("cdtquery: recorded \(file)")
      }
    }
    try Output.standard.line(
      "\(passed) passed, \(failed) failed" + (record ? ", \(recorded) files recorded" : ""))
    if failed > 0 || record { throw ExitStatus.findings }
  }
}
