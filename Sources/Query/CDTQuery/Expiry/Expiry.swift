import CDTPlatform
import Synchronization

/// The rules by which the documents of a datastore expire, the clock, and the time of the next deletion.
final class Expiry: Sendable {
  private let isActive = Atomic(false)
  private let rules = Mutex<[ExpiryRule]>([])
  private let changes = Atomic(0)
  private let clock = Mutex(Clock { Date().timeIntervalSince1970 })
  private let alarm = Mutex<Alarm?>(nil)
  /// The time until which nothing is deleted, since deletions have failed.
  private let pauseEnd = Mutex(-Double.infinity)

  /// A function in a lock of its own would be wrapped once more with each access.
  private struct Clock: Sendable {
    let time: @Sendable () -> Double
  }

  private struct Alarm {
    let time: Double
    let task: Task<Void, Never>
  }

  /// The longest wait before the clock is read again, in case it was set; also the pause after a failure.
  private static let longestWait = 60.0

  /// Whether there is any rule.
  var hasRules: Bool { isActive.load(ordering: .acquiring) }

  /// A number that changes with the rules.
  var generation: Int { changes.load(ordering: .acquiring) }

  /// The current time, in seconds since 1970.
  var now: Double { clock.withLock { $0 }.time() }

  func setClock(_ clock: @escaping @Sendable () -> Double) {
    self.clock.withLock { $0 = Clock(time: clock) }
  }

  /// Takes the rules of the indexes that there are.
  func follow(_ definitions: [IndexDefinition]) {
    let found = definitions.compactMap { ExpiryRule($0) }
    rules.withLock { rules in
      if rules != found { changes.add(1, ordering: .releasing) }
      rules = found
    }
    isActive.store(!found.isEmpty, ordering: .releasing)
  }

  /// Takes the rules of the indexes in a file, of which there are mostly none.
  func follow(_ entries: [IndexCatalog.Entry]) {
    if hasRules || !entries.isEmpty { follow(entries.map(\.definition)) }
  }

  /// The time from which on a document has expired; `nil` if it does not expire.
  func time(of document: DocumentBytes) -> Double? {
    rules.withLock { $0 }.compactMap { $0.time(of: document) }.min()
  }

  func hasExpired(_ document: DocumentBytes, at instant: Double) -> Bool {
    time(of: document).map { $0 <= instant } ?? false
  }

  /// Whether deletions have to wait. The clock may have been set back since.
  var isPaused: Bool {
    let rest = pauseEnd.withLock { $0 } - now
    return rest > 0 && rest <= Self.longestWait
  }

  /// Sets whether deletions have to wait, as some documents can't be deleted now.
  func pause(_ isPaused: Bool) {
    let end = isPaused ? now + Self.longestWait : -.infinity
    pauseEnd.withLock { $0 = end }
  }

  /// Schedules a closure. A time in the past means the end of the pause. Does nothing if an earlier call is scheduled.
  func wake(at time: Double?, _ body: @escaping @Sendable () -> Void) {
    guard var time else { return }
    let now = now
    if time <= now, isPaused { time = pauseEnd.withLock { $0 } }
    let wait = min(max(0, time - now), Self.longestWait)
    alarm.withLock { alarm in
      if let known = alarm, known.time <= time { return }
      alarm?.task.cancel()
      let task = Task.detached { [weak self] in
        guard (try? await Task.sleep(for: .seconds(wait))) != nil else { return }
        self?.alarm.withLock { $0 = nil }
        body()
      }
      alarm = Alarm(time: time, task: task)
    }
  }

  func close() {
    alarm.withLock { alarm in
      alarm?.task.cancel()
      alarm = nil
    }
  }
}
