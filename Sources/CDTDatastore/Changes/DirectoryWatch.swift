import Dispatch
import Synchronization

/// Calls a closure when another process may have written to a datastore's files, until it is ended.
///
/// The system tells when the files are written to. Where it does not, they are looked at every half second.
final class DirectoryWatch: @unchecked Sendable {
  // Sendable, as `queue` is serial and what changes, `looksSinceEvent`, is touched on it alone.
  private let queue = DispatchQueue(label: "CDTDatastore.DirectoryWatch")
  private let timer: any DispatchSourceTimer
  private let events: FileEvents?
  private let look: @Sendable () -> Void
  private var looksSinceEvent: Int?
  private let lookCount = Atomic(0)

  /// How long to wait after an event before each look, in milliseconds.
  ///
  /// SQLite writes a commit to its log, waits for the disk, and only then makes it visible, which the system does not
  /// tell. Most often that takes less than the first pause; a disk under load may need seconds.
  private static let pauses = [10, 50, 200, 800, 3_200, 12_800, 51_200]

  init(_ directory: String, look: @escaping @Sendable () -> Void) {
    self.look = look
    timer = DispatchSource.makeTimerSource(queue: queue)
    events = FileEvents(directory, names: [DatabaseFile.name, "\(DatabaseFile.name)-wal"], queue: queue)
    timer.setEventHandler { [weak self] in self?.lookNow() }
    if let events {
      timer.activate()
      events.start { [weak self] in self?.filesChanged() }
    } else {
      timer.schedule(deadline: .now() + .milliseconds(500), repeating: .milliseconds(500))
      timer.activate()
    }
  }

  deinit {
    end()
  }

  /// Whether the system tells of writes.
  var isEventDriven: Bool { events != nil }

  /// How often the closure was called.
  var looks: Int { lookCount.load(ordering: .relaxed) }

  /// Ends the calls and releases the files.
  func end() {
    timer.cancel()
    events?.end()
  }

  private func filesChanged() {
    // The first look that is still to come is not put off, however many events there are.
    guard looksSinceEvent != 0 else { return }
    looksSinceEvent = 0
    schedule(pause: Self.pauses[0])
  }

  private func lookNow() {
    lookCount.add(1, ordering: .relaxed)
    look()
    guard let looks = looksSinceEvent else { return }
    looksSinceEvent = looks + 1
    if looks + 1 < Self.pauses.count { schedule(pause: Self.pauses[looks + 1]) }
  }

  private func schedule(pause milliseconds: Int) {
    timer.schedule(deadline: .now() + .milliseconds(milliseconds))
  }
}
