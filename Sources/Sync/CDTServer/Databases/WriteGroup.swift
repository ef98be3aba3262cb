import CDTDatastore
import Synchronization

/// Lets the writes of concurrent requests share commits, as each commit waits for the disk.
///
/// While a commit is under way, writes wait; then all that wait run in one transaction. A write is answered when the
/// transaction is on disk. An error of one, such as a conflict, does not fail the others.
final class WriteGroup: Sendable {
  private struct Operation: Sendable {
    /// Runs the write, and returns how to answer it: with its own result, or with the error of the commit.
    let run: @Sendable (WriteTransaction) throws -> @Sendable ((any Error)?) -> Void
    /// Answers with an error.
    let fail: @Sendable (any Error) -> Void
  }

  private struct State {
    var waiting: [Operation] = []
    var isRunning = false
  }

  private let store: Datastore
  private let state = Mutex(State())

  /// The largest number of writes in a transaction.
  private static let limit = 1_000

  init(_ store: Datastore) {
    self.store = store
  }

  /// Runs a write, together with others. An error of the closure is thrown to its caller alone, and does not roll back what the
  /// closure has changed before.
  ///
  /// - Parameter rules: The rules of the user who writes.
  func writeWithoutRollback<R: Sendable>(
    under rules: some DocumentRules, _ body: @escaping @Sendable (WriteTransaction) throws -> R
  ) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      let operation = Operation { transaction in
        let result = Result { try transaction.enforcing(rules) { try body(transaction) } }
        return { error in continuation.resume(with: error.map { .failure($0) } ?? result) }
      } fail: {
        continuation.resume(throwing: $0)
      }
      let isFirst = state.withLock { state in
        state.waiting.append(operation)
        defer { state.isRunning = true }
        return !state.isRunning
      }
      if isFirst { Task { await self.runAll() } }
    }
  }

  private func runAll() async {
    while true {
      let operations = state.withLock { state in
        let next = Array(state.waiting.prefix(Self.limit))
        state.waiting.removeFirst(next.count)
        if next.isEmpty { state.isRunning = false }
        return next
      }
      if operations.isEmpty { return }
      // If a transaction fails, one of its writes may have met the error, so each gets a transaction of its own.
      var groups = [operations]
      while let group = groups.popLast() {
        do {
          let answers = try await store.write { transaction in try group.map { try $0.run(transaction) } }
          for answer in answers { answer(nil) }
        } catch {
          if group.count > 1 { groups = group.reversed().map { [$0] } } else { group[0].fail(error) }
        }
      }
    }
  }
}
