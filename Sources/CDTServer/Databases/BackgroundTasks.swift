import Synchronization

/// Tasks that go on when their request has been answered. The server waits for them before it ends.
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

  func wait() async {
    while let task = state.withLock({ $0.tasks.first }) {
      await task.value.value
      state.withLock { $0.tasks[task.key] = nil }
    }
  }
}
