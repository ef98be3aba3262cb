import CDTDatastore
import CDTImport
import CDTJSON
import CDTQuery

/// A store as the database of a command.
///
/// Each call is answered by the store that has the name at that time.
struct StoreDatabase: Database {
  let store: StoreArgument

  func check() throws {
    _ = try store.open()
  }

  func document(withID id: String, revisionID: RevisionID?) throws -> DocumentRevision {
    let datastore = try store.open()
    guard let revisionID else { return try datastore.document(withID: id) }
    return try datastore.read { try $0.document(withID: id, revisionID: revisionID) }
  }

  // MARK: Queries

  func results(for query: Query) throws -> any QueryResults {
    try store.open().results(for: query)
  }

  func count(_ query: Query) throws -> Int {
    try store.open().read { try $0.count(query) }
  }

  func groups(_ query: GroupQuery) throws -> [JSONObject] {
    try store.open().read { try $0.group(query) }
  }

  func explain(_ query: GroupQuery) throws -> (text: String, json: JSONObject) {
    let explanation = try store.open().read { try $0.explain(query) }
    return (explanation.description, explanation.json)
  }

  func explain(_ query: Query) throws -> (text: String, json: JSONObject) {
    let explanation = try store.open().read { try $0.explain(query) }
    return (explanation.description, explanation.json)
  }

  func write(_ hints: inout QueryHints, about query: Query, foundNothing: Bool) {
    hints.write(about: query, foundNothing: foundNothing) { query, body in
      try store.open().results(for: query).forEachJSON(body)
    }
  }

  // MARK: Changes

  /// Later changes are left out, so that the command ends.
  func forEachChange(since: String?, limit: Int?, _ body: @escaping (ChangedDocument) throws -> Void) throws {
    try store.checkIsStore()
    let datastore = try store.open()
    let end = try datastore.read { try $0.lastSequence() }
    var (last, left) = (Self.sequence(since), limit ?? .max)
    repeat {
      let changes = try datastore.changes(since: last, limit: min(left, 1_000))
      if changes.documents.isEmpty { break }
      for change in changes.documents { try body(ChangedDocument(change)) }
      last = changes.lastSequence
      left -= changes.documents.count
    } while last < end && left > 0
  }

  func liveChanges(since: String?) throws -> any AsyncSequence<[ChangedDocument], any Error> {
    try store.checkIsStore()
    return try store.open().liveChanges(since: Self.sequence(since)).map {
      $0.documents.map(ChangedDocument.init)
    }
  }

  /// The command has checked that it is a number.
  private static func sequence(_ text: String?) -> Int64 { text.flatMap { Int64($0) } ?? 0 }

  // MARK: Import and export

  func export(
    withAttachments: Bool, onLoss: (IntegrityFinding) throws -> Void,
    _ body: @escaping (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    try withoutActuallyEscaping(onLoss) { onLoss in
      try store.open().results(for: .everything).forEachJSON(
        inliningAttachments: withAttachments, onLoss: onLoss, body)
    }
  }

  func importDocuments(_ options: ImportOptions) throws {
    let progress = options.progress
    let reader = try options.reader(progress)
    defer { progress.clear() }
    try store.withCreated { datastore in
      try progress.finish(DocumentImporter(into: datastore).run(reader))
    }
  }

  // MARK: Indexes

  func createIndex(_ json: JSONObject, _ progress: ProgressOptions) throws -> String {
    let datastore = try store.open()
    let definition = try IndexDefinition(json: json)
    let name = try progress.showing {
      try datastore.ensure(definition, isNamed: json["name"] != nil, stop: nil, $0)
    }
    for note in try Self.notes(on: definition, named: name, in: datastore) {
      Message.write("cdtquery: \(note)")
    }
    return name
  }

  /// Notes on an index that was created: about documents that do not fit it.
  static func notes(on definition: IndexDefinition, named name: String, in store: Datastore) throws
    -> [String]
  {
    let violations = definition.options.isUnique ? try store.uniqueViolations(ofIndex: name).count : 0
    let shared =
      "\(violations) \(violations == 1 ? "key is" : "keys are") shared by several documents; "
      + "\"cdtquery conflicts --unique\" lists them"
    var notes = violations > 0 ? [shared] : []
    if let length = definition.options.vectorLength, let field = definition.fields.first?.path,
      try store.listIndexes().contains(where: { $0.definition.name == name && $0.entries == 0 }),
      try !store.find([field: ["$type": "array"]], limit: 1).isEmpty
    {
      notes.append("no array in \"\(field)\" is a vector of \(length) numbers")
    }
    return try notes + store.documentsThatNeverExpire(byIndex: name).map(\.description)
  }

  func indexes() throws -> [JSONObject] {
    try store.open().listIndexes().map(\.json)
  }

  func deleteIndex(named name: String) throws {
    try store.open().deleteIndex(named: name)
  }
}

extension ResultSet: QueryResults {
  func forEachJSON(_ body: @escaping (UnsafeRawBufferPointer) throws -> Void) throws {
    try forEachJSON(inliningAttachments: false, body)
  }

  var includedJSON: JSONObject { get throws { try included().json() } }
}

extension ChangedDocument {
  init(_ change: Change) {
    self.init(
      sequence: .int(change.sequence), id: change.id, revisionID: change.revisionID,
      isDeleted: change.isDeleted)
  }
}
