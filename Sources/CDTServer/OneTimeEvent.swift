import Synchronization

/// Something that happens once, such as the end of a server, and that tasks wait for.
final class OneTimeEvent: Sendable {
  private struct State {
    var hasHappened = false
    var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    var next = 0
  }

  private let state = Mutex(State())

  /// Ends every wait.
  func happen() {
    let waiting = state.withLock { state in
      state.hasHappened = true
      defer { state.waiting = [:] }
      return state.waiting.values
    }
    for continuation in waiting { continuation.resume() }
  }

  var hasHappened: Bool { state.withLock { $0.hasHappened } }

  /// Waits for it, or for the cancellation of the task.
  func wait() async {
    let id = state.withLock { state in
      state.next += 1
      return state.next
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if state.hasHappened || Task.isCancelled { return true }
          state.waiting[id] = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
    }
  }
}
