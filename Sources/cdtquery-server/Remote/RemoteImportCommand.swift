import ArgumentParser
import CDTCommandLine
import CDTDatastore
import CDTRemote
import CDTReplication

/// `cdtquery import` into a database at a server.
struct RemoteImportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Import documents into a database, which is created if it does not exist.",
    discussion: """
      Files are read as by an import into a store. Each batch is sent with _bulk_docs, which is not a transaction: if the \
      server refuses a document, the others of its batch may be written.
      """)

  @Argument(help: "The URL of the database.") var url: String
  @OptionGroup var options: ImportOptions
  @OptionGroup var server: ServerOptions
  @Option(name: .customLong("from-touchdb"), help: .hidden) var touchDB: String?

  func validate() throws {
    guard touchDB == nil else {
      throw ValidationError(
        "--from-touchdb is for stores; import into a store, then copy it to the server with cdtquery replicate"
      )
    }
  }

  func run() async throws {
    let progress = options.progress
    let reader = try options.reader(progress)
    let database = try server.datastore(url, reading: options.inputs.first { $0 == "-" })
    try await database.createDatabaseIfMissing()
    var importer = RemoteImporter(into: database)
    importer.onConflict = options.onConflict ?? .fail
    importer.ignoresRevisions = options.force
    importer.onProgress = { progress.show($0) }
    defer { progress.clear() }
    try progress.finish(try await importer.run(reader))
  }
}
