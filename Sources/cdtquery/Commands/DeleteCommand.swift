import ArgumentParser
import CDTDatastore
import CDTQuery

struct DeleteCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Delete a document, and print its tombstones.",
    discussion: """
      Without --rev or --all-leaves, deletes the document's current revision.

      EXAMPLE
        $ cdtquery delete people/contacts zoe
        {"_id":"zoe","_rev":"2-f58a356b9eb60990966350d5ac1b915c","_deleted":true}
      """)

  @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
  @Argument(help: "The document's id.") var id: String
  @Option(name: .customLong("rev"), help: "The revision to delete.") var revision: String?
  @Flag(help: "Delete every leaf, including conflicts.") var allLeaves = false

  func validate() throws {
    guard revision == nil || !allLeaves else {
      throw ValidationError("--rev and --all-leaves can't be combined; give one of them")
    }
  }

  func run() throws {
    let datastore = try store.open()
    let wanted = try revision.map(RevisionArgument.read)
    let tombstones = try datastore.write { transaction in
      if allLeaves { return try transaction.deleteDocument(withID: id) }
      let document =
        try wanted.map { try transaction.document(withID: id, revisionID: $0) }
        ?? transaction.document(withID: id)
      return [try transaction.deleteDocument(from: document)]
    }
    for tombstone in tombstones { try Output.standard.line(tombstone.json.text) }
  }
}
