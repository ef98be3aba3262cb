import ArgumentParser
import CDTDatastore
import CDTQuery
import JSON

struct ResolveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resolve",
    abstract: "End a document's conflict, and print what it is now.",
    discussion: """
      --pick lets one of the conflicting revisions stay as it is. --merge saves a new body, which is JSON, @FILE or - \
      for standard input; it follows the revision that its _rev names, or else the winner, and keeps that one's \
      attachments. All other revisions are deleted. It happens as a whole or not at all.

      EXAMPLE, in a store to which a replicator has brought the same task twice
        $ echo '{"litres": 2, "organic": true}' > milk.json
        $ cdtquery resolve team/tasks milk --merge @milk.json
        {"_id":"milk","_rev":"3-9bdf686cd44863ba0f4e475d87f2d8ec","litres":2,…}
        $ cdtquery conflicts team/tasks
      """)

  @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
  @Argument(help: "The document's id.") var id: String
  @Option(help: "The revision that stays.") var pick: String?
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
        "document \(JSONValue.string(id).text) has no conflict; \"cdtquery conflicts \(store.path)\" names those that have"
      )
    }
    try Output.standard.line(resolved.json.text)
  }

  private func pick(_ revision: RevisionID, in datastore: Datastore) throws -> DocumentRevision? {
    try datastore.resolveConflicts(for: id) { _, leaves in try leaf(revision, among: leaves) }
  }

  private func save(_ document: DocumentArgument, in datastore: Datastore) throws -> DocumentRevision? {
    try document.check(id: id)
    let revision = try document.revision.map(RevisionArgument.read)
    return try datastore.resolveConflicts(for: id) { _, leaves in
      let winner = leaves.compactMap(\.revision).max()
      guard let parent = revision ?? winner else { return nil }
      var merged = try leaf(parent, among: leaves)
      merged.body = document.body
      return merged
    }
  }

  private func leaf(_ revision: RevisionID, among leaves: [DocumentRevision]) throws -> DocumentRevision {
    guard let leaf = leaves.first(where: { $0.revision == revision }) else {
      let others = leaves.compactMap(\.revision?.description).joined(separator: " and ")
      throw ToolError(
        .data, "\(revision) is none of the revisions of \(JSONValue.string(id).text) that conflict, \(others)"
      )
    }
    return leaf
  }
}
