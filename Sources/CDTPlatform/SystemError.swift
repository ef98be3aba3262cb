import Glibc

/// What the operating system refused, by its code.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The value of `errno`.
  package let code: Int32

  package init(_ code: Int32) {
    self.code = code
  }

  /// What the last call of this thread was refused for, if it was refused.
  package static var last: SystemError { SystemError(errno) }

  /// The system's own words for it.
  package var description: String { String(cString: strerror(code)) }

  /// No space is left on the disk, or in the user's quota.
  package var isFull: Bool { code == ENOSPC || code == EDQUOT }

  /// There is no such file or directory.
  package var isMissing: Bool { code == ENOENT }

  /// Something is at the path already.
  package var isExisting: Bool { code == EEXIST }

  /// Nobody reads any more what is written to the pipe.
  package var isClosedPipe: Bool { code == EPIPE }

  /// The system would take a path up to its first NUL, which names another file.
  static func checkPath(_ path: String) throws(SystemError) {
    guard !path.utf8.contains(0) else { throw SystemError(EINVAL) }
  }
}
