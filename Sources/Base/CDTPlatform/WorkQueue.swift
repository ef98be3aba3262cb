import Synchronization

/// Runs work that may wait for the disk, in order, on a limited number of threads of the ``BlockingPool``.
///
/// At first only as many threads as there are processors take work, as more would only take the processors from each other. If
/// none of them takes work for ten milliseconds, because they wait for the disk or their work is long, another thread does.
package final class WorkQueue: Sendable {
  private struct State {
    var waiting = WorkList()
    /// The threads that take work.
    var running = 0
    /// The number of items taken.
    var taken = 0
    var isWatched = false
  }

  /// Runs work on a thread at once.
  package typealias Pool = @Sendable (_ work: @escaping @Sendable () -> Void) throws(SystemError) -> Void

  private let limit: Int
  private let processors: Int
  private let patience: UInt32
  private let pool: Pool
  private let state = Mutex(State())

  /// - Parameters:
  ///   - threads: The maximum number of threads.
  ///   - processors: The number of threads that take work at first.
  ///   - patience: The time in microseconds after which, if no thread has taken work, another thread does.
  ///   - pool: Runs work on one of its threads.
  package init(
    threads: Int, processors: Int = Processors.count, patience: UInt32 = 10_000,
    pool: @escaping Pool = BlockingPool.run
  ) {
    limit = max(1, threads)
    self.processors = max(1, min(processors, threads))
    self.patience = patience
    self.pool = pool
  }

  /// Adds work to the end of the queue.
  ///
  /// - Throws: ``SystemError`` if there is no thread and none can be started; the work is then not run.
  package func add(_ work: @escaping @Sendable () -> Void) throws(SystemError) {
    try state.withLock { state throws(SystemError) in
      if state.running < processors {
        do throws(SystemError) {
          try pool { [self] in run() }
          state.running += 1
        } catch {
          if state.running == 0 { throw error }
        }
      }
      state.waiting.append(work)
      if state.running >= processors { watch(&state) }
    }
  }

  private func run() {
    while let work = next() { work() }
  }

  /// Takes work; `nil` if none is left.
  private func next() -> (@Sendable () -> Void)? {
    state.withLock { state in
      guard let work = state.waiting.take() else {
        state.running -= 1
        return nil
      }
      state.taken += 1
      return work
    }
  }

  /// Starts a thread that watches whether the threads that take work go on, if there may be more of them.
  private func watch(_ state: inout State) {
    guard !state.isWatched, state.running < limit else { return }
    state.isWatched = (try? pool { [self] in if isStuck() { run() } }) != nil
  }

  /// Waits until no work is left, or until no thread has taken any for the time of patience.
  private func isStuck() -> Bool {
    var taken: Int?
    while true {
      let isStuck = state.withLock { state -> Bool? in
        if !state.waiting.isEmpty, taken != state.taken {
          taken = state.taken
          return nil
        }
        state.isWatched = false
        guard !state.waiting.isEmpty else { return false }
        state.running += 1
        if state.waiting.count > 1 { watch(&state) }
        return true
      }
      if let isStuck { return isStuck }
      Sleep.microseconds(patience)
    }
  }
}
