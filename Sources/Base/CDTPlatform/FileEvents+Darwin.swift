#if canImport(Darwin)
  import CDTCLibrary
  import Synchronization

  /// Reports when files of a directory are written, created or removed, and when the directory is moved or removed.
  ///
  /// It is a kernel queue (kqueue(2)). An event of a directory tells of names in it, not of what is written into files, so some
  /// files are watched too, again after each change of names. They are opened and closed, which drops all locks that the process
  /// has on them (fcntl(2)): none may be a file that SQLite locks.
  ///
  /// The descriptors are closed when the object is deallocated, so that they stay open while a thread waits. Only the one thread
  /// that waits calls ``wait(milliseconds:ignoringFiles:)`` and ``drain()``.
  package final class FileEvents: Sendable {
    private let queue: Int32
    private let paths: [String]
    private let directory: OpenFile
    private let files = Mutex<[OpenFile]>([])

    /// The identifier of the event that ends the wait.
    private static let end: UInt = 1
    private static let changes = UInt32(NOTE_WRITE | NOTE_EXTEND | NOTE_DELETE | NOTE_RENAME)

    /// `nil` if the system can't report events, or its limit is reached.
    ///
    /// - Parameter files: The names of the files whose writes are reported.
    package init?(_ directory: String, files: [String]) {
      guard let file = try? OpenFile(directory, for: .directory) else { return nil }
      queue = kqueue()
      paths = files.map { "\(directory)/\($0)" }
      self.directory = file
      guard queue >= 0, add(Self.end, EVFILT_USER, 0), add(UInt(file.descriptor), EVFILT_VNODE, Self.changes)
      else { return nil }
      watchFiles()
    }

    deinit {
      if queue >= 0 { close(queue) }
    }

    /// Ends current and later waits.
    package func end() {
      var event = kevent(
        ident: Self.end, filter: Int16(EVFILT_USER), flags: 0, fflags: UInt32(NOTE_TRIGGER), data: 0,
        udata: nil)
      _ = kevent(queue, &event, 1, nil, 0, nil)
    }

    /// Waits for the first event.
    ///
    /// - Parameters:
    ///   - milliseconds: The maximum time to wait, or `nil` for no limit.
    ///   - ignoringFiles: Whether to wait only for the end.
    package func wait(milliseconds: Int32?, ignoringFiles: Bool) -> FileEvent {
      let deadline = milliseconds.map { ContinuousClock.now + .milliseconds(Int($0)) }
      while true {
        let rest = deadline.map { max(.zero, $0 - ContinuousClock.now) }
        var event = kevent()
        switch next(&event, within: rest) {
        case 0: return .timeout
        case ..<0: return errno == EINTR ? .change : .failure
        case _ where event.filter == Int16(EVFILT_USER): return .end
        case _ where ignoringFiles: continue
        default:
          watchFiles()
          return .change
        }
      }
    }

    /// Consumes pending events, whose content does not matter.
    ///
    /// - Returns: Whether there may be more events.
    @discardableResult
    package func drain() -> Bool {
      var event = kevent()
      while next(&event, within: .zero) > 0 {
        // The event of the end stays until it is waited for.
        if event.filter == Int16(EVFILT_USER) {
          end()
          return true
        }
      }
      watchFiles()
      return true
    }

    private func next(_ event: inout kevent, within time: Duration?) -> Int32 {
      guard let time else { return kevent(queue, nil, 0, &event, 1, nil) }
      var limit = timespec(
        tv_sec: Int(time.components.seconds), tv_nsec: Int(time.components.attoseconds / 1_000_000_000))
      return kevent(queue, nil, 0, &event, 1, &limit)
    }

    private func add(_ identifier: UInt, _ filter: Int32, _ changes: UInt32) -> Bool {
      var event = kevent(
        ident: identifier, filter: Int16(filter), flags: UInt16(EV_ADD | EV_CLEAR), fflags: changes, data: 0,
        udata: nil)
      return kevent(queue, &event, 1, nil, 0, nil) == 0
    }

    /// Watches the files that are there now. A file that can't be opened is left out.
    private func watchFiles() {
      let found = paths.compactMap { try? OpenFile($0, for: .probing) }
      for file in found { _ = add(UInt(file.descriptor), EVFILT_VNODE, Self.changes) }
      files.withLock { $0 = found }
    }
  }
#endif
