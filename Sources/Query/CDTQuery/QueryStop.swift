import CDTDatastore

/// The conditions that can end a query early: its time limit, and the stop signal of its transaction.
struct QueryStop: Sendable {
  private let limit: Duration?
  private let deadline: ContinuousClock.Instant?
  private let signal: StopSignal?

  init(timeLimit: Duration? = nil, signal: StopSignal? = nil) {
    limit = timeLimit
    deadline = timeLimit.map { ContinuousClock.now + $0 }
    self.signal = signal
  }

  /// - Throws: ``QueryError`` with the code `.timedOut`, or the signal's error, if the query must end.
  func check() throws {
    try signal?.check()
    if let limit, let deadline, ContinuousClock.now >= deadline { throw QueryError.timedOut(limit) }
  }

  /// Whether ``check()`` would throw.
  var isOver: Bool {
    signal?.isSet == true || deadline.map { ContinuousClock.now >= $0 } ?? false
  }

  /// Interrupts the statements of a transaction when the time is up, until the returned check is removed.
  func watch(_ transaction: ReadTransaction) -> ReadTransaction.ProgressCheck? {
    guard let deadline else { return nil }
    return transaction.addProgressCheck { ContinuousClock.now < deadline }
  }
}
