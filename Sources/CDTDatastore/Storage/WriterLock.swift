import CDTPlatform
import Dispatch
import SQLite
import Synchronization

/// The one connection that writes, behind a lock that refuses its own holder and that nobody waits for longer than the
/// busy timeout. The connection is opened for the first write.
final class WriterLock: Sendable {
  /// Lets one thread at a time pass to `state`. Two stores may be written within each other in both orders at once, so the
  /// waiting has to end.
  private let turn = DispatchSemaphore(value: 1)
  private let state = Mutex(State())
  /// The thread whose turn it is, or 0.
  private let holder = Atomic<UInt>(0)
  /// Whether the connection is to be closed when its holder is done with it.
  private let isClosing = Atomic(false)
  private let open: @Sendable () throws -> Connection
  private let timeout: Duration

  private struct State: @unchecked Sendable {
    // Sendable without a lock of its own: it lies under the Mutex above.
    var writer: SessionWriter?
    var isClosed = false
  }

  init(timeout: Duration, open: @escaping @Sendable () throws -> Connection) {
    self.timeout = timeout
    self.open = open
  }

  /// Waits for the writer and runs `body` with it.
  ///
  /// - Throws: ``DatastoreError`` with the code `.nestedWrite` on the thread that has it, `.busy` when another thread has
  ///   it for longer than the busy timeout, `.closed` after closing.
  func withConnection<R>(named name: String, _ body: (SessionWriter) throws -> R) throws -> R {
    let thread = CurrentThread.number
    // Only this thread can have written its own number there, so a relaxed look is enough.
    guard holder.load(ordering: .relaxed) != thread else { throw DatastoreError.nestedWrite(name) }
    guard turn.wait(timeout: .now() + timeout.dispatchInterval) == .success else {
      throw DatastoreError.busyHere(name, timeout)
    }
    defer { turn.signal() }
    return try state.withLock { state in
      guard !state.isClosed else { throw DatastoreError.closed(name) }
      let writer = try state.writer ?? SessionWriter(open())
      state.writer = writer
      holder.store(thread, ordering: .relaxed)
      defer {
        holder.store(0, ordering: .relaxed)
        if isClosing.load(ordering: .relaxed) { close(&state) }
      }
      return try body(writer)
    }
  }

  /// Releases the connection, after the write that has it.
  func close() {
    guard holder.load(ordering: .relaxed) != CurrentThread.number else {
      return isClosing.store(true, ordering: .relaxed)
    }
    state.withLock { close(&$0) }
  }

  private func close(_ state: inout State) {
    state.writer?.connection.close()
    state = State(isClosed: true)
  }
}

extension Duration {
  /// The duration as Dispatch takes it; the longest that it takes for those beyond.
  fileprivate var dispatchInterval: DispatchTimeInterval {
    let (seconds, attoseconds) = components
    guard seconds < 1_000_000_000 else { return .seconds(1_000_000_000) }
    return .nanoseconds(Int(max(0, seconds)) * 1_000_000_000 + Int(attoseconds / 1_000_000_000))
  }
}
