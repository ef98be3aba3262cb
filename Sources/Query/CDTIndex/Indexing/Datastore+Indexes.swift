public import CDTDatastore
package import CDTJSON
import CDTPlatform
import CDTSQLite

extension Datastore {
  /// Creates an index unless it exists, and builds it.
  ///
  /// ```swift
  /// try store.ensureIndexed(["name", .descending("age")], name: "by_name")
  /// try store.ensureIndexed(["email"], .unique)  // "unique_email"
  /// ```
  ///
  /// Every document is in an index without a filter, with or without the fields; an array has an entry for each element. An
  /// index changes the cost of a query, never its results. The build uses short transactions, so other threads and processes
  /// can read and write during it; documents that are not indexed yet are checked by the matcher.
  ///
  /// - Parameters:
  ///   - fields: The fields, most significant first.
  ///   - name: A name, or `nil` to generate one from the fields; without a name, an index with the same definition is
  ///     reused.
  ///   - options: The type of the index, which documents it holds, and whether they are unique or expire.
  ///   - progress: Called with the progress of the build.
  /// - Returns: The index's name.
  /// - Throws: ``QueryError`` for an invalid definition, or if another definition has the name.
  /// - Complexity: O(*n* log *n*) in the number of documents.
  ///
  /// See <doc:QueryingDocuments#Indexes>.
  @discardableResult
  public func ensureIndexed(
    _ fields: [SortField], _ options: IndexOptions = IndexOptions(), name: String? = nil,
    progress: (IndexProgress) -> Void = { _ in }
  ) throws -> String {
    let definition = try IndexDefinition(fields: fields, name: name, options)
    return try ensure(definition, isNamed: name != nil, stop: nil, progress)
  }

  /// Creates an index unless it exists, and builds it on one of the datastore's threads.
  ///
  /// If you cancel the task, the build stops within 1,000 documents; completed work is kept, and the next
  /// `updateIndexes(progress:)` or write continues from there.
  @discardableResult
  public func ensureIndexed(
    _ fields: [SortField], _ options: IndexOptions = IndexOptions(), name: String? = nil,
    progress: @escaping @Sendable (IndexProgress) -> Void = { _ in }
  ) async throws -> String {
    let definition = try IndexDefinition(fields: fields, name: name, options)
    return try await runLong { try self.ensure(definition, isNamed: name != nil, stop: $0, progress) }
  }

  /// Creates an index with a definition unless it exists, and builds it.
  package func ensure(
    _ definition: IndexDefinition, isNamed: Bool, stop: StopSignal?, _ progress: (IndexProgress) -> Void
  ) throws -> String {
    try mapped {
      let indexes = try indexManager()
      return try indexes.worker.withoutFilling {
        let name = try indexes.declare(definition, isNamed: isNamed)
        try build(only: name, stop, progress)
        return name
      }
    }
  }

  /// The datastore's indexes, sorted by name.
  public func listIndexes() throws -> [IndexInfo] {
    let indexes = try mapped { try queryExtension().design.listIndexes(stop: nil) }
    return try readWithoutExtensions { try $0.seesEverything } ? indexes : indexes.map(\.withoutSize)
  }

  /// The datastore's indexes, sorted by name, on one of the threads for queries; it ends when the task is cancelled or its deadline passes.
  package func measureIndexes() async throws -> [IndexInfo] {
    try await runQuery { stop in
      try QueryFailure.publishing {
        try QueryFailure.mapping(of: self, usesIndex: true, QueryStop(signal: stop)) {
          try self.queryExtension().design.listIndexes(stop: stop)
        }
      }
    }
  }

  /// Deletes an index.
  ///
  /// - Throws: ``QueryError`` with the code `.unknownIndex` if the index does not exist. After an error of the disk the
  ///   index may still be listed, and be gone when the file is repaired in the background.
  public func deleteIndex(named name: String) throws {
    try mapped { try indexManager().delete(named: name) }
  }

  /// Brings every index up to date. Queries are correct without it, but the first one is faster after it.
  public func updateIndexes(progress: (IndexProgress) -> Void = { _ in }) throws {
    try mapped { try build(only: nil, nil, progress) }
  }

  /// Brings every index up to date, on one of the datastore's threads. If you cancel the task, completed work is kept.
  public func updateIndexes(progress: @escaping @Sendable (IndexProgress) -> Void = { _ in }) async throws {
    try await runLong { stop in try self.mapped { try self.build(only: nil, stop, progress) } }
  }

  /// Rebuilds one index, or all of them, from the documents.
  ///
  /// - Throws: ``QueryError`` with the code `.unknownIndex` if the index does not exist.
  public func rebuildIndexes(
    named name: String? = nil, progress: (IndexProgress) -> Void = { _ in }
  ) throws {
    try rebuild(name, nil, progress)
  }

  /// Rebuilds one index, or all of them, on one of the datastore's threads. If you cancel the task, completed work is
  /// kept.
  public func rebuildIndexes(
    named name: String? = nil, progress: @escaping @Sendable (IndexProgress) -> Void = { _ in }
  ) async throws {
    try await runLong { try self.rebuild(name, $0, progress) }
  }

