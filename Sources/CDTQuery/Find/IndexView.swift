import CDTDatastore
import CDTSQLite

/// The indexes in a snapshot, and the sequences up to which they are complete.
///
/// An index may lack the documents above a sequence, its floor: usually none, for a moment the documents of a write
/// between its two commits, and more while the index is built or after a crash. For queries these documents are
/// checked by the matcher, and index rows of them are ignored.
package struct IndexView: Sendable {
  package let catalog: IndexCatalog
  /// Whether there is a readable index file; if not, the catalog lists the defined indexes.
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

extension ReadTransaction {
  /// The indexes in this transaction.
  func indexView(_ manager: IndexManager) throws -> IndexView {
    if let known = extensionState as? IndexSnapshot { return try known.view }
    if let write = self as? WriteTransaction { return try IndexSnapshot(in: write, manager).view }
    // The manager was created after the transaction began, so the indexes may be ahead of its state.
    return try IndexReader.unreadable(manager, in: connection(), of: store)
  }

  /// Ends the use of the indexes in this transaction.
  func abandonIndexes(_ manager: IndexManager) throws {
    let view = try IndexReader.unreadable(manager, in: connection(), of: store)
    let snapshot = extensionState as? IndexSnapshot
    snapshot?.replace(by: view)
  }
}

/// A transaction's view of the indexes.
final class IndexSnapshot {
  private var read: () throws -> IndexView

  var view: IndexView { get throws { try read() } }

  /// Creates the snapshot of a reader's transaction, which does not change.
  init(_ view: IndexView) {
    read = { view }
  }

  func replace(by view: IndexView) {
    read = { view }
  }

  /// Creates the view of the indexes inside a write. Documents it has changed are checked by the matcher.
  ///
  /// The file is attached inside the transaction, because `BEGIN IMMEDIATE` would lock it too.
  init(in transaction: WriteTransaction, _ manager: IndexManager) throws {
    let (store, connection) = (transaction.store, try transaction.connection())
    let reader = IndexReader(connection)
    if (try? reader.attach(manager, store)) == nil { reader.forget() }
    read = {
      do {
        if reader.isAttached { return try reader.readIndexes(store) }
      } catch let error where IndexRecovery.isDamage(error) {
        reader.forget()
        manager.replaceDamagedFile()
      }
      return try IndexReader.unreadable(manager, in: connection, of: store)
    }
    transaction.extensionState = self
    transaction.cleanUp = {
      // A file that stays attached would be locked by the next write.
      do { try reader.detach() } catch { connection.close() }
    }
  }
}
