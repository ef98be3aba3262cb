import CDTPlatform
import CDTSQLite
import Dispatch
import Synchronization

/// The single writing connection, behind a lock that is not reentrant and times out after the busy timeout. The
/// connection is opened for the first write.
final class WriterLock: Sendable {
  /// Lets one thread at a time access `state`. Two stores can be written inside each other in both orders at once, so
  /// the wait must time out.
  private let turn = DispatchSemaphore(value: 1)
  private let state = Mutex(State())
  /// It has the number of the thread that holds the writer, or 0.
  private let suspension: Suspension
  /// Whether the holder must close the connection when it is done.
  private let isClosing = Atomic(false)
  private let open: @Sendable () throws -> Connection
  private let timeout: Duration

  private struct State: @unchecked Sendable {
    // Sendable without a lock: it is inside the Mutex above.
    var writer: SessionWriter?
    var isClosed = false
  }

  init(
    timeout: Duration, _ suspension: Suspension, open: @escaping @Sendable () throws -> Connection
  ) {
    (self.timeout, self.suspension) = (timeout, suspension)
    self.open = open
  }

  /// Waits for the writer and runs `body` with it.
  ///
  /// - Throws: ``DatastoreError`` with the code `.nestedWrite` on the thread that holds the writer, `.busy` if another
  ///   thread holds it for longer than the busy timeout, `.closed` after closing, `.suspended`.
  func withConnection<R>(
    named name: String, stop: StopSignal?, _ body: (SessionWriter) throws -> R
  ) throws -> R {
    let thread = CurrentThread.number
    // Only this thread can have stored its own number, so a relaxed load is enough.
    guard suspension.writer.load(ordering: .relaxed) != thread else {
      throw DatastoreError(.nestedWrite(name))
    }
    guard try waitForTurn(stop) else { throw DatastoreError(.busyHere(name, timeout)) }
    defer { turn.signal() }
    return try state.withLock { state in
      guard !state.isClosed else { throw DatastoreError(.closed(name)) }
      try suspension.check()
      let writer = try state.writer ?? SessionWriter(open())
      state.writer = writer
      if let stop { writer.connection.setProgressCheck { !stop.isSet } }
      suspension.writer.store(thread, ordering: .relaxed)
      defer {
        suspension.writer.store(0, ordering: .relaxed)
        writer.connection.setProgressCheck(nil)
        // A rollback can fail without memory.
        if writer.connection.isInTransaction || suspension.isSuspended { writer.connection.close() }
        if writer.connection.isClosed { state.writer = nil }
        if isClosing.load(ordering: .relaxed) { close(&state) }
      }
      do {
        return try body(writer)
      } catch let error as SQLiteError where error.isReadOnly {
        // SQLite opens a file for reading if it can't open it for writing, also for lack of file descriptors. The next
        // write opens it again.
        writer.connection.close()
        throw error
      }
    }
  }

  /// Whether this thread is inside ``withConnection(named:_:)``.
  var isHeldByThisThread: Bool { suspension.writer.load(ordering: .relaxed) == CurrentThread.number }

  /// A caller checks every few milliseconds whether it is stopped.
  private func waitForTurn(_ stop: StopSignal?) throws -> Bool {
    let end = DispatchTime.now() + timeout.dispatchInterval
    while turn.wait(timeout: min(end, .now() + .milliseconds(5))) != .success {
      try stop?.check()
      try suspension.check()
      if DispatchTime.now() >= end { return false }
    }
    return true
  }

  /// Closes the connection if nobody writes. The next write opens it again.
  func closeIfIdle() {
    guard turn.wait(timeout: .now()) == .success else { return }
    defer { turn.signal() }
    state.withLock { state in
      state.writer?.connection.close()
      state.writer = nil
    }
  }

  /// Closes the connection, after a write in progress.
  func close() {
    guard suspension.writer.load(ordering: .relaxed) != CurrentThread.number else {
      return isClosing.store(true, ordering: .relaxed)
    }
    state.withLock { close(&$0) }
  }

  private func close(_ state: inout State) {
    state.writer?.connection.close()
    state = State(isClosed: true)
  }
}
