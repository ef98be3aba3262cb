import CDTPlatform
import Synchronization

/// The schedule by which the documents of a datastore expire: the rules, the clock, and an alarm for the next document that does.
package final class ExpirySchedule: Sendable {
  private struct State {
    var rules: [ExpiryRule] = []
    var generation = 0
    var clock: @Sendable () -> Double = { Date().timeIntervalSince1970 }
    var ring: @Sendable () -> Void = {}
    var alarm: (time: Double, task: Task<Void, Never>)?
    /// The time until which nothing is deleted, since deletions have failed.
    var pauseEnd = -Double.infinity
  }

  private let state = Mutex(State())
  /// Whether there are rules. Each read asks, and takes no lock for it.
  private let isActive = Atomic(false)

  /// The longest wait before the clock is read again, in case it was set; also the pause after a failure.
  private static let longestWait = 60.0

  /// Sets the work for the times at which documents expire.
  func start(_ ring: @escaping @Sendable () -> Void) {
    state.withLock { $0.ring = ring }
  }

  /// Ends the alarm.
  func close() {
    state.withLock { $0.alarm.take()?.task.cancel() }
  }

  // MARK: Rules

  /// Whether there is any rule.
  package var hasRules: Bool { isActive.load(ordering: .acquiring) }

  /// A number that changes with the rules.
  var generation: Int { state.withLock { $0.generation } }

  /// Takes the rules of the indexes that there are.
  func follow(_ definitions: [IndexDefinition]) {
    // There are mostly none.
    guard hasRules || !definitions.isEmpty else { return }
    let found = definitions.compactMap { ExpiryRule($0) }
    state.withLock { state in
      if state.rules != found { state.generation += 1 }
      state.rules = found
      isActive.store(!found.isEmpty, ordering: .releasing)
    }
  }

  /// The time from which on a document has expired; `nil` if it does not expire.
  package func time(of document: DocumentBytes) -> Double? {
    state.withLock { $0.rules }.compactMap { $0.time(of: document) }.min()
  }

  // MARK: Time

  /// The current time, in seconds since 1970.
  package var now: Double { state.withLock { $0.clock }() }

  func setClock(_ clock: @escaping @Sendable () -> Double) {
    state.withLock { $0.clock = clock }
  }

  /// Whether deletions have to wait. The clock may have been set back since.
  var isPaused: Bool {
    let rest = state.withLock { $0.pauseEnd } - now
    return rest > 0 && rest <= Self.longestWait
  }

  /// Sets whether deletions have to wait, as some documents can't be deleted now.
  func pause(_ isPaused: Bool) {
    let end = isPaused ? now + Self.longestWait : -.infinity
    state.withLock { $0.pauseEnd = end }
  }

  /// Sets the alarm, unless an earlier one is set. A time in the past means the end of the pause.
  package func wake(at time: Double?) {
    guard let time else { return }
    let (now, isPaused) = (now, isPaused)
    state.withLock { state in
      let time = time <= now && isPaused ? state.pauseEnd : time
      if let known = state.alarm, known.time <= time { return }
      state.alarm?.task.cancel()
      let wait = min(max(0, time - now), Self.longestWait)
      let task = Task.detached { [weak self] in
        guard (try? await Task.sleep(for: .seconds(wait))) != nil else { return }
        let ring = self?.state.withLock { state in
          state.alarm = nil
          return state.ring
        }
        ring?()
      }
      state.alarm = (time, task)
    }
  }
}
