import Glibc
import SQLite
import Synchronization

/// The one connection that writes, behind a lock that refuses its own holder instead of waiting for it.
final class WriterLock: Sendable {
  private let connection: Mutex<Held>
  /// The thread that holds the lock, or 0.
  private let holder = Atomic<UInt>(0)

  private struct Held: @unchecked Sendable {
    // Sendable without a lock of its own: it lies under the Mutex above.
    var connection: Connection?
  }

  init(_ connection: sending Connection) {
    self.connection = Mutex(Held(connection: connection))
  }

  /// Waits for the writer and runs `body` with it.
  ///
  /// - Throws: ``DatastoreError`` with the code `.nestedWrite` on the thread that has it, `.closed` after closing.
  func withConnection<R>(named name: String, _ body: (Connection) throws -> R) throws -> R {
    let thread = UInt(pthread_self())
    // Only this thread can have written its own number there, so a relaxed look is enough.
    guard holder.load(ordering: .relaxed) != thread else { throw DatastoreError.nestedWrite(name) }
    return try connection.withLock { held in
      guard let connection = held.connection else { throw DatastoreError.closed(name) }
      holder.store(thread, ordering: .relaxed)
      defer { holder.store(0, ordering: .relaxed) }
      return try body(connection)
    }
  }

  /// Releases the connection, after the write that has it.
  func close() {
    guard holder.load(ordering: .relaxed) != UInt(pthread_self()) else { return }
    connection.withLock { held in
      held.connection?.close()
      held.connection = nil
    }
  }
}
