import ArgumentParser
import CDTDatastore
import CDTJSON
import CDTQuery

struct ResolveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resolve",
    abstract: "Resolve a document's conflict, and print the result.",
    discussion: """
      --pick keeps one of the conflicting revisions unchanged. --merge saves a new body, which is JSON, @FILE or - \
      for standard input, as a child of the revision in its _rev, or else of the winner, and keeps that revision's \
      attachments. All other leaf revisions are deleted, in one transaction.

      EXAMPLE, in a store with two replicated revisions of the same task
        $ echo '{"litres": 2, "organic": true}' > milk.json
        $ cdtquery resolve team/tasks milk --merge @milk.json
        {"_id":"milk","_rev":"3-9bdf686cd44863ba0f4e475d87f2d8ec","litres":2,…}
        $ cdtquery conflicts team/tasks
      """)

  @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
  @OptionGroup var key: KeyOptions
  @OptionGroup var user: UserOptions
  @Argument(help: "The document's id.") var id: String
  @Option(help: "The revision to keep.") var pick: String?
  @Option(help: "The body of a new revision.") var merge: String?

  func validate() throws {
    guard (pick == nil) != (merge == nil) else { throw ValidationError("give --pick or --merge") }
  }

  func run() throws {
    let datastore = try store.open()
    let resolved =
      if let pick {
        try self.pick(try RevisionArgument.read(pick), in: datastore)
      } else {
        try save(try DocumentArgument(try TextArgument.read(merge ?? "")), in: datastore)
      }
    guard let resolved else {
      throw ToolError(
        .data,
        "document \(JSONValue.string(id).text) has no conflict; list the documents that have one with \"cdtquery conflicts \(store.path)\""
      )
    }
    try Output.standard.json(resolved.json)
  }

  private func pick(_ revision: RevisionID, in datastore: Datastore) throws -> DocumentRevision? {
    try datastore.write {
      try $0.resolveConflicts(for: id) { _, leaves in try leaf(revision, among: leaves) }
    }
  }

  private func save(_ document: DocumentArgument, in datastore: Datastore) throws -> DocumentRevision? {
    try document.check(id: id)
    let revision = try document.revision.map(RevisionArgument.read)
    return try datastore.write {
      try $0.resolveConflicts(for: id) { _, leaves in
        let winner = leaves.map(\.revisionID).max()
        guard let parent = revision ?? winner else { return nil }
        var merged = try leaf(parent, among: leaves)
        merged.body = document.body
        return merged
      }
    }
  }

  private func leaf(_ revision: RevisionID, among leaves: [DocumentRevision]) throws -> DocumentRevision {
    guard let leaf = leaves.first(where: { $0.revisionID == revision }) else {
      let others = leaves.map(\.revisionID.description).joined(separator: " and ")
      throw ToolError(
        .data,
        "\(revision) is not a conflicting revision of \(JSONValue.string(id).text); give one of \(others)"
      )
    }
    return leaf
  }
}
