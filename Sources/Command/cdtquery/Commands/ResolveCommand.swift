import ArgumentParser
import CDTDatastore
import CDTJSON
import CDTQuery

struct ResolveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resolve",
    abstract: "Resolve a document's conflict, and print the result.",
    usage: """
      cdtquery resolve <store> <id> --pick <rev>
      cdtquery resolve <store> <id> --merge <body>
      cdtquery resolve <store> [<id>] --merge fields [--as-set <path>] [--by-key <path=member>]
      """,
    discussion: """
      --pick keeps one of the conflicting revisions unchanged. --merge saves a new body, which is JSON, @FILE or - \
      for standard input, as a child of the revision in its _rev, or else of the winner, and keeps that revision's \
      attachments. All other leaf revisions are deleted, in one transaction.

      --merge fields takes each field from the revision that has changed it since their common ancestor; without an ID, in every \
      document that has a conflict. Arrays are compared as a whole, those named by --as-set as sets, and those named by --by-key element by \
      element. A field that was changed to different values stays in conflict: the document is left as it is, the field is printed with \
      its values, and the exit code is 1.

      EXAMPLE, in a store with two replicated revisions of the same task
        $ echo '{"litres": 2, "organic": true}' > milk.json
        $ cdtquery resolve team/tasks milk --merge @milk.json
        {"_id":"milk","_rev":"3-9bdf686cd44863ba0f4e475d87f2d8ec","litres":2,…}
        $ cdtquery conflicts team/tasks
        $ cdtquery resolve team/tasks --merge fields
      """)

  @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
  @OptionGroup var key: KeyOptions
  @OptionGroup var user: UserOptions
  @Argument(help: "The document's id.") var id: String?
  @Option(help: "The revision to keep.") var pick: String?
  @Option(help: "The body of a new revision, or the word fields.") var merge: String?
  @Option(help: "An array that --merge fields merges as a set; steps[].tags is one in those of another.")
  var asSet: [String] = []
  @Option(help: "An array whose elements --merge fields merges by a member, as in steps=id.")
  var byKey: [String] = []

  private var mergesFields: Bool { merge == "fields" }

  func validate() throws {
    try refuse([
      "give --pick or --merge": (pick == nil) == (merge == nil),
      "give the id of a document; only --merge fields takes all that have a conflict": id == nil
        && !mergesFields,
      "--as-set and --by-key are for --merge fields": !mergesFields && !(asSet + byKey).isEmpty,
    ])
  }

  func run() throws {
    let datastore = try store.open()
    if mergesFields { return try mergeFields(in: datastore) }
    guard let id else { return }
    let resolved =
      if let pick {
        try self.pick(try RevisionArgument.read(pick), of: id, in: datastore)
      } else {
        try save(try DocumentArgument(try TextArgument.read(merge ?? "")), as: id, in: datastore)
      }
    guard let resolved else { throw noConflict(id) }
    try Output.standard.json(resolved.json)
  }

  private func noConflict(_ id: String) -> ToolError {
    ToolError(
      .data,
      "document \(JSONValue.string(id).text) has no conflict; list the documents that have one with \"cdtquery conflicts \(store.path)\""
    )
  }

  private func mergeFields(in datastore: Datastore) throws {
    let rules = try FieldMerge.fields(arrays: arrays)
    var (left, failure) = (0, ExitStatus?.none)
    for each in try id.map({ [$0] }) ?? datastore.read({ try $0.conflictedDocumentIDs() }) {
      do {
        let result = try datastore.write { try $0.resolveConflicts(for: each, by: rules) }
        // Another process may have resolved the conflict.
        guard result != nil || id == nil else { throw noConflict(each) }
        guard let result else { continue }
        if result.revision == nil { left += 1 }
        try Output.standard.json(result.revision?.json ?? result.json)
      } catch {
        guard id == nil, let status = ExitStatus(error) else { throw error }
        try Output.standard.flush()
        Message.write("cdtquery: \(JSONValue.string(each).text): \(ErrorText.of(error))")
        failure = failure ?? status
      }
    }
    try Output.standard.flush()
    if left > 0 {
      Message.write(
        "cdtquery: \(left) \(left == 1 ? "document stays" : "documents stay") in conflict; resolve each with --pick, or with --merge and a body"
      )
    }
    if let status = failure ?? (left > 0 ? .findings : nil) { throw status }
  }

  private var arrays: [String: FieldMerge.ArrayRule] {
    get throws {
      var rules: [String: FieldMerge.ArrayRule] = [:]
      for path in asSet { rules[path] = .set }
      for path in byKey + asSet where path.isEmpty || path.hasSuffix("[]") {
        throw ToolError(
          .usage, "\"\(path)\" is not the path of an array; write tags, or steps[].tags for those in another")
      }
      for word in byKey {
        let parts = word.splitBytes(at: "=")
        guard parts.count == 2, !parts.contains("") else {
          throw ToolError(
            .usage, "--by-key \(word): give an array and the member of its elements, as in steps=id")
        }
        guard rules.updateValue(.keyed(by: parts[1]), forKey: parts[0]) == nil else {
          throw ToolError(.usage, "the array \(parts[0]) is named twice; give one rule for it")
        }
      }
      return rules
    }
  }

  private func pick(
    _ revision: RevisionID, of id: String, in datastore: Datastore
  ) throws -> DocumentRevision? {
    try datastore.write {
      try $0.resolveConflicts(for: id) { _, leaves in try leaf(revision, of: id, among: leaves) }
    }
  }

  private func save(
    _ document: DocumentArgument, as id: String, in datastore: Datastore
  ) throws -> DocumentRevision? {
    try document.check(id: id)
    let revision = try document.revision.map(RevisionArgument.read)
    return try datastore.write {
      try $0.resolveConflicts(for: id) { _, leaves in
        let winner = leaves.map(\.revisionID).max()
        guard let parent = revision ?? winner else { return nil }
        var merged = try leaf(parent, of: id, among: leaves)
        merged.body = document.body
        return merged
      }
    }
  }

  private func leaf(
    _ revision: RevisionID, of id: String, among leaves: [DocumentRevision]
  ) throws -> DocumentRevision {
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

extension FieldMergeResult {
  /// A document that stays in conflict, with the fields.
  fileprivate var json: JSONObject {
    var json: JSONObject = ["_id": .string(documentID), "fields": .array(conflicts.map { .object($0.json) })]
    if !hasAncestor { json["ancestor"] = "not stored" }
    return json
  }
}
