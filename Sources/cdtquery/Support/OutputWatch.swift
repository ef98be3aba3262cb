import Dispatch
@preconcurrency import Glibc

/// Notices that the reader of standard output is gone, for commands that may have nothing to write for long.
enum OutputWatch {
  /// Calls the closure when nobody can read the output any more. A file and a terminal are read for good.
  static func whenClosed(_ body: @escaping @Sendable () -> Void) {
    DispatchQueue.global().async {
      // Errors and hang-ups are told without being asked for.
      var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
      while true {
        let count = poll(&output, 1, -1)
        if count < 0, errno == EINTR { continue }
        if count > 0 { body() }
        return
      }
    }
  }
}
