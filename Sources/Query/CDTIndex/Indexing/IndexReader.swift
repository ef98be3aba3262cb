import CDTDatastore
import CDTPlatform
import CDTSQLite

/// A reader's view of the index file: the attached file and the last state read from it.
final class IndexReader {
  let connection: Connection
  /// The reader that owns the connection; `nil` for the writing connection.
  private weak var reader: StoreReader?
  private var attached: FileIdentity?
  /// The access with which the attached file is opened, if the store can only be read.
  private var access: FileAccess?
  private var isForgotten = false
  private var known: Known?
  /// The sequence of the indexes in the last snapshot, if behind the documents, and whether the worker was notified.
  private var gap: (sequence: Int64, wasReported: Bool)?

  /// The state that was read from the index file.
  private struct Known {
    /// The version of the file's content (``Connection/dataVersion(of:)``).
    let version: UInt32?
    let state: IndexState
    let catalog: IndexCatalog
    /// The version of the documents for which the indexes are verified to match them.
    var verified: UInt32?
  }

  init(_ connection: Connection, of reader: StoreReader? = nil) {
    self.connection = connection
    self.reader = reader
  }

  static func of(_ reader: StoreReader) -> IndexReader {
    if let known = reader.extensionStates[IndexReader.self] { return known }
    let made = IndexReader(reader.connection, of: reader)
    reader.extensionStates[IndexReader.self] = made
    return made
  }

  /// Whether the index file is attached.
  var isAttached: Bool { attached != nil && !isForgotten }

  /// Attaches the index file for a transaction that is about to begin. A file that can't be used is repaired in the
  /// background.
  func prepare(_ manager: IndexManager, _ store: Datastore) throws {
    do {
      _ = try attach(manager, store)
    } catch let error where IndexRecovery.isDamage(error) {
      try detach()
      manager.replaceDamagedFile()
    } catch let error as SQLiteError where error.isFull || error.isForbidden {
      // On a full disk there may be no space for the shared memory of the index file.
      try detach()
    }
  }

  /// Whether a new transaction would have the snapshot of the one that goes on.
  func isCurrent(_ snapshot: IndexSnapshot, _ manager: IndexManager) -> Bool {
    let identity = manager.identity
    guard isAttached else {
      // Without an index file, and without definitions of indexes.
      guard case .fixed(let view) = snapshot else { return false }
      return identity == nil && view.catalog.entries.isEmpty
    }
    guard identity == attached, !manager.recovery.isDamaged(identity), reader?.isAttachedCurrent == true
    else {
      return false
    }
    // A new transaction wakes the worker if the indexes are behind.
    guard case .fixed(let view) = snapshot else { return true }
    return view.isReadable && !view.isBehind
  }

  /// Takes a snapshot of the index file in a transaction that has begun. Indexes that can't be used appear empty.
  ///
  /// The index file's snapshot is taken first and the documents' later. As documents are committed first, the indexes
  /// can be behind, but never ahead.
  func begin(_ manager: IndexManager, _ store: Datastore) throws -> IndexSnapshot {
    do {
      if isAttached {
        manager.expiry.follow(try readState().catalog.expiring.map(\.definition))
        return .begun(self)
      }
    } catch let error where IndexRecovery.isDamage(error) {
      connection.rollBack()
      try detach()
      try connection.begin(.deferred)
      manager.replaceDamagedFile()
    } catch let error as SQLiteError where error.isFull || error.isForbidden {
      connection.rollBack()
      try detach()
      try connection.begin(.deferred)
    }
    return .fixed(try Self.unreadable(manager, in: connection, of: store))
  }

  /// The defined indexes, all empty. If the definitions can't be read, queries run without indexes.
  static func unreadable(
    _ manager: IndexManager, in connection: Connection, of store: Datastore
  ) throws -> IndexView {
    let recovery = manager.recovery
    let isDefined = (try? recovery.hasDefinitions) ?? false
    let catalog = isDefined ? try IndexCatalog(unfilled: recovery.definitions) : .empty
    return IndexView(
      catalog: catalog, isReadable: false, indexedSequence: 0,
      lastSequence: try lastSequence(store, on: connection))
  }

