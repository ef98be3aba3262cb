import ArgumentParser
import CDTDatastore
import CDTJSON

struct LogCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log",
    abstract: "Print the revisions of a document, newest first, and what each has changed.",
    discussion: """
      Prints a row for each field in which a revision differs from the one before: its path, its old and its new value. A row has the \
      time, to the minute, at which the revision was written to this store, and the user if it was one of a server. The times of the \
      oldest revisions are not kept. A revision whose content is not stored any more, after a compaction for example, has one row \
      without a path.

      If the document has a conflict, the revisions of the winner come first, and "leaf" marks the conflicting revisions.

      EXAMPLE
        $ cdtquery update people/contacts '{"_id":"mike"}' --set age=37 --yes
        1 updated
        $ cdtquery log people/contacts mike
        {"rev":"2-…","time":"…","change":"changed","path":"age","old":36,…}
        {"rev":"1-…","time":"…","change":"created","path":"age","new":36}
      """)

  @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
  @OptionGroup var key: KeyOptions
  @OptionGroup var user: UserOptions
  @Argument(help: SharedArgument.id.option) var id: String
  @OptionGroup var output: OutputOptions

  func run() throws {
    try store.checkIsStore()
    try store.open().read { transaction in
      guard let leaves = try transaction.tree(ofDocument: id)?.leaves else {
        // Throws, as there is no document.
        return _ = try transaction.document(withID: id)
      }
      let rows = RowResults { body in
        var known = Set<RevisionID>()
        for leaf in leaves {
          let history = try transaction.revisionHistory(
            of: DocumentRevision(id: id, revisionID: leaf.id, body: nil))
          for (number, revision) in history.enumerated() where known.insert(revision.revisionID).inserted {
            var row = try Self.row(of: revision, transaction)
            if leaves.count > 1, number == 0 { row["leaf"] = true }
            try row.rows(Self.changes(revision, since: history.dropFirst(number + 1).first)).forEach(body)
          }
        }
      }
      try ResultWriter(output, ownFields: []).write(rows)
    }
  }

  private static func row(
    of revision: DocumentRevision, _ transaction: ReadTransaction
  ) throws -> JSONObject {
    let arrival = try transaction.arrival(of: revision)
    let isFirst = revision.revisionID.generation == 1
    var row: JSONObject = ["rev": .string(revision.revisionID.description)]
    row["time"] = arrival.flatMap { ISO8601.text(of: $0.time) }
    row["user"] = arrival?.user
    row["change"] = revision.isDeleted ? "deleted" : isFirst ? "created" : "changed"
    return row
  }

  /// The fields that differ from those of the revision before; empty if they are not known.
  private static func changes(
    _ revision: DocumentRevision, since parent: DocumentRevision?
  ) -> [FieldDifference] {
    let isKnown = revision.hasBody && (parent?.hasBody ?? (revision.revisionID.generation == 1))
    return isKnown ? revision.differences(from: parent) : []
  }
}
