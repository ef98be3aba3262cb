import ArgumentParser
import CDTCommandLine
import CDTPlatform
import CDTQueryTesting
import CDTReplication

/// `cdtquery test --at`: golden files against databases at a server.
struct RemoteTestCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "test", abstract: "Run golden-file query tests with databases at a server.",
    discussion: """
      For each *.test file a database with a name that begins with cdtquery_test_ is created at the server, and deleted \
      afterwards. Every case runs without an index and with those of the file's indexes that the server can have.
      """)

  @Argument(help: "A *.test file or a directory of them.") var path = "QueryFixtures"
  @Option(name: .customLong("at"), help: "The URL of the server.") var url: String
  @OptionGroup var server: ServerOptions

  func run() async throws {
    let files = try FixtureFiles(path)
    var (passed, failed) = (0, 0)
    let root = url.hasSuffix("/") ? String(url.dropLast()) : url
    let found = try server.database("\(root)/cdtquery_test")
    for file in files.paths {
      var database = try RemoteDatabase(
        "\(root)/cdtquery_test_\(RandomID.digits().prefix(8))", credentials: found.credentials)
      database.tls = found.tls
      for outcome in try await FixtureDatabase(files.fixture(file), database).run() {
        if outcome.hasPassed { passed += 1 } else { failed += 1 }
        try outcome.report()
      }
    }
    try Output.standard.line("\(passed) passed, \(failed) failed")
    if failed > 0 { throw ExitStatus.findings }
  }
}
