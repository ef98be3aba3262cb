import ArgumentParser
import CDTCommandLine
import CDTDatastore
import CDTQuery

/// `cdtquery export` of a database at a server.
struct RemoteExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Print every document of a database as JSON Lines, by id.",
    discussion: """
      With --attachments, each document includes its attachments as CouchDB's _attachments, with base64 content. \
      The import command reads this format.
      """)

  @Argument(help: "The URL of the database.") var url: String
  @OptionGroup var server: ServerOptions

  @Flag(help: "Print the documents' attachments too.") var attachments = false

  func run() async throws {
    let database = try server.datastore(url)
    if attachments {
      return try await database.forEachWithAttachments { try Output.standard.line($0.text) }
    }
    try await database.forEach(Query([:], sort: ["_id"])) {
      try Output.standard.line($0.json.text)
    }
  }
}
