import FoundationEssentials
import Glibc
import SQLite
import Synchronization

/// The one connection that writes, behind a lock that refuses its own holder instead of waiting for it. It is opened for
/// the first write.
final class WriterLock: Sendable {
  private let connection = Mutex(Held())
  /// The thread that holds the lock, or 0.
  private let holder = Atomic<UInt>(0)
  /// Whether the connection is to be closed when its holder is done with it.
  private let isClosing = Atomic(false)
  private let open: @Sendable () throws -> Connection

  private struct Held: @unchecked Sendable {
    // Sendable without a lock of its own: it lies under the Mutex above.
    var writer: SessionWriter?
    var isClosed = false
  }

  init(open: @escaping @Sendable () throws -> Connection) {
    self.open = open
  }

  /// Waits for the writer and runs `body` with it.
  ///
  /// - Throws: ``DatastoreError`` with the code `.nestedWrite` on the thread that has it, `.closed` after closing.
  func withConnection<R>(named name: String, _ body: (SessionWriter) throws -> R) throws -> R {
    let thread = UInt(pthread_self())
    // Only this thread can have written its own number there, so a relaxed look is enough.
    guard holder.load(ordering: .relaxed) != thread else { throw DatastoreError.nestedWrite(name) }
    return try connection.withLock { held in
      guard !held.isClosed else { throw DatastoreError.closed(name) }
      let writer = try held.writer ?? SessionWriter(open())
      held.writer = writer
      holder.store(thread, ordering: .relaxed)
      defer {
        holder.store(0, ordering: .relaxed)
        if isClosing.load(ordering: .relaxed) { close(&held) }
      }
      return try body(writer)
    }
  }

  /// Releases the connection, after the write that has it.
  func close() {
    guard holder.load(ordering: .relaxed) != UInt(pthread_self()) else {
      return isClosing.store(true, ordering: .relaxed)
    }
    connection.withLock { close(&$0) }
  }

  private func close(_ held: inout Held) {
    held.writer?.connection.close()
    held = Held(isClosed: true)
  }
}

/// The writing connection, and the mark that it leaves of itself with its first write.
///
/// A session is the life of one writer. Which session wrote a sequence tells two histories apart that have the same
/// sequences: one that went on from a backup, and the one that was there before the backup was brought back.
final class SessionWriter {
  let connection: Connection
  private var isRecorded = false
  /// How many sessions are kept: a process that writes once leaves one, too.
  private static let kept = 1_000

  init(_ connection: Connection) {
    self.connection = connection
  }

  /// Runs a transaction that ends on disk, or leaves nothing.
  func transaction<R>(_ body: (Connection) throws -> R) throws -> R {
    let result = try connection.transaction(.immediate) {
      if !isRecorded { try record() }
      return try body(connection)
    }
    isRecorded = true
    return result
  }

  private func record() throws {
    let statement = try connection.statement(
      "INSERT OR REPLACE INTO sessions SELECT coalesce(max(sequence), 0) + 1, ?1 FROM documents")
    try statement.bind(UUID().uuidString.lowercased(), at: 1)
    try statement.run()
    // An index that was last complete before all that is kept is made again.
    try connection.execute(
      """
      DELETE FROM sessions
       WHERE start < (SELECT start FROM sessions ORDER BY start DESC LIMIT 1 OFFSET \(Self.kept - 1))
      """)
  }
}
