import CDTPlatform
package import Synchronization

/// Whether the files of a datastore may be used, and the number of connections and locks that use them.
///
/// While it is draining, only the thread that is writing may use them, and then nobody. Statements of other threads are interrupted, and
/// no files are opened (``SQLiteError/isSuspended``).
package final class Suspension: Sendable {
  private enum Phase: UInt8, AtomicRepresentable {
    case open, draining, suspended
  }

  private let subject: String
  private let phase = Atomic(Phase.open)
  private let holds = Atomic(0)
  /// The thread that is writing, or 0.
  package let writer = Atomic<UInt>(0)
  private let registrations = Mutex<(last: UInt64, all: [UInt64: @Sendable () -> Void])>((0, [:]))

  /// - Parameter subject: The datastore or manager in words, for errors.
  package init(_ subject: String) {
    self.subject = subject
  }

  package var isSuspended: Bool { phase.load(ordering: .sequentiallyConsistent) != .open }

  /// Whether the calling thread may not use the files.
  package var isDue: Bool {
    switch phase.load(ordering: .sequentiallyConsistent) {
    case .open: false
    case .draining: writer.load(ordering: .relaxed) != CurrentThread.number
    case .suspended: true
    }
  }

  /// A use of the files that ``suspend(within:_:)`` waits for, such as a lock.
  package struct Hold: ~Copyable, Sendable {
    fileprivate let suspension: Suspension

    deinit { suspension.leave() }
  }

  /// - Throws: ``SQLiteError/isSuspended``.
  package func hold() throws(SQLiteError) -> Hold {
    try enter()
    return Hold(suspension: self)
  }

  func enter() throws(SQLiteError) {
    holds.add(1, ordering: .sequentiallyConsistent)
    guard isDue else { return }
    leave()
    throw error
  }

  package var error: SQLiteError { .suspended(subject) }

  func leave() {
    holds.subtract(1, ordering: .sequentiallyConsistent)
  }

  /// Calls a closure, perhaps often, while the files are to be released. The calls end when the result is released.
  package func whenSuspended(_ body: @escaping @Sendable () -> Void) -> Registration {
    let number = registrations.withLock { registrations in
      registrations.last += 1
      registrations.all[registrations.last] = body
      return registrations.last
    }
    return Registration(of: self, number)
  }

  package final class Registration: Sendable {
    private let suspension: Suspension
    private let number: UInt64

    fileprivate init(of suspension: Suspension, _ number: UInt64) {
      (self.suspension, self.number) = (suspension, number)
    }

    deinit { _ = suspension.registrations.withLock { $0.all.removeValue(forKey: number) } }
  }

  /// Begins to suspend: from now on only the write in progress may use the files.
  package func begin() {
    _ = phase.compareExchange(expected: .open, desired: .draining, ordering: .sequentiallyConsistent)
  }

  /// Waits until nobody uses the files. A write in progress goes on for half of the time, and is then interrupted.
  ///
  /// - Parameter letGo: Closes the files that are idle. It is called repeatedly.
  /// - Returns: Whether nobody uses them; `false` also after ``resume()``.
  package func suspend(within time: Duration, _ letGo: () -> Void) -> Bool {
    begin()
    let start = ContinuousClock.now
    // The write of this thread can't end before this call.
    let isInWrite = writer.load(ordering: .relaxed) == CurrentThread.number
    while true {
      let isFree = holds.load(ordering: .sequentiallyConsistent) == 0
      let now = ContinuousClock.now
      if isFree || isInWrite || now - start >= time / 2 {
        _ = phase.compareExchange(
          expected: .draining, desired: .suspended, ordering: .sequentiallyConsistent)
      }
      guard isSuspended else { return false }
      // The thread that is writing may have begun to use them after they were counted, before the phase changed.
      if isFree, holds.load(ordering: .sequentiallyConsistent) == 0 { return true }
      for body in registrations.withLock({ Array($0.all.values) }) { body() }
      letGo()
      guard holds.load(ordering: .sequentiallyConsistent) > 0 else { continue }
      if isInWrite || now - start >= time { return false }
      Sleep.microseconds(500)
    }
  }

  /// - Returns: Whether the files could not be used.
  package func resume() -> Bool {
    phase.exchange(.open, ordering: .sequentiallyConsistent) != .open
  }
}
