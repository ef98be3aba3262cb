import CDTPlatform
import Dispatch
import Synchronization

/// Runs background work for the indexes on its own thread, one task at a time, until none is left.
///
/// It does not use Dispatch, which ends the process if it can't open its own files.
final class IndexWorker: Sendable {
  typealias Work = @Sendable (_ isClosing: @escaping @Sendable () -> Bool) throws -> Void

  private struct State {
    var isRunning = false
    /// The work requested while other work is running.
    var next: Work?
    var isClosed = false
    var hasFailed = false
    /// The id of the working thread, or 0.
    var thread: UInt = 0
  }

  private let state = Mutex(State())
  private let running = DispatchGroup()

  /// Requests work. If work is already waiting, the new request replaces it.
  func wake(_ work: @escaping Work) {
    let starts = state.withLock { state in
      guard !state.isClosed else { return false }
      state.next = work
      if state.isRunning { return false }
      state.isRunning = true
      running.enter()
      return true
    }
    guard starts else { return }
    do throws(SystemError) {
      try BlockingPool.run { [self] in run() }
    } catch {
      // No thread could be started.
      state.withLock { ($0.next, $0.isRunning, $0.hasFailed) = (nil, false, true) }
      running.leave()
    }
  }

  private func run() {
    state.withLock { $0.thread = CurrentThread.number }
    while let work = takeNext() {
      let isDone = (try? work { [self] in state.withLock { $0.isClosed } }) != nil
      state.withLock { $0.hasFailed = !isDone }
    }
    running.leave()
  }

  private func takeNext() -> Work? {
    state.withLock { state in
      let next = state.isClosed ? nil : state.next.take()
      if next == nil { (state.isRunning, state.thread) = (false, 0) }
      return next
    }
  }

  /// Whether the last work failed. The next write or the next opening tries again.
  var hasFailed: Bool { state.withLock { $0.hasFailed } }

  /// Waits until there is no work left.
  package func waitUntilIdle() {
    running.wait()
  }

  /// Ends the work at its next step and waits for it.
  func close() {
    let isOwnThread = state.withLock { state in
      state.isClosed = true
      state.next = nil
      return state.thread == CurrentThread.number
    }
    // The work may have held the last reference to the datastore.
    if !isOwnThread { running.wait() }
  }
}
