import Dispatch
import Synchronization

/// The threads of the process for work that may wait for the disk. A thread ends after a second without work.
///
/// The pool has no limit of its own: each ``WorkQueue`` limits the threads that it uses.
package enum BlockingPool {
  private struct State {
    var waiting = WorkList()
    /// The threads that wait for work and have not been woken.
    var idle = 0
  }

  private static let state = Mutex(State())
  private static let wake = DispatchSemaphore(value: 0)

  /// Runs work on a thread at once.
  ///
  /// - Throws: ``SystemError`` if no thread can be started; the work is then not run.
  package static func run(_ work: @escaping @Sendable () -> Void) throws(SystemError) {
    let wakesThread = try state.withLock { state throws(SystemError) in
      let isIdle = state.idle > 0
      if isIdle { state.idle -= 1 } else { try BackgroundThread.start { while let work = next() { work() } } }
      state.waiting.append(work)
      return isIdle
    }
    if wakesThread { wake.signal() }
  }

  /// Waits for work; `nil` if there was none for a second.
  private static func next() -> (@Sendable () -> Void)? {
    while true {
      let work = state.withLock { state in
        let work = state.waiting.take()
        if work == nil { state.idle += 1 }
        return work
      }
      if let work { return work }
      guard wake.wait(timeout: .now() + 1) == .timedOut else { continue }
      let isOver = state.withLock { state in
        guard state.idle > 0 else { return false }
        state.idle -= 1
        return true
      }
      if isOver { return nil }
      // Every thread that waits has been counted as woken, so that one of the signals is for this thread.
      wake.wait()
    }
  }
}

/// Work in the order in which it was added.
struct WorkList {
  private var items: [@Sendable () -> Void] = []
  /// The position of the first item that was not taken.
  private var first = 0

  var count: Int { items.count - first }
  var isEmpty: Bool { count == 0 }

  mutating func append(_ work: @escaping @Sendable () -> Void) { items.append(work) }

  mutating func take() -> (@Sendable () -> Void)? {
    guard !isEmpty else { return nil }
    let work = items[first]
    items[first] = {}
    first += 1
    // Remove taken items from time to time, so that taking one has constant cost.
    if isEmpty || first >= 1_024 {
      items.removeFirst(first)
      first = 0
    }
    return work
  }
}
