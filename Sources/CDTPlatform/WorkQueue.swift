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
    var idle = 0
  }

  private let limit: Int
  private let state = Mutex(State())
  private let wake = DispatchSemaphore(value: 0)

  /// - Parameter threads: The maximum number of threads.
  package init(threads: Int) {
    limit = max(1, threads)
  }

  /// Adds work to the end of the queue.
  ///
  /// - Throws: ``SystemError`` if there is no thread and none can be started; the work is then not run.
  package func add(_ work: @escaping @Sendable () -> Void) throws(SystemError) {
    let needsThread = state.withLock { state in
      state.waiting.append(work)
      guard state.waiting.count - state.first > state.idle, state.threads < limit else { return false }
      state.threads += 1
      return true
    }
    guard needsThread else {
      wake.signal()
      return
    }
    do throws(SystemError) {
      try BackgroundThread.start { [self] in run() }
    } catch {
      let isRefused = state.withLock { state in
        state.threads -= 1
        guard state.threads == 0 else { return false }
        state.waiting.removeLast()
        return true
      }
      if isRefused { throw error }
    }
  }

  private func run() {
    while true {
      while let work = take() { work() }
      state.withLock { $0.idle += 1 }
      let isWoken = wake.wait(timeout: .now() + 1) == .success
      let isOver = state.withLock { state in
        state.idle -= 1
        guard !isWoken, state.first == state.waiting.count else { return false }
        state.threads -= 1
        return true
      }
      if isOver { return }
    }
  }

  private func take() -> (@Sendable () -> Void)? {
    state.withLock { state in
      guard state.first < state.waiting.count else { return nil }
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
