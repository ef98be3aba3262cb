import CDTDatastore
import CDTSQLite

/// The indexes in a snapshot, and the sequences up to which they are complete.
///
/// An index may lack the documents above a sequence: usually none, for a moment the documents of a write
/// between its two commits, and more while the index is built or after a crash. For queries these documents are
/// checked by the matcher, and index rows of them are ignored.
package struct IndexView: Sendable {
  package let catalog: IndexCatalog
  /// Whether there is a readable index file; if not, the catalog lists the defined indexes.
  package let isReadable: Bool
  /// The sequence up to which the complete indexes have every document.
  let indexedSequence: Int64
  /// The newest sequence of any document.
  package let lastSequence: Int64
  /// The documents whose rows must be left out one by one.
  package var hidden = HiddenDocuments()

  /// Whether there are documents that the complete indexes lack.
  var isBehind: Bool { indexedSequence < lastSequence }

  /// The view without what depends on documents: of complete indexes without statistics, in which each document has one row.
  package var assumed: IndexView {
    IndexView(
      catalog: IndexCatalog(
        entries: catalog.entries.map {
          IndexCatalog.Entry(number: $0.number, definition: $0.definition, watermark: nil)
        }),
      isReadable: isReadable, indexedSequence: lastSequence, lastSequence: lastSequence)
  }

  /// The sequence up to which an index has every document.
  package func completeUpTo(of entry: IndexCatalog.Entry) -> Int64 { entry.watermark ?? indexedSequence }
}

/// A transaction's view of the indexes.
enum IndexSnapshot {
  /// A state, which does not change.
  case fixed(IndexView)
  /// The state of the index file when the transaction began. That of the documents is taken when it is needed.
  case begun(IndexReader)
  /// The state inside a write. Documents that the write has changed are checked by the matcher.
  case live(IndexReader)
}

extension ReadTransaction {
  /// The indexes in this transaction.
  package func indexView(_ manager: @autoclosure () throws -> IndexManager) throws -> IndexView {
    switch extensionStates[IndexSnapshot.self] {
    case .fixed(let view): return view
    case .begun(let reader):
      let view = try view(of: reader, manager(), isBegun: true)
      extensionStates[IndexSnapshot.self] = .fixed(view)
      return view
    case .live(let reader): return try view(of: reader, manager())
    case nil: break
    }
    guard let write = self as? WriteTransaction else {
      if try beginAgain(with: store.queryExtension()), extensionStates[IndexSnapshot.self] != nil {
        return try indexView(manager())
      }
      // The manager was created after the state was read, so the indexes may be ahead of it.
      return try IndexReader.unreadable(manager(), in: connection(), of: store)
    }
    let manager = try manager()
    return try view(of: write.attachIndexes(manager), manager)
  }

  /// The number of sequences after the last one that every index has; 0 if the indexes are complete, or there are none.
  package func indexLag() throws -> Int64 {
    let view = try indexView(store.indexManager())
    let completeUpTo = view.catalog.entries.map(view.completeUpTo).min() ?? view.lastSequence
    return max(0, view.lastSequence - completeUpTo)
  }

  /// Ends the use of the indexes in this transaction.
  package func abandonIndexes(_ manager: IndexManager) throws {
    extensionStates[IndexSnapshot.self] = .fixed(
      try IndexReader.unreadable(manager, in: connection(), of: store))
  }

  /// Runs `body`, and once more without indexes if the index file turns out to be damaged. The file is then replaced.
  package func withoutDamagedIndex<R>(_ body: (_ isAgain: Bool) throws -> R) throws -> R {
    do {
      return try body(false)
    } catch let damage as DamagedIndex {
      let manager = try store.indexManager()
      if damage.isCertain { manager.replaceDamagedFile() }
      try abandonIndexes(manager)
      let result = try body(true)
      // If the documents can be read, it was the index file.
      if !damage.isCertain { manager.replaceDamagedFile() }
      return result
    }
  }

  private func view(
    of reader: IndexReader, _ manager: IndexManager, isBegun: Bool = false
  ) throws -> IndexView {
    do {
      if reader.isAttached { return try reader.indexes(store, isBegun ? manager : nil) }
    } catch let error where IndexRecovery.isDamage(error) {
      reader.forget()
      manager.replaceDamagedFile()
    }
    return try IndexReader.unreadable(manager, in: reader.connection, of: store)
  }
}

extension WriteTransaction {
  /// Attaches the index file inside the transaction, because `BEGIN IMMEDIATE` would lock it too.
  fileprivate func attachIndexes(_ manager: IndexManager) throws -> IndexReader {
    let connection = try connection()
    let reader = IndexReader(connection)
    if (try? reader.attach(manager, store)) == nil { reader.forget() }
    extensionStates[IndexSnapshot.self] = .live(reader)
    cleanUp = {
      // A file that stays attached would be locked by the next write.
      do { try reader.detach() } catch { connection.close() }
    }
    return reader
  }
}
