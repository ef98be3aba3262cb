import CDTPlatform
import Synchronization

/// The threads of the process that run asynchronous operations, so that none of Swift's pool waits for the disk. See
/// `docs/decisions/9-asynchronous-operations-on-own-threads.md`.
extension WorkQueue {
  static let reads = WorkQueue(threads: 8)
  /// Queries may take long, so they have their own threads, and other reads need not wait for them.
  static let queries = WorkQueue(threads: 32)
  /// For attachments and other files.
  static let files = WorkQueue(threads: 8)
  /// For opening, closing and deleting datastores.
  static let opening = WorkQueue(threads: 4)
  /// For imports, index builds and other long operations, which take turns at writing batch by batch.
  static let long = WorkQueue(threads: 16)
  /// For imports that clients of a server send: any number of them must leave the others a turn.
  static let imports = WorkQueue(threads: 4)
  /// For backups that clients of a server ask for, so that no index build waits for them.
  static let backups = WorkQueue(threads: 2)

  /// Runs `body` on a thread, and stops it if the task is cancelled or its deadline passes.
  func run<R: Sendable>(
    signal: StopSignal = StopSignal(), isolation: isolated (any Actor)? = #isolation,
    _ body: @escaping @Sendable (StopSignal) throws -> R
  ) async throws -> R {
    try Task.checkCancellation()
    if let deadline = Datastore.deadline, deadline <= .now { throw DatastoreError(.timedOut) }
    let operation = AsyncOperation(signal, body)
    let timer = Datastore.deadline.map { DeadlineTimer($0) { operation.stop { $0.expire() } } }
    defer { timer?.cancel() }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        operation.begin(continuation)
        do throws(SystemError) {
          try add { operation.run() }
        } catch {
          operation.finish(.failure(DatastoreError(.noThread(error))))
        }
      }
    } onCancel: {
      operation.stop { $0.cancel() }
    }
  }
}

extension Datastore {
  /// Runs `body` on a thread that may wait for files.
  package static func useFiles<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await WorkQueue.files.run { _ in try body() }
  }
}

/// A call that waits for its turn, runs, and is resumed once, after its body has been released.
private final class AsyncOperation<R: Sendable>: Sendable {
  typealias Body = @Sendable (StopSignal) throws -> R

  private struct State {
    var continuation: CheckedContinuation<R, any Error>?
    var body: Body?
    var isRunning = false
  }

  private let state: Mutex<State>
  private let signal: StopSignal

  init(_ signal: StopSignal, _ body: @escaping Body) {
    state = Mutex(State(body: body))
    self.signal = signal
  }

  func begin(_ continuation: CheckedContinuation<R, any Error>) {
    state.withLock { $0.continuation = continuation }
    // A stop before the continuation existed could not resume it.
    if signal.isSet { stop { _ in } }
  }

  func run() {
    if let result = result() { finish(result) }
  }

  /// Runs the body, unless the operation has been stopped.
  private func result() -> Result<R, any Error>? {
    let body = state.withLock { state in
      state.isRunning = state.body != nil
      return state.body.take()
    }
    guard let body else { return nil }
    return Result {
      do {
        return try body(signal)
      } catch let error as DatastoreError where [.interrupted, .busy].contains(error.code) {
        // The statement, or the wait for a lock, ended because of the signal.
        try signal.check()
        throw error
      }
    }
  }

  /// Ends a waiting operation immediately; a running one ends when it checks the signal.
  func stop(_ set: (StopSignal) -> Void) {
    set(signal)
    let isRunning = state.withLock { $0.isRunning }
    guard !isRunning else { return }
    do { try signal.check() } catch { finish(.failure(error), unlessRunning: true) }
  }

  func finish(_ result: Result<R, any Error>, unlessRunning: Bool = false) {
    let (continuation, _) = state.withLock { state -> (CheckedContinuation<R, any Error>?, Body?) in
      if unlessRunning && state.isRunning { return (nil, nil) }
      return (state.continuation.take(), state.body.take())
    }
    continuation?.resume(with: result)
  }
}
