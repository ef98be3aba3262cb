import CDTPlatform
import Dispatch
import Synchronization

/// Does what has to be done for the indexes while nobody waits for it, on a thread of its own: one piece of work at a time,
/// until none is left.
///
/// It is no thread of Dispatch's, which ends the process when it can't open files of its own.
final class IndexWorker: Sendable {
  typealias Work = @Sendable (_ isClosing: @escaping @Sendable () -> Bool) throws -> Void

  private struct State {
    var isRunning = false
    /// What was asked for while other work was being done.
    var next: Work?
    var isClosed = false
    /// The thread that works, or 0.
    var thread: UInt = 0
  }

  private let state = Mutex(State())
  private let running = DispatchGroup()

  /// Has work done, soon. When more is asked for than can be done, the last request stands for all.
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
      try BackgroundThread.start { [self] in run() }
    } catch {
      // There is no thread. It is tried again with the next write or the next opening.
      state.withLock { ($0.next, $0.isRunning) = (nil, false) }
      running.leave()
    }
  }

  private func run() {
    state.withLock { $0.thread = CurrentThread.number }
    while let work = takeNext() {
      // What fails is tried again with the next write or the next opening.
      try? work { [self] in state.withLock { $0.isClosed } }
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

  /// Waits until nothing is left to do.
  package func waitUntilIdle() {
    running.wait()
  }

  /// Ends the work at the next step and waits for that.
  func close() {
    let isOwnThread = state.withLock { state in
      state.isClosed = true
      state.next = nil
      return state.thread == CurrentThread.number
    }
    // The work may have been the last to hold the datastore.
    if !isOwnThread { running.wait() }
  }
}
