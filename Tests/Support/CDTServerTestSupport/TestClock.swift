package import CDTServer
import CDTTestSupport
import Synchronization

/// A clock that stands still until a test moves it. Sleeping doesn't move it, and takes no time unless it is held.
package final class TestClock: Sendable {
  private struct State {
    var uptime = Duration.zero
    var sleeps: [Duration] = []
    var isHeld = false
    var sleepers: [CheckedContinuation<Void, Never>] = []
  }

  package static let start: Int64 = 1_700_000_000

  private let state = Mutex(State())

  package init() {}

  package var clock: ServerClock {
    ServerClock(
      seconds: { Self.start + self.uptime.components.seconds }, uptime: { self.uptime },
      sleep: { await self.sleep($0) })
  }

  package var uptime: Duration { state.withLock { $0.uptime } }

  /// The times for which callers have asked to sleep.
  package var sleeps: [Duration] { state.withLock { $0.sleeps } }

  package func advance(by duration: Duration) { state.withLock { $0.uptime += duration } }

  private func sleep(_ duration: Duration) async {
    await withCheckedContinuation { continuation in
      let isHeld = state.withLock { state in
        state.sleeps.append(duration)
        if state.isHeld { state.sleepers.append(continuation) }
        return state.isHeld
      }
      if !isHeld { continuation.resume() }
    }
  }

  /// Makes sleepers sleep until ``release()``.
  package func hold() { state.withLock { $0.isHeld = true } }

  package func release() {
    let sleepers = state.withLock { state in
      defer { state.sleepers = [] }
      state.isHeld = false
      return state.sleepers
    }
    for sleeper in sleepers { sleeper.resume() }
  }

  /// Waits until so many sleep.
  package func waitForSleepers(_ count: Int) async throws {
    try await eventually("\(count) sleep") { state.withLock { $0.sleepers.count } >= count }
  }
}
