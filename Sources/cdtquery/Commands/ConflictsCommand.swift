import ArgumentParser
import CDTDatastore
import CDTQuery
import JSON

struct ConflictsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "conflicts",
    abstract: "Print which documents are conflicted, or the revisions of one that conflict.",
    discussion: """
      Without an ID each line is a conflicted document, with the revision that wins and the others. With one each line \
      is one of its revisions, the winner first; nothing is printed when it has no conflict.

      EXAMPLE, in a store to which a replicator has brought the same task twice
        $ cdtquery conflicts team/tasks
        {"_id":"milk","_rev":"2-bbb","_conflicts":["2-aaa"]}
        $ cdtquery conflicts team/tasks milk
        {"_id":"milk","_rev":"2-bbb","litres":2}
        {"_id":"milk","_rev":"2-aaa","litres":1,"organic":true}
      """)

  @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
  @Argument(help: "The id of a document.") var id: String?

  func run() throws {
    let datastore = try store.open()
    if let id {
      let leaves = try Self.leaves(of: id, in: datastore)
      for leaf in leaves where leaves.count > 1 { try Output.standard.line(leaf.json.text) }
      return
    }
    for id in try datastore.conflictedDocumentIDs() {
      let revisions = try Self.leaves(of: id, in: datastore).compactMap(\.revision?.description)
      // Someone may have resolved it meanwhile.
      guard revisions.count > 1 else { continue }
      let json: JSONObject = [
        "_id": .string(id), "_rev": .string(revisions[0]),
        "_conflicts": .array(revisions.dropFirst().map { .string($0) }),
      ]
      try Output.standard.line(json.text)
    }
  }

  /// The leaves of a document that are not deleted, the winner first: of these it is the greatest.
  private static func leaves(of id: String, in datastore: Datastore) throws -> [DocumentRevision] {
    try datastore.liveRevisions(ofDocument: id).sorted { left, right in
      guard let left = left.revision, let right = right.revision else { return false }
      return left > right
    }
  }
}
