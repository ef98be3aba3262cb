import CDTDatastore
import CDTPlatform
import Dispatch
import Synchronization

/// Runs background work for the indexes on its own thread, one task at a time, until none is left.
///
/// It does not use Dispatch, which ends the process if it can't open its own files.
final class IndexWorker: Sendable {
  /// The work: deletes documents that have expired and, if it fills, also repairs, builds and measures indexes.
  typealias Work = @Sendable (_ fills: Bool) throws -> Void

  private struct State {
    var work: Work = { _ in }
    var isRunning = false
    /// Whether work is requested that has not begun.
    var isRequested = false
    /// Whether the next work fills indexes, as it was requested or has failed to.
    var isFillRequested = false
    /// The number of callers that are filling indexes on their threads.
    var fillingCallers = 0
    var isClosed = false
    var hasFailed = false
    /// The id of the working thread, or 0.
    var thread: UInt = 0
  }

  private let worksInBackground: Bool
  private let isReadOnly: Bool
  private let state = Mutex(State())
  private let running = DispatchGroup()

  init(of store: Datastore) {
    (worksInBackground, isReadOnly) = (store.worksInBackground, store.access.isReadOnly)
  }

  func start(_ work: @escaping Work) {
    state.withLock { $0.work = work }
  }

  /// Requests work. It begins after work that is running; requests until then become one.
  func wake(fills: Bool = true) {
    guard worksInBackground, !(isReadOnly && fills) else { return }
    let starts = state.withLock { state in
      guard !state.isClosed else { return false }
      state.isRequested = true
      if fills { state.isFillRequested = true }
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
      state.withLock { ($0.isRequested, $0.isRunning, $0.hasFailed) = (false, false, true) }
      running.leave()
    }
  }

  private func run() {
    state.withLock { $0.thread = CurrentThread.number }
    while let (work, fills) = takeNext() {
      let isDone = (try? work(fills)) != nil
      state.withLock { state in
        state.hasFailed = !isDone
        if fills, !isDone { state.isFillRequested = true }
      }
    }
    running.leave()
  }

  private func takeNext() -> (Work, fills: Bool)? {
    state.withLock { state in
      guard state.isRequested, !state.isClosed else {
        (state.isRunning, state.thread) = (false, 0)
        return nil
      }
      defer { (state.isRequested, state.isFillRequested) = (false, false) }
      return (state.work, state.isFillRequested)
    }
  }

  /// Keeps the worker from filling indexes while a caller does, who wants to see progress. It later continues what the caller leaves.
  func withoutFilling<R>(_ body: () throws -> R) rethrows -> R {
    state.withLock { $0.fillingCallers += 1 }
    defer { state.withLock { $0.fillingCallers -= 1 } }
    return try body()
  }

  /// Whether the work may go on to fill indexes.
  var mayFill: Bool { state.withLock { !$0.isClosed && $0.fillingCallers == 0 } }

  var isClosed: Bool { state.withLock { $0.isClosed } }

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
      return state.thread == CurrentThread.number
    }
    // The work may have held the last reference to the datastore.
    if !isOwnThread { running.wait() }
  }
}
