import ArgumentParser
import CDTCommandLine
import CDTDatastore
import CDTJSON
import CDTRemote
import CDTReplication

/// `cdtquery get` of a database at a server.
struct RemoteGetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get", abstract: "Print documents of a database by id, one per line.")

  @Argument(help: "The URL of the database.") var url: String
  @Argument(help: "The documents' ids.") var ids: [String]
  @OptionGroup var server: ServerOptions
  @Option(name: .customLong("rev"), help: "The revision to print, of one document.") var revision: String?

  func validate() throws {
    guard revision == nil || ids.count == 1 else {
      throw ValidationError("--rev needs exactly one id; give one")
    }
  }

  func run() async throws {
    let wanted = try revision.map(RevisionArgument.read)
    let database = try server.datastore(url)
    var isComplete = true
    for id in ids {
      do {
        try Output.standard.line(try await database.document(withID: id, revisionID: wanted).json.text)
      } catch let error as DatastoreError where error.code == .notFound {
        try Output.standard.flush()
        Message.write("cdtquery: \(error)")
        isComplete = false
      }
    }
    if !isComplete { throw ExitStatus.missing }
  }
}

/// `cdtquery changes` of a database at a server.
struct RemoteChangesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "changes", abstract: "Print the documents of a database that changed, one per line.")

  @Argument(help: "The URL of the database.") var url: String
  @Option(help: "The sequence after which to start, as the server gave it.") var since: String?
  @Option(help: "The maximum number of changes.") var limit: Int?
  @Flag(help: "Wait for more changes until interrupted or until the output is closed.")
  var follow = false
  @OptionGroup var server: ServerOptions

  func validate() throws {
    guard limit.map({ $0 > 0 }) ?? true else {
      throw ValidationError("--limit must be a whole number, 1 or more")
    }
  }

  func run() async throws {
    let database = try server.datastore(url)
    if !follow { return try await printChanges(of: database) }
    let listening = Task { try await self.follow(database) }
    OutputWatch.whenClosed { listening.cancel() }
    try await listening.value
  }

  private func printChanges(of database: RemoteDatastore) async throws {
    var (last, left) = (since, limit ?? .max)
    while left > 0 {
      let wanted = min(left, 1_000)
      let changes = try await database.changes(since: last, limit: wanted)
      for change in changes.documents { try Self.write(change) }
      if changes.documents.count < wanted { return }
      last = changes.lastSequence
      left -= changes.documents.count
    }
  }

  private func follow(_ database: RemoteDatastore) async throws {
    var left = limit ?? .max
    for try await changes in database.liveChanges(since: since) {
      for change in changes.documents.prefix(left) { try Self.write(change) }
      try Output.standard.flush()
      left -= changes.documents.count
      if left <= 0 { return }
    }
  }

  private static func write(_ change: RemoteChange) throws {
    var json: JSONObject = [
      "sequence": .string(change.sequence), "id": .string(change.id),
      "rev": .string(change.revisionID.description),
    ]
    if change.isDeleted { json["deleted"] = true }
    try Output.standard.line(json.text)
  }
}
