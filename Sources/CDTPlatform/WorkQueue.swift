import Dispatch
import Synchronization

/// Runs work that may wait for the disk, in order, on a limited number of threads.
///
/// At most as many threads as there are processors take work at once, as more would only take the processors from each
/// other. A thread that has had the same work for ten milliseconds doesn't count: it waits for the disk, or its work is
/// long, and others must not wait for it. A thread ends after a second without work.
package final class WorkQueue: Sendable {
  private struct State {
    var waiting: [@Sendable () -> Void] = []
    /// The position of the first waiting item; those before it have been taken.
    var first = 0
    /// When each item that is being run was taken.
    var begun: [ContinuousClock.Instant] = []
    var threads = 0
    /// The threads that wait for work and have not been woken.
    var idle = 0
    var watch = Watch.none

    var isEmpty: Bool { first == waiting.count }
  }

  /// Whether one of the threads watches for others whose work is long.
  private enum Watch {
    case none
    /// A thread has been called for it.
    case wanted
    case begun
  }

  /// What a thread does next.
  private enum Step {
    case run(@Sendable () -> Void, begun: ContinuousClock.Instant)
    case watch
    case rest
  }

  /// What a thread has done, which holds nothing of the work.
  private enum Done {
    case work(begun: ContinuousClock.Instant)
    case watch
    case rest
  }

  private let limit: Int
  private let processors: Int
  private let patience: UInt32
  private let start: @Sendable (@escaping @Sendable () -> Void) throws(SystemError) -> Void
  private let state = Mutex(State())
  private let wake = DispatchSemaphore(value: 0)

  /// - Parameters:
  ///   - threads: The maximum number of threads.
  ///   - processors: How many of them take work at once.
  ///   - patience: For how many microseconds a thread with the same work counts as one of these.
  ///   - start: Starts a thread.
  package init(
    threads: Int, processors: Int = Processors.count, patience: UInt32 = 10_000,
    start: @escaping @Sendable (@escaping @Sendable () -> Void) throws(SystemError) -> Void = BackgroundThread
      .start
  ) {
    limit = max(1, threads)
    self.processors = max(1, processors)
    self.patience = patience
    self.start = start
  }

  /// Adds work to the end of the queue.
  ///
  /// - Throws: ``SystemError`` if there is no thread and none can be started; the work is then not run.
  package func add(_ work: @escaping @Sendable () -> Void) throws(SystemError) {
    let wakesThread = try state.withLock { state throws(SystemError) in
      let wakesThread = try callThread(&state)
      state.waiting.append(work)
      return wakesThread
    }
    if wakesThread { wake.signal() }
  }

  /// Calls another thread, if there may be one: to take work, or to watch if enough threads take work.
  ///
  /// - Returns: Whether an idle thread must be woken.
  /// - Throws: ``SystemError`` if there is no thread and none can be started.
  private func callThread(_ state: inout State) throws(SystemError) -> Bool {
    guard state.idle > 0 || state.threads < limit else { return false }
    let isForWatch = hasEnough(state)
    if isForWatch, state.watch != .none { return false }
    let isIdle = state.idle > 0
    if isIdle {
      state.idle -= 1
    } else {
      do throws(SystemError) {
        try start { [self] in run() }
      } catch {
        if state.threads == 0 { throw error }
        return false
      }
      state.threads += 1
    }
    if isForWatch { state.watch = .wanted }
    return isIdle
  }

  /// Whether as many threads as there are processors take work, or are about to.
  private func hasEnough(_ state: State) -> Bool {
    let running = state.threads - state.idle - (state.watch == .none ? 0 : 1)
    guard running >= processors else { return false }
    let recently = ContinuousClock.now - .microseconds(patience)
    return running - state.begun.count { $0 <= recently } >= processors
  }

  private func run() {
    var last: Done? = .rest
    while let done = last { last = step(after: done) }
  }

  /// Does the next thing of a thread. Returns `nil` if the thread ends.
  private func step(after done: Done) -> Done? {
    let (step, wakesThread) = state.withLock { next(&$0, after: done) }
    if wakesThread { wake.signal() }
    switch step {
    case .run(let work, let begun):
      work()
      return .work(begun: begun)
    case .watch:
      Pause.microseconds(patience)
      return .watch
    case .rest: return isOver() ? nil : .rest
    }
  }

  /// Chooses what a thread does, and whether to wake an idle one.
  private func next(_ state: inout State, after done: Done) -> (Step, wakesThread: Bool) {
    var joins = false
    switch done {
    case .work(let begun):
      if let index = state.begun.firstIndex(of: begun) { state.begun.remove(at: index) }
    case .watch:
      if !state.isEmpty, hasEnough(state) { return (.watch, false) }
      state.watch = .none
      joins = true
    case .rest: break
    }
    if state.watch == .wanted {
      state.watch = .begun
      return (.watch, false)
    }
    guard !state.isEmpty else {
      state.idle += 1
      return (.rest, false)
    }
    let (work, now) = (take(&state), ContinuousClock.now)
    state.begun.append(now)
    // Others may wait as long as this one did.
    let wakesThread = joins && !state.isEmpty ? try? callThread(&state) : nil
    return (.run(work, begun: now), wakesThread ?? false)
  }

  /// Takes the first waiting item.
  private func take(_ state: inout State) -> @Sendable () -> Void {
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

  /// Waits for work. Returns whether there was none for a second, so that the thread ends.
  private func isOver() -> Bool {
    guard wake.wait(timeout: .now() + 1) == .timedOut else { return false }
    let isOver = state.withLock { state in
      guard state.idle > 0 else { return false }
      state.idle -= 1
      state.threads -= 1
      return true
    }
    // Every thread that waits has been counted as woken, so that one of the signals is for this thread.
    if !isOver { wake.wait() }
    return isOver
  }
}
