package import CDTDatastore

/// The conditions that can end a query early: its time limit, and the stop signal of its transaction.
///
/// It is a class, as the size of an instant of the clock is not known to the compiler: other modules would copy a structure slowly.
package final class QueryStop: Sendable {
  private let limit: Duration?
  private let deadline: ContinuousClock.Instant?
  /// A look at the deadline itself takes long, for the same reason.
  private let hasDeadline: Bool
  private let signal: StopSignal?

  package init(timeLimit: Duration? = nil, signal: StopSignal? = nil) {
    limit = timeLimit
    deadline = timeLimit.map { ContinuousClock.now + $0 }
    hasDeadline = timeLimit != nil
    self.signal = signal
  }

  /// - Throws: ``QueryError`` with the code `.timedOut`, or the signal's error, if the query must end.
  package func check() throws {
    try signal?.check()
    guard hasDeadline, let limit, let deadline, ContinuousClock.now >= deadline else { return }
    throw QueryError(.timedOut(limit))
  }

  /// Whether ``check()`` would throw.
  package var isOver: Bool {
    signal?.isSet == true || deadline.map { ContinuousClock.now >= $0 } ?? false
  }

  /// Interrupts the statements of a transaction when the time is up, until the returned check is removed.
  package func watch(_ transaction: ReadTransaction) -> ReadTransaction.ProgressCheck? {
    guard hasDeadline, let deadline else { return nil }
    return transaction.addProgressCheck { ContinuousClock.now < deadline }
  }
}
