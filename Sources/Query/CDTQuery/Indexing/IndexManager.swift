package import CDTDatastore
import CDTJSON
import CDTPlatform
import Synchronization

/// A datastore's indexes: the file that holds them, and its writers.
///
/// The file is in the datastore's extension directory and is deleted with it. Definitions are also stored as JSON
/// beside it, so that a lost, damaged or outdated file can be rebuilt from the documents (``IndexRecovery``).
package final class IndexManager: DatastoreExtension {
  package static let extensionName = StoreFiles.indexExtension

  /// The path of the index file.
  package let path: String
  let recovery: IndexRecovery
  private let directory: String
  /// Whether the store, and therefore its indexes, can only be read.
  let isReadOnly: Bool
  private let worksInBackground: Bool
  private let store: WeakReference<Datastore>
  /// Updates the indexes with each write, once there are any.
  private let turn = Mutex(Turn())
  /// Builds indexes in the background.
  let worker = IndexWorker()
  /// The rules by which documents expire.
  let expiry = Expiry()
  /// The results that are kept up to date, once there are any.
  private let kept = Mutex<(any KeptResults)?>(nil)
  /// The number of callers that are building indexes.
  private let callersBuilding = Atomic(0)
  /// Whether the write that is about to be committed changes design documents.
  private let changesDesign = Atomic(false)
  /// Whether the worker should repair, build and measure the indexes.
  private let isFillWanted = Atomic(false)

  private struct Turn: @unchecked Sendable {
    // Sendable without a lock: it is inside the Mutex above.
    var current: IndexTransaction?

    /// Closes the writer, rolling back its transaction; the next write opens another one.
    ///
    /// This follows every error: when SQLite rolls back a transaction itself while FTS5 is adding a document, for lack of
    /// memory, FTS5 can keep a wrong number of documents and save it with the next write of the connection.
    mutating func end() {
      current?.close()
      current = nil
    }
  }

  package init(of store: Datastore, directory: String) {
    self.store = WeakReference(store)
    self.directory = directory
    isReadOnly = store.access.isReadOnly
    worksInBackground = store.worksInBackground
    path = "\(directory)/\(IndexFile.name)"
    recovery = IndexRecovery(path: path, directory: directory, keys: store.keys)
    expiry.follow((try? recovery.definitions) ?? [])
    // Finish the work that an earlier process left, and follow design documents that were written without indexes.
    wakeWorker()
  }

  // MARK: Kept results

  /// The results that are kept up to date, made on first use. They are closed with the datastore.
  func keptResults<K: KeptResults>(_ make: () -> K) -> K {
    kept.withLock { kept in
      if let known = kept as? K { return known }
      let made = make()
      kept = made
      return made
    }
  }

  var keptResults: (any KeptResults)? { kept.withLock { $0 } }

  // MARK: DatastoreExtension

  package func close() {
    keptResults?.close()
    worker.close()
    expiry.close()
    turn.withLock { $0.end() }
  }

  package func willBegin(on reader: StoreReader) throws {
    try IndexReader.of(reader).prepare(self, openStore())
  }

  package func didBegin(_ transaction: ReadTransaction, on reader: StoreReader) throws {
    transaction.extensionStates[IndexSnapshot.self] = try IndexReader.of(reader).begin(
      self, transaction.store)
  }

  /// - Throws: ``UniqueViolation``, also if the indexes can't be used; `DatastoreError` if the documents can't be read.
  package func willCommit(_ write: PendingWrite) throws {
    guard write.lastSequence > write.previousSequence else { return }
    changesDesign.store(write.changesDesignDocuments, ordering: .relaxed)
    let isBehind = try turn.withLock { turn -> Bool in
      do {
        if let current = try self.current(&turn) {
          let isBehind = try current.prepare(write)
          try current.checkKeys(write)
          return isBehind
        }
        guard try recovery.hasDefinitions else { return false }
      } catch let violation as UniqueViolation {
        throw violation
      } catch {
        // The documents are saved even if this fails; the indexes are then behind and updated later.
        turn.end()
        if IndexRecovery.isDamage(error) { recovery.noteDamage() }
      }
      try checkKeysWithoutIndexes(write)
      return true
    }
    if isBehind || worker.hasFailed { wakeWorker() }
  }

  /// Compares the keys of a write with every document, while there is no index file that can be used.
  private func checkKeysWithoutIndexes(_ write: PendingWrite) throws {
    if write.isReplicated { return }
    // If the definitions are lost too, so are the unique indexes.
    let unique = ((try? recovery.definitions) ?? []).filter(\.isUnique)
    guard !unique.isEmpty else { return }
    try openStore().readAutocommit { transaction in
      let check = UniqueCheck(write: write, before: try transaction.connection(), schema: "main", index: nil)
      for entry in IndexCatalog(unfilled: unique).entries { try check.run(entry) }
    }
  }

  package func didCommit() {
    var next: Double?
    let isDue = turn.withLock { turn -> Bool in
      do {
        guard let current = turn.current, current.isPrepared else { return false }
        // Before the commit, as another thread may then change the indexes.
        expiry.follow(current.expiring)
        try current.commit()
        // The write may have brought a document that has expired.
        if expiry.hasRules { next = try current.nextExpiry(after: -.infinity) }
        return current.isMeasuringDue
      } catch {
        turn.end()
        return true
      }
    }
    wakeWorker(at: next)
    if changesDesign.exchange(false, ordering: .relaxed) || isDue { wakeWorker() }
  }

  package func didRollBack() {
    changesDesign.store(false, ordering: .relaxed)
    turn.withLock { $0.current?.rollBack() }
  }

  /// The writer of the current file; `nil` if there is none.
  private func current(_ turn: inout Turn) throws -> IndexTransaction? {
    let identity = FileIdentity(path)
    if let current = turn.current, current.file.identity == identity { return current }
    turn.end()
    guard identity != nil, !recovery.isDamaged(identity) else { return nil }
    turn.current = try IndexTransaction(path: path, of: openStore())
    return turn.current
  }

  // MARK: Background work

  /// Has the file replaced, which a query found damaged.
  func replaceDamagedFile() {
    recovery.noteDamage()
    wakeWorker()
  }

  /// Repairs, builds and measures the indexes in the background, and deletes the documents that have expired.
  ///
  /// - Parameter fills: Whether it does more than delete documents.
  func wakeWorker(fills: Bool = true) {
    if isReadOnly, fills { return }
    if !worksInBackground { return }
    if fills { isFillWanted.store(true, ordering: .releasing) }
    worker.wake { [weak self] isClosing in try self?.work(isClosing) }
  }

  private func work(_ isClosing: @escaping () -> Bool) throws {
    let deletion = Result { try deleteExpired { !isClosing() } }
    guard isFillWanted.exchange(false, ordering: .acquiringAndReleasing) else { return try deletion.get() }
    do {
      _ = try fill(only: nil) { _ in
        !isClosing() && self.callersBuilding.load(ordering: .sequentiallyConsistent) == 0
      }
    } catch {
      isFillWanted.store(true, ordering: .releasing)
      throw error
    }
    // An index may have become complete, and a rule may be new.
    try deleteExpired { !isClosing() }
  }

  // MARK: Changing

  /// Runs `body` with the file, which is created if it is missing and replaced if it is damaged.
  func withFile<R>(_ body: (IndexConnection, Datastore) throws -> R) throws -> R {
    let store = try openStore()
    try store.checkWritable()
    return try recovery.recovering(for: store) {
      let file = try IndexConnection(path: path, of: store)
      defer { file.close() }
      return try body(file, store)
    }
  }

  func openStore() throws -> Datastore {
    guard let store = store.value else { throw QueryError.resultSetClosed }
    return store
  }

  /// Builds the incomplete indexes, or the named one, on the calling thread. Only one build runs at a time across all
  /// processes; a second caller waits and then finds the work done.
  ///
  /// - Parameter goesOn: Called with the progress; returns whether to continue. Completed work is kept.
  /// - Returns: Whether all is done.
  @discardableResult
  func build(only name: String?, _ goesOn: @escaping (IndexProgress) -> Bool = { _ in true }) throws -> Bool {
    let isDone = try withoutWorker { try fill(only: name, goesOn) }
    if isDone && name == nil { try deleteExpired(isAsked: true) { goesOn(IndexProgress(done: 0, total: 0)) } }
    if isDone && name != nil { wakeWorker() }
    return isDone
  }

  /// Keeps the worker from building, because the caller wants to see progress. It later continues what the caller
  /// leaves.
  func withoutWorker<R>(_ body: () throws -> R) rethrows -> R {
    callersBuilding.add(1, ordering: .sequentiallyConsistent)
    defer { callersBuilding.subtract(1, ordering: .sequentiallyConsistent) }
    return try body()
  }

  private func fill(only name: String?, _ goesOn: @escaping (IndexProgress) -> Bool) throws -> Bool {
    if name == nil { try followDesignDocuments() }
    guard try recovery.mayBeNeeded else {
      _ = goesOn(IndexProgress(done: 0, total: 0))
      return true
    }
    return try withFile { file, store in
      try store.checkOpen()
      let lock = try IndexLock.whileBuilding(directory) { goesOn(IndexProgress(done: 0, total: 0)) }
      guard lock != nil else { return false }
      return try IndexBuilder(store, file, goesOn: goesOn).run(only: name)
    }
  }

  package func listIndexes(stop: StopSignal? = nil) throws -> [IndexInfo] {
    try checkAccess()
    try followDesignDocuments()
    guard try recovery.mayBeNeeded else { return [] }
    guard isReadOnly else {
      // The worker may be about to delete those that a design document had before.
      let defined = try Set(recovery.definitions)
      return try withFile { file, _ in try IndexInfo.all(in: file, stop: stop) }
        .filter { $0.definition.designDocument == nil || defined.contains($0.definition) }
    }
    let file = try IndexConnection(path: path, of: openStore())
    defer { file.close() }
    return try IndexInfo.all(in: file, stop: stop)
  }

  /// Stores the definitions, and follows their rules.
  func save(_ definitions: [IndexDefinition]) throws {
    try recovery.save(definitions)
    expiry.follow(definitions)
  }

  /// Creates an index unless it exists, without building it.
  package func declare(_ definition: IndexDefinition, isNamed: Bool) throws -> String {
    try withFile { file, store in
      try recovery.changingDefinitions {
        let lock = try store.stayInPlace()
        defer { _ = lock }
        try recovery.check(file)
        let catalog = try file.catalog()
        if let existing = catalog.entry(named: definition.name) {
          guard existing.definition.isSame(as: definition) else {
            throw QueryError.indexConflict(definition, existing: existing.definition)
          }
          return definition.name
        }
        if !isNamed,
          let same = catalog.entries.first(where: {
            $0.definition.designDocument == nil && $0.definition.isSame(as: definition)
          })
        {
          return same.definition.name
        }
        try file.create(definition)
        try save(file.catalog().entries.map(\.definition))
        return definition.name
      }
    }
  }

  package func delete(named name: String) throws {
    // If the file turns out to be damaged, it is replaced by one without the index.
    var isUndefined = false
    try withFile { file, store in
      try recovery.changingDefinitions {
        let lock = try store.stayInPlace()
        defer { _ = lock }
        try recovery.check(file)
        let catalog = try file.catalog()
        if isUndefined, catalog.entry(named: name) == nil { return }
        let entry = try catalog.entry(wanted: name, at: "name")
        if let designDocument = entry.definition.designDocument {
          throw QueryError.indexOfDesignDocument(name, designDocument)
        }
        let others = catalog.entries.map(\.definition).filter { !$0.name.hasSameBytes(as: name) }
        try save(others)
        isUndefined = true
        try file.delete(entry)
        // A write may have followed the file before.
        expiry.follow(others)
      }
    }
  }

  /// Empties every index, or the named one, without building it.
  func empty(named name: String?) throws {
    try withFile { file, _ in
      let catalog = try file.catalog()
      let entries = try name.map { [try catalog.entry(wanted: $0, at: "name")] } ?? catalog.entries
      for entry in entries { try file.empty(entry) }
    }
  }

  /// Rebuilds every index, or the named one.
  package func rebuild(named name: String?) throws {
    try empty(named: name)
    _ = try build(only: name)
  }

  /// Throws if the directory can't be read: otherwise the datastore would seem to have no indexes.
  private func checkAccess() throws {
    // If the store can only be read, the directory is not created.
    if isReadOnly, try !recovery.mayBeNeeded { return }
    do {
      try Files.checkReadable(directory)
    } catch {
      throw DatastoreError(error, "read", directory)
    }
  }

  // MARK: Checking

  /// The violations of every unique index, or of the named one, after it was brought up to date.
  func uniqueViolations(named name: String?) throws -> [UniqueViolation] {
    let definitions = try allDefinitions()
    if let name, !definitions.contains(where: { $0.name.hasSameBytes(as: name) }) {
      throw QueryError.unknownIndex(name, known: definitions.map(\.name), at: "name")
    }
    let wanted = definitions.filter { $0.isUnique && (name.map($0.name.hasSameBytes) ?? true) }
    guard !wanted.isEmpty else { return [] }
    do {
      if !isReadOnly { try build(only: name) }
      return try listViolations(of: wanted)
    } catch let error where IndexRecovery.isDamage(error) && !isReadOnly {
      recovery.noteDamage()
      try build(only: name)
      return try listViolations(of: wanted)
    }
  }

  private func listViolations(of wanted: [IndexDefinition]) throws -> [UniqueViolation] {
    let file = try IndexConnection(path: path, of: openStore())
    defer { file.close() }
    return try file.connection.transaction(.deferred) {
      let (state, catalog) = (try file.state(), try file.catalog())
      return try wanted.flatMap { definition in
        try catalog.entry(named: definition.name).map { try UniqueListing($0, state, in: file).violations() }
          ?? []
      }
    }
  }

  /// Compares the indexes with the documents.
  func check(_ progress: (_ done: Int, _ total: Int) -> Void) throws -> IndexFileCheck {
    try checkAccess()
    guard try recovery.currentFile() != nil else {
      return try recovery.definitions.isEmpty
        ? IndexFileCheck() : IndexFileCheck(missing: "the index file is missing")
    }
    // An index that is created or deleted is in one of the two files first.
    return try IndexFileCheck(
      path, of: openStore(),
      { begin in
        try recovery.changingDefinitions {
          try begin()
          return try recovery.definitions
        }
      }, progress: progress)
  }

  /// Rebuilds the indexes in which a check found problems.
  func repair(_ check: IndexFileCheck) throws {
    if !check.findings.isEmpty { try openStore().checkWritable() }
    if check.isFileDamaged {
      try recovery.replaceFile(check.file, for: openStore())
      _ = try build(only: nil)
    }
    for name in check.indexes { try rebuild(named: name) }
  }
}
