import CDTDatastore
import CDTPlatform

/// The documents that have expired: they are hidden from reads, removed from the results of live queries, and deleted.
///
/// An index with `expireAfter` has the time of each document, so those that have expired are its first rows.
package final class ExpiredDocuments: DocumentHiding {
  private let indexes: IndexManager
  private let kept: KeptResultsHolder
  private var schedule: ExpirySchedule { indexes.expiry }

  init(_ indexes: IndexManager, _ kept: KeptResultsHolder) {
    (self.indexes, self.kept) = (indexes, kept)
    schedule.start { [weak self] in
      guard let self else { return }
      // The worker may be building an index.
      try? BlockingPool.run { _ = try? self.remove(deletes: false) }
      self.indexes.worker.wake(fills: false)
    }
  }

  // MARK: Hiding

  /// The instant of a transaction, at which it first asked.
  package func instant(of transaction: ReadTransaction) -> Double {
    if let known = transaction.view.instant { return known }
    let time = schedule.now
    transaction.view.instant = time
    return time
  }

  package func hides(_ number: Int64, in transaction: ReadTransaction) throws -> Bool {
    let stored = try StoredDocuments("WHERE number = ?1", number, on: transaction.connection())
    defer { stored.reset() }
    guard try stored.next(), let time = stored.document.flatMap(schedule.time(of:)) else { return false }
    return time <= instant(of: transaction)
  }

  /// The documents that had expired at the instant of a transaction and are not deleted yet.
  package func hiddenDocuments(in transaction: ReadTransaction) throws -> [Int64] {
    let instant = instant(of: transaction)
    return try rows(in: transaction) { try $0.expired(at: instant, schedule.time(of:)) }.documents.map(
      \.number)
  }

  /// Runs `body` with the rows of documents that expire, and once more without them if the index file turns out to be damaged.
  private func rows<R>(in transaction: ReadTransaction, _ body: (ExpiredRows) throws -> R) throws -> R {
    try transaction.withoutDamagedIndex { _ in
      try QueryFailure.mapping(of: transaction.store, usesIndex: true) {
        try body(ExpiredRows(transaction.indexView(indexes), on: transaction.connection()))
      }
    }
  }

  private func rows<R>(in store: Datastore, _ body: (ExpiredRows) throws -> R) throws -> R {
    try store.readSnapshot { try rows(in: $0, body) }
  }

  // MARK: Removing

  /// The time that a slice of deletions should take from other writers with its commit, and the pause after it.
  private static let slice = Duration.microseconds(4_500)
  private static let pause: UInt32 = 1_000
  private static let (fewest, most) = (8, 500)

  /// Removes the documents that have expired from the results of live queries and from the datastore, a few at a time, and sets the alarm
  /// for the next ones. What can't be deleted is tried again later.
  ///
  /// - Parameters:
  ///   - deletes: Whether the documents are also removed from the datastore.
  ///   - isRequested: Whether a caller waits for it, so that a pause after a failure is left out.
  package func remove(
    deletes: Bool = true, isRequested: Bool = false, _ shouldContinue: () -> Bool = { true }
  ) throws {
    guard schedule.hasRules else { return }
    if isRequested { schedule.pause(false) }
    defer { if schedule.isPaused { schedule.wake(at: -.infinity) } }
    do {
      schedule.wake(at: try remove(deletes: deletes, in: indexes.openStore(), shouldContinue))
    } catch {
      if deletes { schedule.pause(true) }
      throw error
    }
  }

  /// - Returns: The time at which the next document expires, `-.infinity` if some are left.
  private func remove(deletes: Bool, in store: Datastore, _ shouldContinue: () -> Bool) throws -> Double? {
    var count = Self.fewest
    var refused = Set<Int64>()
    while shouldContinue() {
      let now = schedule.now
      func next() throws -> Double? { try rows(in: store) { try $0.next(after: now, schedule.time(of:)) } }
      try kept.current?.removeExpired(until: now, by: schedule.generation) { last in
        let (documents, isComplete) = try rows(in: store) {
          try $0.expired(after: last, at: now, schedule.time(of:))
        }
        return (documents.map(\.number), isComplete)
      }
      if !deletes || indexes.isReadOnly || schedule.isPaused { return try next() }
      let found = try rows(in: store) { [count, refused] in
        try $0.expired(at: now, limit: count + refused.count, schedule.time(of:)).documents
      }
      let slice = found.filter { !refused.contains($0.number) }.prefix(count)
      if slice.isEmpty {
        schedule.pause(!found.isEmpty)
        return try next()
      }
      let (deleted, taken) = try delete(slice.map(\.id), in: store)
      if deleted == nil, slice.count > 1 {
        // One of them is refused.
        count = 1
        continue
      }
      if deleted ?? 0 == 0 { refused.formUnion(slice.map(\.number)) }
      count = max(Self.fewest, min(Self.most, Int(Double(count) * min(2, Self.slice / taken))))
      Sleep.microseconds(Self.pause)
    }
    return -.infinity
  }

  /// Deletes those of some documents that have expired.
  ///
  /// - Returns: Their number, `nil` if the deletion is refused; the time without that for which it waited for its turn.
  private func delete(_ ids: [String], in store: Datastore) throws -> (deleted: Int?, taken: Duration) {
    var (deleted, start) = (Int?.none, ContinuousClock.now)
    do {
      deleted = try store.write { transaction in
        start = .now
        return try ids.count { try transaction.deleteIfHidden($0) }
      }
    } catch is UniqueViolation {
      // Another revision, which becomes the winner, has a key that a document has.
    } catch let error as DatastoreError where error.code == .invalidRevision {
      // A revision of the highest generation.
    }
    return (deleted, max(ContinuousClock.now - start, .microseconds(10)))
  }
}

extension ReadTransaction {
  /// Takes the instant at which documents expire from another transaction. This transaction must not have read documents yet.
  package func takeInstant(of other: ReadTransaction) {
    guard let expired = other.store.existingExtension(QueryExtension.self)?.expired else { return }
    view.instant = expired.instant(of: other)
  }
}
