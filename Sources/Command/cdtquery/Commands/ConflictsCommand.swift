import ArgumentParser
import CDTDatastore
import CDTJSON
import CDTQuery

struct ConflictsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "conflicts",
    abstract: "Print the documents that have conflicts, or the conflicting revisions of one document.",
    discussion: """
      Without an ID each line is a conflicted document with its winning and its conflicting revisions. With an ID each line \
      is one of its leaf revisions, the winner first; if it has no conflict, nothing is printed.

      EXAMPLE, in a store with two replicated revisions of the same task
        $ cdtquery conflicts team/tasks
        {"_id":"milk","_rev":"2-bbb","_conflicts":["2-aaa"]}
        $ cdtquery conflicts team/tasks milk
        {"_id":"milk","_rev":"2-bbb","litres":2}
        {"_id":"milk","_rev":"2-aaa","litres":1,"organic":true}

      With --unique each line is a key of a unique index that several documents have.

      EXAMPLE
        $ cdtquery index create people/contacts city --unique
        unique_city
        $ cdtquery conflicts people/contacts --unique
      """)

  @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
  @OptionGroup var key: KeyOptions
  @OptionGroup var user: UserOptions
  @Argument(help: SharedArgument.id.option) var id: String?
  @Flag(help: "List the keys of unique indexes that several documents have.") var unique = false

  func validate() throws {
    if unique, id != nil { throw ValidationError("--unique lists every key; leave out the id") }
  }

  func run() throws {
    let datastore = try store.open()
    if unique {
      for violation in try datastore.uniqueViolations() { try Output.standard.line(violation.json.text) }
      return
    }
    if let id {
      let leaves = try datastore.read { try Self.leaves(of: id, in: $0) }
      for leaf in leaves where leaves.count > 1 { try Output.standard.line(leaf.json.text) }
      return
    }
    for id in try datastore.read({ try $0.conflictedDocumentIDs() }) {
      guard let row = try datastore.read({ try Self.row(of: id, in: $0) }) else { continue }
      try Output.standard.line(row.text)
    }
  }

  /// A document with its conflicts; `nil` if another process has resolved them.
  static func row(of id: String, in transaction: ReadTransaction) throws -> JSONObject? {
    let revisions = try leaves(of: id, in: transaction).map(\.revisionID.description)
    guard revisions.count > 1 else { return nil }
    return [
      "_id": .string(id), "_rev": .string(revisions[0]),
      "_conflicts": .array(revisions.dropFirst().map { .string($0) }),
    ]
  }

  /// The leaves of a document that are not deleted, newest first; the winner has the highest id.
  static func leaves(of id: String, in transaction: ReadTransaction) throws -> [DocumentRevision] {
    try transaction.currentRevisions(ofDocument: id).sorted { $0.revisionID > $1.revisionID }
  }
}

extension UniqueViolation {
  fileprivate var json: JSONObject {
    [
      "index": .string(index), "key": .array(key), "documents": .array(documentIDs.map { .string($0) }),
    ]
  }
}
