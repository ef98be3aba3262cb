import CDTPlatform
import Dispatch
import Synchronization

/// Calls a closure when another process may have written to a datastore's files, until it is ended.
///
/// The system tells when the files are written to. Where it does not, they are looked at every half second. A thread of
/// its own waits for either; it takes no file more than the system's events do, as there may be none left.
final class DirectoryWatch: Sendable {
  private let events: FileEvents?
  private let look: @Sendable () -> Void
  private let lookCount = Atomic(0)
  private let ended = DispatchSemaphore(value: 0)

  /// How long to wait after an event before each look, in milliseconds.
  ///
  /// SQLite writes a commit to its log, waits for the disk, and only then makes it visible, which the system does not
  /// tell. Most often that takes less than the first pause; a disk under load may need seconds.
  private static let pauses: [Int32] = [10, 50, 200, 800, 3_200, 12_800, 51_200]

  /// - Throws: ``DatastoreError`` with the code `.io` when the system has no thread left.
  init(_ directory: String, look: @escaping @Sendable () -> Void) throws(DatastoreError) {
    self.look = look
    events = FileEvents(directory)
    try FileSystem.perform(
      "start a thread to watch", directory, BackgroundThread.start { [self] in run() })
  }

  /// Whether the system tells of writes.
  var isEventDriven: Bool { events != nil }

  /// How often the closure was called.
  var looks: Int { lookCount.load(ordering: .relaxed) }

  /// Ends the thread, which then closes its files. Must be called, and once; a call that has begun still goes on.
  func end() {
    events?.end()
    ended.signal()
  }

  private func run() {
    if let events, lookAfterEvents(events) { return }
    while ended.wait(timeout: .now() + .milliseconds(500)) == .timedOut { lookNow() }
  }

  /// - Returns: Whether the end has come; otherwise the system tells of no more events.
  private func lookAfterEvents(_ events: FileEvents) -> Bool {
    // The pause that is next; past the last one, there is nothing to look for before the next event.
    var step = Self.pauses.count
    while true {
      let pause = step < Self.pauses.count ? Self.pauses[step] : nil
      // Whatever comes in the first pause is met by the look after it, so a busy writer wakes this thread no more often.
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
