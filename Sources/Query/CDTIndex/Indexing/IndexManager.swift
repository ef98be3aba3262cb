import CDTDatastore
import CDTJSON
import CDTPlatform
import Synchronization

/// The file with a datastore's indexes, and its writer.
///
/// The file is in the datastore's extension directory and is deleted with it. Definitions are also stored as JSON
/// beside it, so that a lost, damaged or outdated file can be rebuilt from the documents (``IndexRecovery``).
package final class IndexManager: Sendable {
  /// The path of the index file.
  package let path: String
  let recovery: IndexRecovery
  let directory: String
  /// Whether the store, and therefore its indexes, can only be read.
  let isReadOnly: Bool
  private let store: WeakReference<Datastore>
  /// Repairs and builds the indexes in the background.
  let worker: IndexWorker
  /// The rules by which documents expire, which are those of the indexes.
  let expiry: ExpirySchedule
  /// Updates the indexes with each write, once there are any: the lock is taken by the thread that holds the datastore's writer, and when
  /// the datastore closes.
  private let writer = Mutex(Writer())

  private struct Writer: @unchecked Sendable {
    // Sendable without a lock: it is inside the Mutex above.
    var current: IndexTransaction?

    /// Closes the file, rolling back its transaction; the next write opens it again.
    ///
    /// This follows every error: when SQLite rolls back a transaction itself while FTS5 is adding a document, for lack of
    /// memory, FTS5 can keep a wrong number of documents and save it with the next write of the connection.
    mutating func end() {
      current?.close()
      current = nil
    }
  }

  /// The last file that was found at ``path``: looking at it costs less than looking for it.
  private let found = Mutex<PlacedFile?>(nil)

  init(of store: Datastore, directory: String, _ worker: IndexWorker, _ expiry: ExpirySchedule) {
    self.store = WeakReference(store)
    (self.directory, self.worker, self.expiry) = (directory, worker, expiry)
    isReadOnly = store.access.isReadOnly
    path = "\(directory)/\(IndexFile.name)"
    recovery = IndexRecovery(path: path, directory: directory, keys: store.keys, store.suspension)
    // What had not expired at the time of a backup is part of its state.
    if let time = store.stateTime { expiry.setClock { time } }
    expiry.follow((try? recovery.definitions) ?? [])
  }

  /// The identity of the index file for a read, which soon notices that a directory was moved away; `nil` if there is none, or the
  /// system can't tell.
  var identity: FileIdentity? {
    let known = found.withLock { $0 }
    if let known, (try? known.isInPlace()) == true { return known.identity }
    let file = PlacedFile(path)
    found.withLock { $0 = file }
    return file?.identity
  }

  func openStore() throws -> Datastore {
    guard let store = store.value else { throw QueryError.datastoreClosed }
    return store
  }

  func close() {
    writer.withLock { $0.end() }
    found.withLock { $0 = nil }
  }

  /// Schedules the replacement of a file that a query found damaged.
  package func replaceDamagedFile() {
    recovery.noteDamage()
    worker.wake()
  }

  /// Closes the file of the writer, unless a write is using it.
  func closeIdleFile() {
    _ = writer.withLockIfAvailable { writer in
      if writer.current?.isPrepared != true { writer.end() }
    }
  }

  // MARK: Writes

  /// Updates the indexes with a write that is about to be committed.
  ///
  /// - Returns: Whether the indexes lack documents of earlier writes, or this one.
  /// - Throws: ``UniqueViolation``, also if the indexes can't be used; `DatastoreError` if the documents can't be read.
  func prepare(_ write: PendingWrite) throws -> Bool {
    try writer.withLock { writer in
      do {
        if let current = try self.current(&writer) {
          let isBehind = try current.prepare(write)
          try current.checkKeys(write)
          return isBehind
        }
        guard try recovery.hasDefinitions else { return false }
      } catch let violation as UniqueViolation {
        throw violation
      } catch {
        // The documents are saved even if this fails; the indexes are then behind and updated later.
        writer.end()
        if IndexRecovery.isDamage(error) { recovery.noteDamage() }
        // SQLite ends a transaction if it has to write changed pages to read others, and can't.
        guard write.connection.isInTransaction else { throw error }
      }
      try checkKeysWithoutIndexes(write)
      return true
    }
  }

  /// Compares the keys of a write with every document, while there is no index file that can be used.
  private func checkKeysWithoutIndexes(_ write: PendingWrite) throws {
    if write.isReplicated { return }
    // If the definitions are lost too, so are the unique indexes.
    let unique = ((try? recovery.definitions) ?? []).filter(\.options.isUnique)
    guard !unique.isEmpty else { return }
    try openStore().readWithoutExtensions { transaction in
      let check = UniqueCheck(write: write, before: try transaction.connection(), schema: "main", index: nil)
      for entry in IndexCatalog(unfilled: unique).entries { try check.run(entry) }
    }
  }

  /// Commits the indexes after the documents.
  ///
  /// - Returns: Whether the indexes have to be measured or caught up, and the first time at which a document expires: the write may have
  ///   brought one that has expired.
  func commit() -> (isFillDue: Bool, nextExpiry: Double?) {
    writer.withLock { writer in
      do {
        guard let current = writer.current, current.isPrepared else { return (false, nil) }
        // Before the commit, as another thread may then change the indexes.
        expiry.follow(current.expiring.map(\.definition))
        try current.commit()
        let next = try expiry.hasRules ? current.nextExpiry(after: -.infinity) : nil
        return (current.isMeasuringDue, next)
      } catch {
        writer.end()
        return (true, nil)
      }
    }
  }

  func rollBack() {
    writer.withLock { $0.current?.rollBack() }
  }

  /// The transactions of the current file; `nil` if there is none.
  private func current(_ writer: inout Writer) throws -> IndexTransaction? {
    let identity = FileIdentity(path)
    if let current = writer.current, current.file.identity == identity { return current }
    writer.end()
    guard identity != nil, !recovery.isDamaged(identity) else { return nil }
    writer.current = try IndexTransaction(path: path, of: openStore())
    return writer.current
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

  /// Runs `body` with the file while no other thread or process creates, deletes or replaces indexes. Not reentrant.
  func changing<R>(_ body: (IndexConnection) throws -> R) throws -> R {
    try withFile { file, store in
      try recovery.changingDefinitions {
        let lock = try store.stayInPlace()
        defer { _ = lock }
        try recovery.check(file)
        return try body(file)
      }
    }
  }

  /// Stores the definitions, and follows their rules.
  func save(_ definitions: [IndexDefinition]) throws {
    try recovery.save(definitions)
    expiry.follow(definitions)
  }

  /// Creates an index unless it exists, without building it.
  package func declare(_ definition: IndexDefinition, isNamed: Bool) throws -> String {
    try definition.checkUsable()
    return try changing { file in
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

  package func delete(named name: String) throws {
    // If the file turns out to be damaged, it is replaced by one without the index.
    var isUndefined = false
    try changing { file in
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

  /// Empties every index that SQLite can keep, or the named one, without building it.
  func empty(named name: String?) throws {
    try withFile { file, _ in
      let catalog = try file.catalog()
      let entries =
        try name.map { [try catalog.entry(wanted: $0, at: "name")] }
        ?? catalog.entries.filter(\.definition.isUsable)
      for entry in entries {
        try entry.definition.checkUsable()
        try file.empty(entry)
      }
    }
  }

  /// Throws if the directory can't be read: otherwise the datastore would seem to have no indexes.
  func checkAccess() throws {
    // If the store can only be read, the directory is not created.
    if isReadOnly, try !recovery.mayBeNeeded { return }
    do {
      try Files.checkReadable(directory)
    } catch {
      throw DatastoreError(error, "read", directory)
    }
  }

  /// Runs `body` with the file, which is neither created nor replaced.
  func reading<R>(_ body: (IndexConnection) throws -> R) throws -> R {
    let file = try IndexConnection(path: path, of: openStore())
    defer { file.close() }
    return try body(file)
  }
}
