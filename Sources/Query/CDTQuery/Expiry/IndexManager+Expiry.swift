import CDTDatastore
import CDTPlatform

// Documents that expire. An index with `expireAfter` has the time of each, so those that have expired are its first rows.
extension IndexManager {
  package var hidesDocuments: Bool { expiry.hasRules }

  package func hasExpired(
    id: UnsafeRawBufferPointer, revision: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer,
    in transaction: ReadTransaction
  ) -> Bool {
    expiry.hasExpired(DocumentBytes(id: id, revision: revision, body: body), at: instant(of: transaction))
  }

  /// The instant of a transaction, at which it first asked.
  fileprivate struct Instant {
    let time: Double
  }

  func instant(of transaction: ReadTransaction) -> Double {
    if let known = transaction.extensionStates[Instant.self] { return known.time }
    let time = expiry.now
    transaction.extensionStates[Instant.self] = Instant(time: time)
    return time
  }

  package func expiredDocuments(in transaction: ReadTransaction) throws -> [Int64] {
    let instant = instant(of: transaction)
    return try rows(in: transaction) { try $0.expired(at: instant, expiry.time(of:)) }.documents.map(\.number)
  }

  /// Runs `body` with the rows of documents that expire, and once more without them if the index file turns out to be damaged.
  private func rows<R>(in transaction: ReadTransaction, _ body: (ExpiredRows) throws -> R) throws -> R {
    try transaction.withoutDamagedIndex { _ in
      try QueryFailure.mapping(of: transaction.store, usesIndex: true) {
        try body(ExpiredRows(transaction.indexView(self), on: transaction.connection()))
      }
    }
  }

  // MARK: Live queries

  /// Removes the documents that have expired from the results of live queries, and schedules the next run.
  func dropExpired() throws {
    guard expiry.hasRules else { return }
    let (store, now) = (try openStore(), expiry.now)
    try dropExpired(in: store, at: now)
    wakeWorker(at: try nextExpiry(in: store, after: now))
  }

  private func dropExpired(in store: Datastore, at now: Double) throws {
    try keptResults?.drop(until: now, by: expiry.generation) { last in
      let (documents, isComplete) = try rows(in: store) {
        try $0.expired(after: last, at: now, expiry.time(of:))
      }
      return (documents.map(\.number), isComplete)
    }
  }

  private func nextExpiry(in store: Datastore, after time: Double) throws -> Double? {
    try rows(in: store) { try $0.next(after: time, expiry.time(of:)) }
  }

  // MARK: Deleting

  /// The time that a slice of deletions should take from other writers with its commit, and the pause after it.
  private static let slice = Duration.microseconds(4_500)
  private static let pause: UInt32 = 1_000
  private static let (fewest, most) = (8, 500)

  /// Takes the documents that have expired from live queries and deletes them, a few at a time, and does so again when the next ones
  /// expire. What can't be deleted is tried again later.
  ///
  /// - Parameter isAsked: Whether somebody waits for it, so that a pause after a failure is left out.
  func deleteExpired(isAsked: Bool = false, _ goesOn: () -> Bool) throws {
    guard expiry.hasRules else { return }
    var next: Double? = -.infinity
    defer {
      wakeWorker(at: next)
      if expiry.isPaused { wakeWorker(at: -.infinity) }
    }
    if isAsked { expiry.pause(false) }
    do {
      next = try deleteExpired(in: openStore(), goesOn)
    } catch {
      expiry.pause(true)
      throw error
    }
  }

  /// Deletes the documents that have expired.
  ///
  /// - Returns: The time at which the next one expires, `-.infinity` if some are left.
  private func deleteExpired(in store: Datastore, _ goesOn: () -> Bool) throws -> Double? {
    var count = Self.fewest
    var refused = Set<Int64>()
    while goesOn() {
      let now = expiry.now
      try dropExpired(in: store, at: now)
      if isReadOnly || expiry.isPaused { return try nextExpiry(in: store, after: now) }
      let found = try rows(in: store) { [count, refused] in
        try $0.expired(at: now, limit: count + refused.count, expiry.time(of:)).documents
      }
      let slice = found.filter { !refused.contains($0.number) }.prefix(count)
      if slice.isEmpty {
        expiry.pause(!found.isEmpty)
        return try nextExpiry(in: store, after: now)
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
        return try ids.count { try transaction.deleteIfExpired($0) }
      }
    } catch is UniqueViolation {
      // Another revision, which becomes the winner, has a key that a document has.
    } catch let error as DatastoreError where error.code == .invalidRevision {
      // A revision of the highest generation.
    }
    return (deleted, max(ContinuousClock.now - start, .microseconds(10)))
  }

  private func rows<R>(in store: Datastore, _ body: (ExpiredRows) throws -> R) throws -> R {
    try store.readSnapshot { try rows(in: $0, body) }
  }

  /// Has the documents that have expired taken from live queries and deleted at a time.
  func wakeWorker(at time: Double?) {
    expiry.wake(at: time) { [weak self] in
      guard let self else { return }
      // The worker may be building an index.
      try? BlockingPool.run { _ = try? self.dropExpired() }
      wakeWorker(fills: false)
    }
  }
}

extension ReadTransaction {
  /// Has documents expire at the instant of another transaction. It must not have read any.
  package func takeInstant(of other: ReadTransaction) {
    guard let manager = other.store.existingExtension(IndexManager.self) else { return }
    extensionStates[IndexManager.Instant.self] = IndexManager.Instant(time: manager.instant(of: other))
  }
}
