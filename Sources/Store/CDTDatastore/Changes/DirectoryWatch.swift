import CDTPlatform
import CDTSQLite
import Dispatch
import Synchronization

/// Calls a closure when another process may have written to a datastore's files, until ``end()``.
///
/// The system reports writes to the files. If it can't, they are checked every half second. Either way one dedicated
/// thread waits, which needs no file descriptor beyond those of the system's events.
final class DirectoryWatch: Sendable {
  private let events: FileEvents?
  private let look: @Sendable () -> Void
  private let lookCount = Atomic(0)
  private let ended = DispatchSemaphore(value: 0)

  /// The time to wait after an event before each look, in milliseconds.
  ///
  /// SQLite writes a commit to its log, waits for the disk, and only then makes it visible, which causes no event.
  /// Most often that takes less than the first pause; on a disk under load it may take seconds.
  private static let pauses: [Int32] = [10, 50, 200, 800, 3_200, 12_800, 51_200]

  /// The names of the files to which a commit is written, of which SQLite locks none.
  static let fileNames = LogFile.logSuffixes.map { DatabaseFile.name + $0 }

  /// - Throws: ``DatastoreError`` with the code `.io` when the system has no thread left.
  init(_ directory: String, look: @escaping @Sendable () -> Void) throws(DatastoreError) {
    self.look = look
    events = FileEvents(directory, files: Self.fileNames)
    try FileSystem.perform(
      "start a thread to watch", directory, BlockingPool.run { [self] in run() })
  }

  /// Whether the system reports writes.
  var isEventDriven: Bool { events != nil }

  /// The number of calls of the closure.
  var looks: Int { lookCount.load(ordering: .relaxed) }

  /// Ends the thread, which then closes its files. Call it exactly once. A call of the closure may still be running.
  func end() {
    events?.end()
    ended.signal()
  }

  private func run() {
    if let events, lookAfterEvents(events) { return }
    while ended.wait(timeout: .now() + .milliseconds(500)) == .timedOut { lookNow() }
  }

  /// - Returns: Whether the watch has ended; `false` if the system reports no more events.
  private func lookAfterEvents(_ events: FileEvents) -> Bool {
    // The next pause. After the last one, wait for the next event.
    var step = Self.pauses.count
    while true {
      let pause = step < Self.pauses.count ? Self.pauses[step] : nil
      // Events during the first pause are covered by the check after it, so a busy writer wakes this thread no more
      // often.
      switch events.wait(milliseconds: pause, ignoringFiles: step == 0) {
      case .change: step = 0
      case .timeout:
        events.drain()
        lookNow()
        step += 1
      case .end: return true
      case .failure: return false
      }
    }
  }

  private func lookNow() {
    lookCount.add(1, ordering: .relaxed)
    look()
  }
}
