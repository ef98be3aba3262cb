import CDTDatastore
import Synchronization

/// Ends what waits for changes when the server stops.
final class Shutdown: Sendable {
  enum Outcome: Sendable {
    case changed, ended, tooLate
  }

  private struct State {
    var hasBegun = false
    var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    var next = 0
  }

  private let state = Mutex(State())

  /// Ends every wait.
  func begin() {
    let waiting = state.withLock { state in
      state.hasBegun = true
      defer { state.waiting = [:] }
      return state.waiting.values
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Waits until a listener of a datastore has heard more than some commits.
  func waiting(
    for listener: ChangeListener, since heard: UInt64, until deadline: ContinuousClock.Instant
  ) async throws -> Outcome {
    try await withThrowingTaskGroup(of: Outcome.self) { group in
      group.addTask {
        await listener.wait(since: heard)
        return .changed
      }
      group.addTask {
        try await Task.sleep(until: deadline, clock: .continuous)
        return .tooLate
      }
      group.addTask {
        await self.begun()
        return .ended
      }
      defer { group.cancelAll() }
      return try await group.next() ?? .ended
    }
  }

  /// Waits for the shutdown, or for the cancellation of the task.
  private func begun() async {
    let id = state.withLock { state in
      state.next += 1
      return state.next
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if state.hasBegun || Task.isCancelled { return true }
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
