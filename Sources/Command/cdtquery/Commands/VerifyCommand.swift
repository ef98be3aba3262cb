import ArgumentParser
import CDTBackup
import CDTDatastore
import CDTJSON

struct VerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Compare two stores: the leaves of all documents and what they contain.",
    discussion: """
      Prints a line for each document that differs, and then the numbers. Deleted documents are compared, too; the order of \
      members is not. A database given by its URL is read whole. The exit code is 1 if the stores differ.

      EXAMPLE
        $ cdtquery verify people/contacts people/contacts
        {"documents":2,"differences":0}
      """)

  @Argument(help: "A store, or the URL of a database.") var first: String
  @Argument(help: "The store or the database to compare it with.") var second: String
  @OptionGroup var key: KeyOptions
  @OptionGroup var server: ServerOptions
  @Flag(help: "Show no progress.") var quiet = false

  func run() throws {
    guard server.isEmpty || DatabaseArgument.isURL(first) || DatabaseArgument.isURL(second) else {
      throw ServerOptions.storeNeedsNone
    }
    // What is read from a server goes with its manager.
    let (one, other) = (try open(first), try open(second))
    defer { withExtendedLifetime((one, other)) {} }
    let progress = ProgressBar(noun: "documents", isQuiet: quiet)
    defer { progress.clear() }
    var differences = 0
    let documents = try one.store.compare(with: other.store, progress: { progress.show($0, of: $1) }) {
      difference in
      differences += 1
      progress.clear()
      try Output.standard.line(Self.json(difference).text)
    }
    progress.clear()
    let result: JSONObject = ["documents": .int(Int64(documents)), "differences": .int(Int64(differences))]
    try Output.standard.line(result.text)
    if differences > 0 {
      try Output.standard.flush()
      throw ExitStatus.findings
    }
  }

  private func open(_ text: String) throws -> (store: Datastore, manager: DatastoreManager?) {
    guard !DatabaseArgument.isURL(text) else { return try copy(ofDatabaseAt: text) }
    return (try StoreArgument(orURL: text).open(worksInBackground: false), nil)
  }

  private func copy(ofDatabaseAt url: String) throws -> (store: Datastore, manager: DatastoreManager?) {
    #if Replication
      let database = try server.database(url)
      let manager = try DatastoreManager.temporary(options: KeyOptions.storeOptions())
      let store = try manager.datastore(named: "copy")
      try waiting { try await DatabasePull(from: database, to: store, isQuiet: quiet).run() }
      return (store, manager)
    #else
      throw ToolError.needsFullBuild("the URL of a database")
    #endif
  }

  private static func json(_ difference: StoreDifference) -> JSONObject {
    var json: JSONObject = ["id": .string(difference.documentID)]
    func list(_ revisions: [RevisionID]) -> JSONValue { .array(revisions.map { .string($0.description) }) }
    switch difference.kind {
    case .missing: json["difference"] = "only in the first"
    case .added: json["difference"] = "only in the second"
    case .leaves(let missing, let added):
      json["difference"] = "leaves"
      json["first"] = list(missing)
      json["second"] = list(added)
    case .body(let revision):
      json["difference"] = "body"
      json["rev"] = .string(revision.description)
    case .attachments(let revision):
      json["difference"] = "attachments"
      json["rev"] = .string(revision.description)
    }
    return json
  }
}
