import Dispatch
import Synchronization

/// Runs work that may wait for the disk, in order, on a limited number of threads.
///
/// A thread is started if no thread is idle, and ends after a second without work.
package final class WorkQueue: Sendable {
  private struct State {
    var waiting: [@Sendable () -> Void] = []
    /// The position of the first waiting item; those before it have been taken.
    var first = 0
    var threads = 0
    /// The threads that wait for work and have not been woken.
    var idle = 0
  }

  private let limit: Int
  private let start: @Sendable (@escaping @Sendable () -> Void) throws(SystemError) -> Void
  private let state = Mutex(State())
  private let wake = DispatchSemaphore(value: 0)

  /// - Parameters:
  ///   - threads: The maximum number of threads.
  ///   - start: Starts a thread.
  package init(
    threads: Int,
    start: @escaping @Sendable (@escaping @Sendable () -> Void) throws(SystemError) -> Void = BackgroundThread
      .start
  ) {
    limit = max(1, threads)
    self.start = start
  }

  /// Adds work to the end of the queue.
  ///
  /// - Throws: ``SystemError`` if there is no thread and none can be started; the work is then not run.
  package func add(_ work: @escaping @Sendable () -> Void) throws(SystemError) {
    let wakesThread = try state.withLock { state throws(SystemError) in
      if state.idle > 0 {
        state.idle -= 1
        state.waiting.append(work)
        return true
      }
      if state.threads < limit {
        do throws(SystemError) {
          try start { [self] in run() }
          state.threads += 1
        } catch  where state.threads > 0 {}
      }
      state.waiting.append(work)
      return false
    }
    if wakesThread { wake.signal() }
  }

  private func run() {
    while true {
      if let work = takeOrRest() {
        work()
      } else if wake.wait(timeout: .now() + 1) == .timedOut {
        let isOver = state.withLock { state in
          guard state.idle > 0 else { return false }
          state.idle -= 1
          state.threads -= 1
          return true
        }
        if isOver { return }
        // Every thread that waits has been counted as woken, so that one of the signals is for this thread.
        wake.wait()
      }
    }
  }

  /// Takes the first waiting item; without one the thread is idle from now on.
  private func takeOrRest() -> (@Sendable () -> Void)? {
    state.withLock { state in
      guard state.first < state.waiting.count else {
        state.idle += 1
        return nil
      }
      let work = state.waiting[state.first]
      state.waiting[state.first] = {}
      state.first += 1
      // Remove taken items from time to time, so that taking one has constant cost.
      if state.first == state.waiting.count || state.first >= 1_024 {
        state.waiting.removeFirst(state.first)
        state.first = 0
      }
      return work
    }
  }
}