  private func rebuild(_ name: String?, _ stop: StopSignal?, _ progress: (IndexProgress) -> Void) throws {
    try mapped {
      try indexManager().empty(named: name)
      try build(only: name, stop, progress)
    }
  }

  private func build(only name: String?, _ stop: StopSignal?, _ progress: (IndexProgress) -> Void) throws {
    try withoutActuallyEscaping(progress) { progress in
      let isDone = try queryExtension().maintenance.build(only: name) {
        progress($0)
        return stop?.isSet != true
      }
      if !isDone { try stop?.check() }
    }
  }

  /// Checks every index against the documents.
  ///
  /// ```swift
  /// for finding in try store.checkIndexes(repair: true) { print(finding) }
  /// ```
  ///
  /// An index must have exactly the rows that its definition yields for the indexed documents; a missing or damaged
  /// file is a finding too. At most ten findings are returned for each index, with the number of further ones.
  ///
  /// - Parameters:
  ///   - repair: Whether to rebuild damaged indexes from the documents.
  ///   - progress: Called with the number of documents checked and the total.
  /// - Returns: The problems found, including repaired ones; empty if there are none.
  /// - Throws: `DatastoreError` if the documents can't be read, or another process writes for too long.
  /// - Complexity: O(*n* log *n*) in the number of documents, for each index.
  ///
  /// See <doc:UsingTheCommandLine#Check>.
  public func checkIndexes(
    repair: Bool = false, progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) throws -> [IntegrityFinding] {
    try mapped {
      let maintenance = try queryExtension().maintenance
      let check = try maintenance.check(progress)
      if repair { try maintenance.repair(check) }
      return check.findings
    }
  }

  /// The documents that have the same key in a unique index.
  ///
  /// ```swift
  /// for violation in try store.uniqueViolations() { print(violation.key, violation.documentIDs) }
  /// ```
  ///
  /// A write of this datastore never adds any. They come with replications, from documents that were there before the index,
  /// and from programs that write without this module. The indexes are first brought up to date.
  ///
  /// - Parameter name: The index, or `nil` for every unique index.
  /// - Returns: The violations in the order of the indexes' names and of the keys. A document with too many keys, which are
  ///   not compared, is one.
  /// - Throws: ``QueryError`` with the code `.unknownIndex` if the index does not exist.
  /// - Complexity: O(*n*) in the number of rows of the indexes.
  ///
  /// See <doc:QueryingDocuments#Unique-indexes>.
  public func uniqueViolations(ofIndex name: String? = nil) throws -> [UniqueViolation] {
    try mapped { try queryExtension().maintenance.uniqueViolations(named: name) }
  }

  /// Creates and builds the indexes that a damaged datastore had, from their definitions in its directory.
  ///
  /// ```swift
  /// let report = try saved.recoverDocuments(from: "/data/people/contacts")
  /// let losses = try saved.recoverIndexes(from: "/data/people/contacts")
  /// ```
  ///
  /// - Parameter directory: The damaged datastore's directory.
  /// - Returns: The losses: a finding for each index that can't be created, or one if no definitions can be read.
  /// - Throws: `DatastoreError` if an index can't be written.
  ///
  /// See <doc:UsingTheCommandLine#Recover>.
  public func recoverIndexes(from directory: String) throws -> [IntegrityFinding] {
    do {
      let file = DefinitionFile(
        path: "\(directory)/extensions/\(QueryExtension.extensionName)/\(DefinitionFile.name)",
        keys: try keys(ofDamagedStoreIn: directory))
      return try createIndexes(file.load())
    } catch let error as DatastoreError {
      return [IntegrityFinding(.index, "the definitions of the indexes are lost: \(error.message)")]
    }
  }

  /// The definitions of the indexes as JSON, for a backup.
  package func indexDefinitionsJSON() throws -> JSONValue {
    try mapped { DefinitionFile.json(try queryExtension().design.definitions()) }
  }

  /// Creates and builds the indexes of a backup.
  ///
  /// - Returns: A finding for each index that could not be created.
  package func createIndexes(ofBackup json: JSONValue) throws -> [IntegrityFinding] {
    try createIndexes(DefinitionFile.definitions(json))
  }

  private func createIndexes(_ definitions: [IndexDefinition]) throws -> [IntegrityFinding] {
    var losses: [IntegrityFinding] = []
    for definition in definitions {
      do {
        try mapped { _ = try ensure(definition, isNamed: true, stop: nil) { _ in } }
      } catch let error as QueryError {
        let name = JSONValue.string(definition.name).text
        losses.append(IntegrityFinding(.index, "the index \(name) can't be created: \(error.message)"))
      }
    }
    return losses
  }

  /// The bytes of the write-ahead logs of the datastore and of its indexes.
  package func logBytes() throws -> Int64 {
    try [databasePath, indexManager().path].reduce(0) { sum, path in
      sum + (try Files.length(of: LogFile.path(of: path)) ?? 0)
    }
  }

  /// Runs `body` and converts SQLite errors to those of the datastore.
  func mapped<R>(_ body: () throws -> R) throws -> R {
    try QueryFailure.publishing { try QueryFailure.mapping(of: self, usesIndex: true) { try body() } }
  }
}
