import ArgumentParser
import CDTCommandLine
import CDTDatastore
import CDTQuery

/// `cdtquery export` of a database at a server.
struct RemoteExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Print every document of a database as JSON Lines, by id.",
    discussion: "Attachments are not exported; replicate copies them.")

  @Argument(help: "The URL of the database.") var url: String
  @OptionGroup var server: ServerOptions

  func run() async throws {
    try await server.datastore(url).forEach(Query([:], sort: ["_id"])) {
      try Output.standard.line($0.json.text)
    }
  }
}
