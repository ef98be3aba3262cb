import CDTDatastore
import CDTPlatform

// Documents that expire. An index with `expireAfter` has the time of each, so those that have expired are its first rows.
extension IndexManager {
  package var hidesDocuments: Bool { expiry.hasRules }

  package func hasExpired(
    id: UnsafeRawBufferPointer, revision: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer
  ) -> Bool {
    expiry.hasExpired(DocumentBytes(id: id, revision: revision, body: body))
  }

  package func expiredDocuments(in transaction: ReadTransaction) throws -> [Int64] {
    do {
      return try numbers(in: transaction)
    } catch is DamagedIndex {
      try transaction.abandonIndexes(self)
      let numbers = try numbers(in: transaction)
      // If the documents can be read, it was the index file.
      replaceDamagedFile()
      return numbers
    }
  }

  private func numbers(in transaction: ReadTransaction) throws -> [Int64] {
    try QueryFailure.mapping(of: transaction.store, usesIndex: true) {
      let rows = try ExpiredRows(transaction.indexView(self), on: transaction.connection())
      return try rows.expired(at: expiry.now) { expiry.hasExpired($0) }.map(\.number)
    }
  }

  // MARK: Deleting

  /// The time that a slice of deletions should take from other writers, and the pause after it.
  private static let slice = Duration.milliseconds(3)
  private static let pause: UInt32 = 1_000
  private static let (fewest, most) = (8, 500)

  /// Deletes the documents that have expired, a few at a time, and has the next ones deleted when they expire.
  func deleteExpired(_ goesOn: () -> Bool) throws {
    guard expiry.hasRules else { return }
    let store = try openStore()
    guard !store.access.isReadOnly else { return }
    var count = Self.fewest
    while goesOn() {
      let ids = try rows(in: store) { [count] in
        try $0.expired(at: expiry.now, limit: count) { expiry.hasExpired($0) }.map(\.id)
      }
      var taken = Duration.zero
      let deleted =
        try ids.isEmpty
        ? 0
        : store.write { transaction in
          // Without the time for which it waited for its turn.
          let start = ContinuousClock.now
          defer { taken = max(ContinuousClock.now - start, .microseconds(10)) }
          return try Self.deleteExpired(ids, in: transaction)
        }
      guard deleted > 0 else { break }
      count = max(Self.fewest, min(Self.most, Int(Double(count) * min(2, Self.slice / taken))))
      Sleep.microseconds(Self.pause)
    }
    wakeWorker(at: try rows(in: store) { try $0.next(after: expiry.now) })
  }

  private static func deleteExpired(_ ids: [String], in transaction: WriteTransaction) throws -> Int {
    try ids.count { try transaction.deleteIfExpired($0) }
  }

  private func rows<R>(in store: Datastore, _ body: (ExpiredRows) throws -> R) throws -> R {
    try store.readSnapshot { try body(ExpiredRows($0.indexView(self), on: $0.connection())) }
  }

  /// Has the worker delete documents at a time.
  func wakeWorker(at time: Double?) {
    expiry.wake(at: time) { [weak self] in self?.wakeWorker() }
  }
}
