import Synchronization

/// Tasks that go on when their request has been answered. The server waits for them before it ends, for some time.
final class BackgroundTasks: Sendable {
  private struct State {
    var tasks: [Int: Task<Void, Never>] = [:]
    var next = 0
  }

  private let state = Mutex(State())

  func add(_ body: @escaping @Sendable () async -> Void) {
    state.withLock { state in
      let number = state.next
      state.next += 1
      state.tasks[number] = Task {
        await body()
        self.state.withLock { $0.tasks[number] = nil }
      }
    }
  }

  /// Waits for all tasks, and cancels them if the task that waits is cancelled.
  func wait() async {
    while let task = state.withLock({ $0.tasks.first }) {
      await withTaskCancellationHandler {
        await task.value.value
      } onCancel: {
        task.value.cancel()
      }
      state.withLock { $0.tasks[task.key] = nil }
    }
  }
}
