public import CDTDatastore
public import JSON
import SQLite

extension Datastore {
  /// Creates an index, or confirms that it is there.
  ///
  /// ```swift
  /// try store.ensureIndexed(["name", ["age": "desc"]], name: "by_name")
  /// try store.ensureIndexed(["pet.species"])  // "pet.species"
  /// ```
  ///
  /// Every document is in every index, with or without the fields; an array has an entry for each element. An index
  /// changes what a query costs, never its answer. It is filled before the call returns.
  ///
  /// - Parameters:
  ///   - fields: Paths, or objects of one path and its direction, `["age": "desc"]`.
  ///   - name: A name, or `nil` for one made of the fields; without one, an index with the same definition is reused.
  ///   - type: The type of the index; a datastore has one of type `.text`.
  ///   - settings: Of a text index how it cuts words: `["tokenize": "simple"]`, or `porter`, `unicode61`, `trigram`.
  /// - Returns: The index's name.
  /// - Throws: ``QueryError`` for a definition that is refused, or when the name is taken by another definition.
  /// - Complexity: O(*n* log *n*) in the number of documents.
  ///
  /// Source: `docs/query.md`, Indexes.
  @discardableResult
  public func ensureIndexed(
    _ fields: [JSONValue], name: String? = nil, type: IndexType = .json, settings: JSONObject = [:]
  ) throws -> String {
    let definition = try IndexDefinition(fields: fields, name: name, type: type, settings: settings)
    return try mapped { try indexManager().ensure(definition, isNamed: name != nil) }
  }

  /// The indexes there are, by name.
  public func listIndexes() throws -> [IndexInfo] {
    try mapped { try indexManager().listIndexes() }
  }

  /// Deletes an index.
  ///
  /// - Throws: ``QueryError`` with the code `.unknownIndex` when there is none of that name.
  public func deleteIndex(named name: String) throws {
    try mapped { try indexManager().delete(named: name) }
  }

  /// Brings every index up to the newest document. Queries are right without it; it moves its cost to now.
  public func updateAllIndexes() throws {
    _ = try mapped { try indexManager().build(only: nil) }
  }

  /// Empties an index, or all of them, and fills it anew from the documents.
  public func rebuildIndexes(named name: String? = nil) throws {
    try mapped { try indexManager().rebuild(named: name) }
  }

  /// Compares every index with the documents.
  ///
  /// ```swift
  /// for finding in try store.checkIndexes(repair: true) { print(finding) }
  /// ```
  ///
  /// An index must hold exactly the rows that its definition gives for the documents it is up to; a missing or damaged
  /// file is a finding too. Of each index the first ten findings are told, and how many more there are.
  ///
  /// - Parameters:
  ///   - repair: Whether what is found wrong is made anew from the documents.
  ///   - progress: Learns how many documents of how many have been compared.
  /// - Returns: What is not as it should be, or was not until it was repaired; nothing when all is well.
  /// - Throws: ``DatastoreError`` when the documents can't be read, or another process is writing for too long.
  /// - Complexity: O(*n* log *n*) in the number of documents, for each index.
  ///
  /// Source: `docs/cli.md`, Check.
  public func checkIndexes(
    repair: Bool = false, progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) throws -> [IntegrityFinding] {
    try mapped {
      let manager = try indexManager()
      let check = try manager.check(progress)
      if repair { try manager.repair(check) }
      return check.findings
    }
  }

  /// The datastore's index manager, made when it is first asked for.
  package func indexManager() throws -> IndexManager {
    try checkOpen()
    return try extensionObject(IndexManager.self)
  }

  /// Runs `body` with SQLite's errors turned into the datastore's.
  func mapped<R>(_ body: () throws -> R) throws -> R {
    try QueryFailure.mapping(of: self, usesIndex: true) { try body() }
  }
}
