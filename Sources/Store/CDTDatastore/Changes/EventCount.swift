import Synchronization

/// The number of times that something has happened, and the tasks that wait for it to happen again.
package final class EventCount: Sendable {
  private struct State {
    var count: UInt64 = 0
    var lastKey: UInt64 = 0
    var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
  }

  private let state = Mutex(State())

  package init() {}

  /// The number of events.
  package var value: UInt64 { state.withLock { $0.count } }

  /// Counts an event and wakes all waiting tasks.
  package func increment() {
    let waiting = state.withLock { state in
      state.count &+= 1
      defer { state.waiting = [:] }
      return state.waiting
    }
    for each in waiting.values { each.resume() }
  }

  /// Waits until the number of events differs from `count`, or the task is cancelled.
  package func wait(since count: UInt64, isolation: isolated (any Actor)? = #isolation) async {
    let key = state.withLock { state in
      state.lastKey &+= 1
      return state.lastKey
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isWaiting = state.withLock { state in
          // From here on, a cancelled task finds its continuation.
          guard state.count == count, !Task.isCancelled else { return false }
          state.waiting[key] = continuation
          return true
        }
        if !isWaiting { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiting.removeValue(forKey: key) }?.resume()
    }
  }
}
