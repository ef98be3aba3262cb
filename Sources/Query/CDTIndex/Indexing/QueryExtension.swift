package import CDTDatastore
import CDTPlatform

/// The indexes of a datastore, with all that keeps them as the documents are.
///
/// It passes on what the core tells an extension. Each part knows only those above it:
///
/// | part | does | lock |
/// |---|---|---|
/// | ``IndexWorker`` | runs work in the background | its state |
/// | ``ExpirySchedule`` | says when documents expire, and rings then | its state |
/// | ``IndexManager`` | owns the index file, and updates it with each write | its writer |
/// | ``DesignFollower`` | makes the indexes those of the design documents | none |
/// | ``ExpiredDocuments`` | hides the documents that have expired, and deletes them | none |
/// | ``IndexMaintenance`` | repairs, builds and checks indexes | none |
///
/// A thread takes the writer of the manager while it holds that of the datastore. The other locks are taken last, one at a time; so they
/// may be taken while live queries hold theirs (`LiveQueries`). For the locks between processes see ``IndexLock``.
package final class QueryExtension: DatastoreExtension {
  package static let extensionName = StoreFiles.indexExtension

  private let worker: IndexWorker
  package let expiry = ExpirySchedule()
  package let indexes: IndexManager
  let design: DesignFollower
  package let expired: ExpiredDocuments
  let maintenance: IndexMaintenance
  /// The results that are kept up to date, once there are any.
  package let kept = KeptResultsHolder()

  package init(of store: Datastore, directory: String) {
    worker = IndexWorker(of: store)
    indexes = IndexManager(of: store, directory: directory, worker, expiry)
    design = DesignFollower(indexes: indexes)
    expired = ExpiredDocuments(indexes, kept)
    maintenance = IndexMaintenance(indexes, design, expired)
    // Finish the work that an earlier process left, and follow design documents that were written without indexes.
    worker.wake()
  }

  package func close() {
    kept.current?.close()
    worker.close()
    expiry.close()
    indexes.close()
  }

  package func closeIdleFiles() { indexes.closeIdleFile() }

  package func resume() { worker.wake() }

  package func willBegin(on reader: StoreReader) throws {
    try IndexReader.of(reader).prepare(indexes, indexes.openStore())
  }

  package func didBegin(_ transaction: ReadTransaction, on reader: StoreReader) throws {
    transaction.extensionStates[IndexSnapshot.self] = try IndexReader.of(reader).begin(
      indexes, transaction.store)
  }

  package func isCurrent(_ states: ExtensionStates, on reader: StoreReader) -> Bool {
    guard let snapshot = states[IndexSnapshot.self] else { return false }
    return IndexReader.of(reader).isCurrent(snapshot, indexes)
  }

  package var hiding: (any DocumentHiding)? { expiry.hasRules ? expired : nil }

  /// - Throws: ``UniqueViolation``, also if the indexes can't be used; `DatastoreError` if the documents can't be read.
  package func willCommit(_ write: PendingWrite) throws {
    guard write.lastSequence > write.previousSequence else { return }
    if try indexes.prepare(write) || worker.hasFailed { worker.wake() }
  }

  package func didCommit(_ write: PendingWrite) {
    let (isFillDue, next) = indexes.commit()
    expiry.wake(at: next)
    if write.changesDesignDocuments || isFillDue { worker.wake() }
  }

  package func didRollBack() { indexes.rollBack() }

  package func rulesDidChange() { kept.current?.rulesDidChange() }
}

extension Datastore {
  /// The datastore's indexes with all that belongs to them, created on first use.
  package func queryExtension() throws -> QueryExtension {
    try checkOpen()
    return try extensionObject(QueryExtension.self)
  }

  package func indexManager() throws -> IndexManager { try queryExtension().indexes }
}
