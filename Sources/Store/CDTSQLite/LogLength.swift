import CDTCSQLite
import CDTPlatform

/// The length of the write-ahead log of a connection's main database, as of the connection's last commit.
///
/// Counting replaces SQLite's automatic checkpoint, as a connection has only one hook; call
/// ``Connection/shortenLog()`` instead.
package final class LogLength {
  /// The length of the log in pages at which it should be checkpointed.
  ///
  /// Large transactions change the same pages again, so a longer log saves copies, and a checkpoint is short beside them.
  /// Small ones would have to wait for it.
  package static let limit = (small: 1_000, large: 3_000)

  /// The number of pages from which on a transaction is a large one.
  static let large = 100

  /// The length in pages from which a checkpoint waits for readers, so that the log can restart: 36 MB. A longer file
  /// is shortened to this length when the log restarts.
  package static let waitingLimit = 9_000

  /// The time that a checkpoint waits for readers of a log of ``waitingLimit`` pages; longer for a longer log.
  static let wait = Duration.milliseconds(100)
  static let longestWait = Duration.seconds(2)

  /// In pages.
  package fileprivate(set) var pages = 0 {
    didSet { isLarge = pages - oldValue >= Self.large }
  }
  /// Whether the last transaction was a large one.
  private var isLarge = false
  /// The length at the last checkpoint, in pages; 0 after the log was restarted.
  fileprivate var copied = 0

  /// Whether the log should be checkpointed now. While readers prevent a restart, the log grows by a part of the limit,
  /// or by half of its length if the checkpoint waits, before the next attempt.
  var isCheckpointDue: Bool {
    if pages < copied { copied = 0 }
    let (limit, growth) =
      isLarge ? (Self.limit.large, Self.limit.large / 4) : (Self.limit.small, Self.limit.small / 25)
    return pages >= max(limit, copied + (copied < Self.waitingLimit ? growth : copied / 2))
  }
}

extension Connection {
  /// Counts the pages of the log until the connection is closed.
  @discardableResult
  package func countLog() throws(SQLiteError) -> LogLength {
    guard let handle else { throw .closed(nil) }
    let pageSize = try scalar("PRAGMA main.page_size")
    try execute("PRAGMA main.journal_size_limit = \(Int64(LogLength.waitingLimit) * pageSize)")
    let length = LogLength()
    logLength = length
    sqlite3_wal_hook(
      handle,
      { context, _, _, pages in
        if let context { Unmanaged<LogLength>.fromOpaque(context).takeUnretainedValue().pages = Int(pages) }
        return SQLITE_OK
      }, Unmanaged.passUnretained(length).toOpaque())
    return length
  }

  /// Checkpoints the log if it is long. Call it after a commit, outside of a transaction.
  ///
  /// A checkpoint copies as much as readers' snapshots allow. If that is the whole log, and no reader uses the log, the
  /// next write restarts it. With readers that overlap, this may never be the case, so the checkpoint of a very long log
  /// waits until the present readers have ended; later ones don't need the log. Writers wait in the meantime.
  ///
  /// - Throws: ``SQLiteError`` if the index of the log is wrong, so that the last commit may be lost. What can't be
  ///   checkpointed for another reason stays in the log, where it can be read.
  package func shortenLog() throws(SQLiteError) {
    guard let logLength, logLength.isCheckpointDue else { return }
    let lengths = Double(logLength.pages) / Double(LogLength.waitingLimit)
    let wait = lengths < 1 ? .zero : min(LogLength.wait * lengths, LogLength.longestWait)
    do throws(SQLiteError) {
      _ = try checkpoint(lengths < 1 ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_RESTART, waiting: wait)
    } catch {
      if try hasWrongLogIndex() { throw error }
      // Somebody else makes a checkpoint. The next commit tries again.
      if error.isBusy || error.isSuspended { return }
    }
    logLength.copied = logLength.pages
  }

  /// Checkpoints the log as far as readers' snapshots allow, and cuts the file if that is the whole log. It waits for nobody.
  ///
  /// - Throws: ``SQLiteError`` if the index of the log is wrong.
  package func cutLog() throws(SQLiteError) {
    do throws(SQLiteError) {
      _ = try checkpoint(SQLITE_CHECKPOINT_TRUNCATE, waiting: .zero)
    } catch {
      if try hasWrongLogIndex() { throw error }
    }
  }

  /// Checkpoints the log as far as readers' snapshots allow.
  ///
  /// - Parameter writer: Another connection to the file of which the caller has the write transaction, or `nil`.
  /// - Returns: Whether that is the whole log; `false` also if another connection writes or is making a checkpoint.
  package func checkpointsWholeLog(whileLockedBy writer: Connection? = nil) throws(SQLiteError) -> Bool {
    // A new connection does not know of the log before its first read.
    _ = try scalar("PRAGMA schema_version")
    let isLent = writer?.handle.map { sqlite3_txn_state($0, "main") == SQLITE_TXN_WRITE } ?? false
    setWriteLockLent(isLent)
    defer { setWriteLockLent(false) }
    do throws(SQLiteError) {
      let (frames, copied) = try checkpoint(SQLITE_CHECKPOINT_PASSIVE, waiting: .zero)
      return frames >= 0 && copied == frames
    } catch {
      guard error.isBusy else { throw error }
      return false
    }
  }

  private func setWriteLockLent(_ isLent: Bool) {
    handle.flatMap { CheckedFile.of("main", in: $0) }?.isWriteLockLent = isLent
  }

  /// - Parameter duration: The time to wait in total for a checkpoint or a write of another connection, and for readers.
  private func checkpoint(
    _ mode: Int32, waiting duration: Duration
  ) throws(SQLiteError) -> (frames: Int32, copied: Int32) {
    guard let handle else { throw .closed("checkpoint") }
    var (frames, copied): (Int32, Int32) = (-1, -1)
    let deadline = ContinuousClock.now + duration
    let code = try waiting(atMost: duration) { () throws(SQLiteError) in
      while true {
        let code = sqlite3_wal_checkpoint_v2(handle, "main", mode, &frames, &copied)
        // SQLite does not wait for the lock of checkpoints.
        guard code & 0xFF == SQLITE_BUSY, ContinuousClock.now < deadline, interruption.mayContinue() else {
          return code
        }
        Sleep.microseconds(500)
      }
    }
    if try hasWrongLogIndex(), let file = sqlite3_db_filename(handle, "main") {
      throw .wrongLogIndex(of: String(cString: file))
    }
    // Without a number of frames nothing was copied. With one, readers or a writer have stayed.
    guard code == SQLITE_OK || (code & 0xFF == SQLITE_BUSY && frames >= 0) else {
      throw error(code, sql: nil)
    }
    return (frames, copied)
  }

  private func hasWrongLogIndex() throws(SQLiteError) -> Bool {
    guard let handle else { throw .closed("checkpoint") }
    return Self.fileWithWrongLogIndex(handle) != nil
  }

  /// The database file of a connection whose log's index was found wrong.
  static func fileWithWrongLogIndex(_ handle: OpaquePointer) -> String? {
    CheckedFile.first(in: handle) { $0.isLogIndexWrong }?.path
  }
}
