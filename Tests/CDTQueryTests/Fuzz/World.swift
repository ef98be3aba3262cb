import CDTDatastore
import CDTJSON

@testable import CDTIndex
@testable import CDTQuery
@testable import CDTSelector

/// The two datastores of a history, one with its indexes and one without, and the documents they should hold.
final class World {
  private let manager: DatastoreManager
  private let directory: String
  private(set) var indexed: Datastore
  /// Holds the same documents; its only index is one of words, without which a text search has no meaning.
  private(set) var plain: Datastore
  private(set) var definitions: [IndexDefinition] = []
  private(set) var held: [[UInt8]: DocumentRevision] = [:]
  let expiry = WorldExpiry()

  /// The living documents by their ids.
  var documents: [DocumentRevision] {
    held.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value).filter { !expiry.hasExpired($0) }
  }

  /// The index of the search of a query.
  func textIndex(for query: Query) throws -> IndexDefinition? {
    try IndexCatalog(unfilled: definitions).textIndex(for: query.selector.clause, named: query.useIndex)?
      .definition
  }

  /// Whether the text index does not have every document.
  var lacksWords: Bool {
    get throws {
      let last = try indexed.read { try $0.lastSequence() }
      return try indexed.listIndexes().contains { $0.type == .text && $0.indexedSequence < last }
    }
  }

  /// - Parameter form: A number, such as the history's seed, that says how the datastores are stored.
  init(directory: String, form: UInt64 = 0) throws {
    // Half of the histories run on encrypted datastores, and a quarter with caches that transactions are larger than.
    var options = DatastoreOptions(encryption: form % 2 == 0 ? nil : .key([UInt8](repeating: 7, count: 32)))
    if form % 4 == 1 { options.memoryBudget = 512 * 1_024 }
    options.durability = .normal
    self.directory = directory
    manager = try DatastoreManager(directory: directory, options: options)
    indexed = try manager.datastore(named: "indexed")
    plain = try manager.datastore(named: "plain")
  }

  deinit {
    try? manager.closeDatastore(named: "indexed")
    try? manager.closeDatastore(named: "plain")
  }

  /// Does a step that is no query.
  func apply(_ step: Step) throws {
    switch step.name {
    case .put, .delete, .rival, .miss: try write(step)
    case .index, .begin: try makeIndex(step)
    case .advance: if try advance(by: step.argument.intValue ?? 1) { try deleteExpired() }
    case .expire: try makeExpiring(step)
    case .clock: expiry.now = step.argument.doubleValue ?? 0
    case .drop: try drop(step.argument.intValue ?? 0)
    case .update:
      try indexed.updateIndexes()
      try deleteExpired()
    case .rewind: try indexed.indexManager().empty(named: nil)
    case .rebuild:
      try indexed.rebuildIndexes()
      try deleteExpired()
    case .compact: try indexed.compact()
    // At first, a datastore has the system's clock.
    case .reopen where expiry.hasRules: break
    case .reopen:
      try manager.closeDatastore(named: "indexed")
      indexed = try manager.datastore(named: "indexed")
    case .find: break
    }
  }

  // MARK: Documents

  private func write(_ step: Step) throws {
    guard let id = step.argument.stringValue ?? step.argument["_id"]?.stringValue else { return }
    let change = Step(step.writes, step.argument)
    try ignoringRefusal {
      if step.name == .miss {
        try writeMissingIndexes(of: indexed) { try Self.write(change, id: id, in: $0) }
      } else {
        try indexed.write { try Self.write(change, id: id, in: $0) }
      }
    }
    try ignoringRefusal { try plain.write { try Self.write(change, id: id, in: $0) } }
    try expiry.atBeginning { try refresh(id) }
    try checkSummaries()
  }

  /// Takes a document from the datastore with the indexes, or all.
  private func refresh(_ id: String) throws {
    let document = try ignoringRefusal { try indexed.document(withID: id) }
    held[Array(id.utf8)] = document?.isDeleted == false ? document : nil
  }

  func refresh() throws {
    for document in held.values { try refresh(document.id) }
  }

  private static func write(_ step: Step, id: String, in transaction: WriteTransaction) throws {
    let known = try? transaction.document(withID: id)
    var body = step.argument.objectValue ?? [:]
    let revision = body["_rev"]?.stringValue.flatMap { RevisionID($0) }
    body["_id"] = nil
    body["_rev"] = nil
    switch step.name {
    case .put:
      guard var known, !known.isDeleted else {
        try transaction.createDocument(from: DocumentDraft(id: id, body: body))
        return
      }
      known.body = body
      try transaction.updateDocument(from: known)
    case .rival:
      guard let revision else { return }
      try transaction.forceInsert(DocumentRevision(id: id, revisionID: revision, body: body))
    default:
      guard let known, !known.isDeleted else { return }
      try transaction.deleteDocument(from: known)
    }
  }

  /// A shrunk step may ask for what is refused; it does nothing then.
  @discardableResult
  func ignoringRefusal<R>(_ body: () throws -> R) throws -> R? {
    do {
      return try body()
    } catch let error as DatastoreError
      where [.invalidID, .invalidBody, .reservedKey, .notFound].contains(error.code)
    {
      return nil
    } catch let error as DatastoreError where error.code == .conflict && expiry.hasRules {
      // Without the leaves that have expired, there is another one.
      return nil
    } catch is QueryError {
      return nil
    }
  }

  // MARK: Indexes

  private func makeIndex(_ step: Step) throws {
    try ignoringRefusal {
      let definition = try IndexDefinition(json: step.argument.objectValue ?? [:])
      if step.name == .begin {
        try begin(definition)
      } else {
        _ = try indexed.ensure(definition, isNamed: false, stop: nil) { _ in }
      }
      if definition.type == .text {
        try plain.ensureIndexed(definition.fields.map { SortField($0.path) }, definition.options)
      }
    }
    // One by which documents expire answers no query.
    definitions = try indexed.listIndexes().map(\.definition).filter { $0.options.expireAfter == nil }
  }

  private func drop(_ number: Int) throws {
    guard definitions.indices.contains(number) else { return }
    let definition = definitions.remove(at: number)
    try indexed.deleteIndex(named: definition.name)
    if definition.type == .text { try plain.deleteIndex(named: definition.name) }
  }

  /// Makes an index as `ensureIndexed` does before it fills it.
  private func begin(_ definition: IndexDefinition) throws {
    let isThere = definitions.contains {
      $0.isSame(as: definition) || $0.name.hasSameBytes(as: definition.name)
    }
    if !isThere { _ = try indexed.indexManager().declare(definition, isNamed: true) }
  }

  /// Takes documents into the indexes that are not complete, until so many have been met.
  ///
  /// - Returns: Whether they have all.
  private func advance(by count: Int) throws -> Bool {
    try indexed.queryExtension().maintenance.build(only: nil) { $0.done < max(1, count) }
  }
}

extension Step {
  /// What a step does to a document, whether or not the indexes miss it.
  var writes: Name {
    guard name == .miss else { return name }
    if argument.stringValue != nil { return .delete }
    return argument["_rev"] == nil ? .put : .rival
  }
}