  /// Attaches the current index file.
  ///
  /// - Returns: Whether there is one.
  func attach(_ manager: IndexManager, _ store: Datastore) throws -> Bool {
    let identity = manager.identity
    if let identity, identity == attached, !isForgotten, !manager.recovery.isDamaged(identity),
      access?.isCurrent(manager.path) ?? true
    {
      return true
    }
    try detach()
    guard let identity, !manager.recovery.isDamaged(identity) else {
      if (try? manager.recovery.hasDefinitions) ?? false { manager.worker.wake() }
      return false
    }
    let lock = try store.stayInPlace()
    defer { _ = lock }
    // It may have been replaced before it was locked.
    if FileIdentity(manager.path) != identity { return false }
    try IndexFile.checkKind(manager.path)
    if store.access.isReadOnly {
      // Where its log can't be read, the documents answer.
      guard let access = store.access.forReading(manager.path) else { return false }
      self.access = access
    }
    try connection.attach(
      path: manager.path, as: IndexFile.schema, isImmutable: access?.isImmutable ?? false,
      cipher: store.keys?.indexes)
    attached = identity
    do {
      try reader?.setAttachedSchema(IndexFile.schema)
      _ = try IndexState(reading: connection, schema: IndexFile.schema, storeID: store.storeID)
    } catch {
      // It is checked again next time. Inside a transaction, which has read the file, the end of that detaches it.
      if !connection.isInTransaction { try? detach() }
      throw error
    }
    return true
  }

  func detach() throws {
    guard attached != nil else { return }
    (attached, access, known, isForgotten) = (nil, nil, nil, false)
    do {
      try connection.detach(IndexFile.schema)
      try reader?.setAttachedSchema(nil)
    } catch {
      // Without memory; the file may still be attached.
      connection.close()
      throw error
    }
  }

  /// Treats the file as detached if it can't be detached yet.
  func forget() {
    known = nil
    isForgotten = true
  }

  private static let state = IndexState.selection(in: IndexFile.schema)

  /// Reads the state of the index file and its catalog, unless they are known.
  private func readState() throws -> Known {
    let statement = try connection.statement(Self.state)
    defer { statement.reset() }
    let hasState = try statement.step()
    let version = connection.dataVersion(of: IndexFile.schema)
    if let known, version != nil, known.version == version { return known }
    guard hasState else { throw IndexDamage.withoutState }
    let state = IndexState(statement)
    let catalog =
      if let known, known.state.revision == state.revision { known.catalog } else {
        try IndexCatalog(reading: connection, schema: IndexFile.schema, known: known?.catalog ?? .empty)
      }
    let found = Known(version: version, state: state, catalog: catalog)
    known = found
    return found
  }

  /// The indexes in the current transaction.
  ///
  /// - Parameter manager: The manager to tell that indexes are behind, in a transaction that began with ``begin(_:_:)``.
  func indexes(_ store: Datastore, _ manager: IndexManager?) throws -> IndexView {
    let known = try manager == nil ? readState() : self.known ?? readState()
    let last = try Self.lastSequence(store, on: connection)
    let documents = connection.dataVersion()
    if documents == nil || known.verified != documents {
      try known.state.checkHistory(of: "main", on: connection, lastSequence: last)
      self.known?.verified = documents
    }
    let indexes = IndexView(
      catalog: known.catalog, isReadable: true, indexedSequence: known.state.sequence, lastSequence: last)
    if let manager { noteGap(in: indexes, manager) }
    return indexes
  }

  /// Wakes the worker if the same writes are missing from the indexes twice in a row. Every write leaves a gap for a
  /// moment, between its two commits.
  private func noteGap(in indexes: IndexView, _ manager: IndexManager) {
    let sequence = indexes.indexedSequence
    guard indexes.isBehind else { return gap = nil }
    let isKnown = gap?.sequence == sequence
    if isKnown, gap?.wasReported == false { manager.worker.wake() }
    gap = (sequence, isKnown)
  }

  /// Errors of the documents are not damage of the indexes.
  private static func lastSequence(
    _ store: Datastore, on connection: Connection
  ) throws(DatastoreError) -> Int64 {
    do {
      return try connection.scalar("SELECT sequence FROM main.documents ORDER BY sequence DESC LIMIT 1")
    } catch {
      throw DatastoreError(error, path: store.databasePath)
    }
  }
}
