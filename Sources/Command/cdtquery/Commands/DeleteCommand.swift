import ArgumentParser
import CDTDatastore
import CDTQuery

struct DeleteCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Delete documents by id, and print their tombstones, or those that match a selector.",
    discussion: """
      Without --rev or --all-leaves, deletes the current revision of each document. If an id has no document, an error is printed to \
      standard error, the others are deleted, and the exit code is 66. With --matching, deletes that of each match, all in \
      one transaction.

      EXAMPLE
        $ cdtquery delete people/contacts zoe
        {"_id":"zoe","_rev":"2-f58a356b9eb60990966350d5ac1b915c","_deleted":true}
        $ cdtquery delete people/contacts --matching '{"_id": "mike"}' --dry-run
        1 would be deleted
      """)

  @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
  @OptionGroup var key: KeyOptions
  @OptionGroup var user: UserOptions
  @Argument(help: SharedArgument.ids.option) var ids: [String] = []
  @Option(name: .customLong("rev"), help: "The revision to delete, of one document.") var revision: String?
  @Flag(help: "Delete every leaf, including conflicts.") var allLeaves = false
  @Option(help: SharedArgument.matching.option) var matching: String?
  @OptionGroup var change: BulkChange

  func validate() throws {
    try refuse([
      "give a document's id, or --matching with a selector": ids.isEmpty == (matching == nil),
      "--matching can't be combined with --rev or --all-leaves; it deletes current revisions":
        matching != nil && (revision != nil || allLeaves),
      "--yes and --dry-run are for --matching; documents are deleted by their ids without asking":
        !ids.isEmpty && (change.yes || change.dryRun),
      "--rev needs exactly one id; give one": revision != nil && ids.count != 1,
      "--rev and --all-leaves can't be combined; give one of them": revision != nil && allLeaves,
    ])
  }

  func run() throws {
    guard ids.isEmpty else { return try deleteDocuments() }
    let query = try Query(SelectorArgument.selector(matching ?? ""))
    try change.run("delete", query, in: store) { try $0.delete(matching: query) }
  }

  private func deleteDocuments() throws {
    let datastore = try store.open()
    var isComplete = true
    for id in ids {
      do {
        try delete(id, in: datastore)
      } catch let error as DatastoreError where error.code == .notFound {
        try Output.standard.flush()
        Message.write(
          "cdtquery: \(error)" + SelectorArgument.hint(aboutID: id, "give it with --matching"))
        isComplete = false
      }
    }
    if !isComplete { throw ExitStatus.missing }
  }

  private func delete(_ id: String, in datastore: Datastore) throws {
    let wanted = try revision.map(RevisionArgument.read)
    let tombstones = try datastore.write { transaction in
      if allLeaves { return try transaction.deleteDocument(withID: id) }
      let document =
        try wanted.map { try transaction.document(withID: id, revisionID: $0) }
        ?? transaction.document(withID: id)
      return [try transaction.deleteDocument(from: document)]
    }
    for tombstone in tombstones { try Output.standard.json(tombstone.json) }
  }
}
