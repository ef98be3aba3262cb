import Synchronization

/// Whether an operation should end early, because its task was cancelled or its deadline passed. Can be set from any
/// thread.
package final class StopSignal: Sendable {
  private enum Reason: UInt8, AtomicRepresentable {
    case none, cancelled, timedOut, suspended
  }

  private let reason = Atomic(Reason.none)
  private let deadline: ContinuousClock.Instant?
  /// The compiler does not know the size of an instant, so a look at the deadline itself takes long.
  private let hasDeadline: Bool

  /// - Parameter deadline: The time at which the operation should end. Its timer may fire late on a busy machine, so the signal asks
  ///   the clock, too.
  package init(deadline: ContinuousClock.Instant? = Datastore.deadline) {
    self.deadline = deadline
    hasDeadline = deadline != nil
  }

  package func cancel() { set(.cancelled) }

  func expire() { set(.timedOut) }

  /// Ends an operation on a datastore that is not open.
  func suspend() { set(.suspended) }

  private func set(_ new: Reason) {
    // The first reason is kept.
    _ = reason.compareExchange(expected: .none, desired: new, ordering: .relaxed)
  }

  package var isSet: Bool {
    if hasDeadline { checkDeadline() }
    return reason.load(ordering: .relaxed) != .none
  }

  private func checkDeadline() {
    if let deadline, deadline <= .now { expire() }
  }

  /// - Throws: `CancellationError`, or ``DatastoreError`` with the code `.timedOut` or `.suspended`, if the operation should end.
  package func check() throws {
    guard isSet else { return }
    switch reason.load(ordering: .relaxed) {
    case .cancelled: throw CancellationError()
    case .timedOut: throw DatastoreError(.timedOut)
    case .suspended: throw DatastoreError(.endedBySuspension("the operation"))
    case .none: return
    }
  }
}
