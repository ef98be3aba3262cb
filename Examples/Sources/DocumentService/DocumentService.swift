import ArgumentParser
import CDTQuery
import Hummingbird

/// Serves a datastore's documents over HTTP.
@main
struct DocumentService: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "document-service", abstract: "Serve documents over HTTP.")

  @Option(help: "The directory in which the documents are kept.")
  var directory = ".documents"

  @Option(help: "The port to listen at, on this machine only; 0 is any that is free, which the log names.")
  var port = 8080

  func run() async throws {
    let manager = try DatastoreManager(directory: directory)
    let store = try await manager.datastore(named: "documents")
    let application = Application(
      router: DocumentRoutes(store: store).router,
      configuration: .init(address: .hostname("127.0.0.1", port: port)))
    try await application.runService()
  }
}
