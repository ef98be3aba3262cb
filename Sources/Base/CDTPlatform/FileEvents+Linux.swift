#if !canImport(Darwin)
  import CDTCLibrary
  import CDTCPlatform

  /// Reports when files of a directory are written, created or removed, and when the directory is moved or removed.
  ///
  /// The descriptors are closed when the object is deallocated, so that they stay open while a thread waits.
  package final class FileEvents: Sendable {
    private let inotify: Int32
    /// A pipe; writing to it ends the wait.
    private let endSignal: (reading: Int32, writing: Int32)

    private static let mask =
      IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF

    /// `nil` if the system can't report events, or its limit is reached.
    ///
    /// - Parameter files: The names of the files whose writes are reported. On Linux, the writes to all files are reported.
    package init?(_ directory: String, files: [String]) {
      inotify = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
      var pair: [Int32] = [-1, -1]
      let hasPipe = cdt_make_pipe(&pair) == 0
      endSignal = (pair[0], pair[1])
      guard hasPipe, inotify >= 0, inotify_add_watch(inotify, directory, UInt32(Self.mask)) >= 0
      else { return nil }
    }

    deinit {
      for descriptor in [inotify, endSignal.reading, endSignal.writing] where descriptor >= 0 {
        close(descriptor)
      }
    }

    /// Ends current and later waits.
    package func end() {
      _ = write(endSignal.writing, [1], 1)
    }

    /// Waits for the first event.
    ///
    /// - Parameters:
    ///   - milliseconds: The maximum time to wait, or `nil` for no limit.
    ///   - ignoringFiles: Whether to wait only for the end.
    package func wait(milliseconds: Int32?, ignoringFiles: Bool) -> FileEvent {
      let wanted = Int16(POLLIN)
      var descriptors = [pollfd(fd: endSignal.reading, events: wanted, revents: 0)]
      if !ignoringFiles { descriptors.append(pollfd(fd: inotify, events: wanted, revents: 0)) }
      let count = poll(&descriptors, nfds_t(descriptors.count), milliseconds ?? -1)
      if count == 0 { return .timeout }
      if count < 0 { return errno == EINTR ? .change : .failure }
      if descriptors[0].revents != 0 { return .end }
      return drain() ? .change : .failure
    }

    /// Consumes pending events, whose content does not matter.
    ///
    /// - Returns: Whether there may be more events.
    @discardableResult
    package func drain() -> Bool {
      withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 8) { buffer in
        while true {
          let count = read(inotify, buffer.baseAddress, buffer.count)
          if count <= 0 { return count < 0 && (errno == EAGAIN || errno == EINTR) }
        }
      }
    }
  }
#endif
