/// What has happened while one waited for the files of a directory.
package enum FileEvent: Sendable {
  case change, timeout, end, failure
}

#if os(Linux)
  import Glibc

  /// Tells when files of a directory are written to, come or go, and when the directory is moved or removed.
  ///
  /// The files are closed when the object goes, so that nobody closes them under one who waits.
  package final class FileEvents: Sendable {
    private let inotify: Int32
    /// A pair of sockets, one of which is written to at the end.
    private let endSignal: (reading: Int32, writing: Int32)

    private static let mask =
      IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF

    /// `nil` where the system can't tell, or tells as many others as it may.
    package init?(_ directory: String) {
      inotify = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
      var pair: [Int32] = [-1, -1]
      let kind = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
      let hasPair = socketpair(AF_UNIX, Int32(kind), 0, &pair) == 0
      endSignal = (pair[0], pair[1])
      guard hasPair, inotify >= 0, inotify_add_watch(inotify, directory, UInt32(Self.mask)) >= 0
      else { return nil }
    }

    deinit {
      for descriptor in [inotify, endSignal.reading, endSignal.writing] where descriptor >= 0 {
        close(descriptor)
      }
    }

    /// Ends the waiting, now and later.
    package func end() {
      _ = write(endSignal.writing, [1], 1)
    }

    /// Waits for what comes first.
    ///
    /// - Parameters:
    ///   - milliseconds: How long to wait at most, or `nil` for ever.
    ///   - ignoringFiles: Whether to wait for the end alone.
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

    /// Takes the events that have come: that there were any is all there is to know.
    ///
    /// - Returns: Whether more may come.
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
#else
  /// No events: the files are looked at from time to time.
  package final class FileEvents: Sendable {
    package init?(_ directory: String) { nil }
    package func end() {}
    package func wait(milliseconds: Int32?, ignoringFiles: Bool) -> FileEvent { .failure }
    package func drain() {}
  }
#endif
