package import CDTDatastore
import CDTPlatform
package import SQLite

/// A lent reader in a snapshot of the documents and the indexes; both end with it.
///
/// The index file's snapshot is taken first and the documents' second. As a write is committed to the documents first, the
/// indexes can only be behind, never ahead.
package struct QuerySnapshot: ~Copyable {
  private let lease: ConnectionPool<StoreReader>.Lease
  package let indexes: IndexView

  package var connection: Connection { lease.reader.connection }

  /// How much memory a sort may take before it goes to the disk, in bytes.
  var sortMemory: Int { lease.reader.sortMemory }

  /// Takes a snapshot.
  package init(of store: Datastore, _ manager: IndexManager) throws {
    let lease = try store.lendReader()
    do {
      indexes = try IndexReader.of(lease.reader).begin(manager, store)
    } catch {
      lease.reader.connection.rollBack()
      throw error
    }
    self.lease = lease
  }

  deinit {
    lease.reader.connection.setProgressCheck(nil)
    lease.reader.connection.rollBack()
  }
}

/// The indexes as a snapshot has them, and how far they are.
///
/// What an index does not have are the documents above a sequence, its floor: nothing nearly always, for a moment the
/// documents of a write between its two commits, and more while the index is being filled or after a crash. Queries put
/// these to the matcher, and pass over the rows that the index may have of them.
package struct IndexView: Sendable {
  package let catalog: IndexCatalog
  /// Whether there is a file with the indexes; otherwise the catalog says which there should be.
  let isReadable: Bool
  /// The sequence up to which the complete indexes have every document.
  let indexedSequence: Int64
  /// The newest sequence of any document.
  package let lastSequence: Int64

  /// The sequence up to which an index has every document.
  func floor(of entry: IndexCatalog.Entry) -> Int64 { entry.watermark ?? indexedSequence }

  /// The lowest floor of the indexes that a source reads, if there are documents above it.
  func floor(of source: QueryPlan.Source) -> Int64? {
    let floor = source.indexes.map(floor(of:)).min() ?? lastSequence
    return floor < lastSequence ? floor : nil
  }
}

/// A reader's view of the index file: which file is attached, and what was last read of it.
private final class IndexReader {
  private let reader: StoreReader
  private var attached: FileIdentity?
  private var known: (revision: Int64, catalog: IndexCatalog)?
  /// For which state of both files the indexes are known to belong to the documents.
  private var verified: (state: IndexState, documents: UInt32?)?
  /// How far the indexes were in the last snapshot, if not as far as the documents, and whether the worker knows.
  private var gap: (sequence: Int64, isTold: Bool)?

  private var connection: Connection { reader.connection }

  init(_ reader: StoreReader) {
    self.reader = reader
  }

  static func of(_ reader: StoreReader) -> IndexReader {
    if let known = reader.extensionState as? IndexReader { return known }
    let made = IndexReader(reader)
    reader.extensionState = made
    return made
  }

  /// Begins a snapshot. Where the index file can't be used, the indexes hold nothing, and they are repaired in the
  /// background.
  func begin(_ manager: IndexManager, _ store: Datastore) throws -> IndexView {
    do {
      if try attach(manager, store) {
        try connection.begin(.deferred)
        let indexes = try readIndexes(store)
        noteGap(in: indexes, manager)
        return indexes
      }
    } catch let error where IndexRecovery.isDamage(error) {
      connection.rollBack()
      try detach()
      manager.wakeWorker()
    } catch let error as SQLiteError where error.isFull {
      // On a full disk there may be no room for the memory that connections to the index file share.
      connection.rollBack()
      try detach()
    }
    let recovery = manager.recovery
    let catalog = recovery.hasDefinitions ? try IndexCatalog(unfilled: recovery.definitions) : .empty
    try connection.begin(.deferred)
    return IndexView(
      catalog: catalog, isReadable: false, indexedSequence: 0, lastSequence: try lastSequence(store))
  }

  /// Attaches the index file as it is now.
  ///
  /// - Returns: Whether there is one.
  private func attach(_ manager: IndexManager, _ store: Datastore) throws -> Bool {
    let identity = FileIdentity(manager.path)
    if let identity, identity == attached { return true }
    try detach()
    guard let identity else {
      if manager.recovery.hasDefinitions { manager.wakeWorker() }
      return false
    }
    do throws(SQLiteError) {
      try connection.attach(path: manager.path, as: IndexFile.schema)
    } catch {
      // It is being replaced.
      if FileIdentity(manager.path) != identity { return false }
      throw error
    }
    attached = identity
    try reader.setAttachedSchema(IndexFile.schema)
    guard try connection.scalar("PRAGMA \(IndexFile.schema).user_version") == IndexFile.version else {
      throw IndexDamage.unreadable("another version")
    }
    _ = try IndexState(reading: connection, schema: IndexFile.schema, storeID: store.storeID)
    return true
  }

  private func detach() throws {
    guard attached != nil else { return }
    (attached, known, verified) = (nil, nil, nil)
    try reader.setAttachedSchema(nil)
    try connection.detach(IndexFile.schema)
  }

  private func readIndexes(_ store: Datastore) throws -> IndexView {
    let state = try IndexState(reading: connection, schema: IndexFile.schema)
    let catalog: IndexCatalog
    if let known, known.revision == state.revision {
      catalog = known.catalog
    } else {
      catalog = try IndexCatalog(
        reading: connection, schema: IndexFile.schema, known: known?.catalog ?? .empty)
      known = (state.revision, catalog)
    }
    let last = try lastSequence(store)
    let documents = connection.dataVersion
    if verified?.state != state || verified?.documents != documents || documents == nil {
      try state.checkHistory(of: "main", on: connection, lastSequence: last)
      verified = (state, documents)
    }
    return IndexView(catalog: catalog, isReadable: true, indexedSequence: state.sequence, lastSequence: last)
  }

  /// Has writes caught up that the indexes have missed. Every write leaves a gap between its two commits for a moment, but not
  /// the same one twice.
  private func noteGap(in indexes: IndexView, _ manager: IndexManager) {
    let sequence = indexes.indexedSequence
    guard sequence < indexes.lastSequence else { return gap = nil }
    let isKnown = gap?.sequence == sequence
    if isKnown, gap?.isTold == false { manager.wakeWorker() }
    gap = (sequence, isKnown)
  }

  /// What is wrong with the documents is not the indexes' damage.
  private func lastSequence(_ store: Datastore) throws(DatastoreError) -> Int64 {
    do {
      return try connection.scalar("SELECT max(sequence) FROM main.documents")
    } catch {
      throw DatastoreError(error, path: store.databasePath)
    }
  }
}
