import Synchronization

/// The wish to end a replication at the next batch boundary.
package final class ReplicationStop: Sendable {
  private struct State {
    var isSet = false
    var next = 0
    var waiting: [Int: @Sendable () -> Void] = [:]
  }

  private let state = Mutex(State())

  package init() {}

  package var isSet: Bool { state.withLock { $0.isSet } }

  /// Ends the replication. What waits ends at once.
  package func set() {
    let waiting = state.withLock { state in
      state.isSet = true
      return state.waiting.values
    }
    for cancel in waiting { cancel() }
  }

  /// Runs something that waits, which is cancelled when the replication is to end.
  ///
  /// - Returns: `nil` if the replication is to end.
  package func interruptible<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) async throws -> R?
  {
    let task = Task { try await body() }
    let key = state.withLock { state -> Int? in
      guard !state.isSet else { return nil }
      state.next += 1
      state.waiting[state.next] = { task.cancel() }
      return state.next
    }
    guard let key else {
      task.cancel()
      return nil
    }
    defer { state.withLock { _ = $0.waiting.removeValue(forKey: key) } }
    do {
      return try await withTaskCancellationHandler {
        try await task.value
      } onCancel: {
        task.cancel()
      }
    } catch is CancellationError {
      try Task.checkCancellation()
      guard isSet else { throw CancellationError() }
      return nil
    }
  }
}
