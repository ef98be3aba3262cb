import Glibc

/// A lock on a file or directory that one holder has at a time, in this process and all others.
///
/// It is the system's advisory lock (`flock`), so it goes with a process that dies.
package struct FileLock: ~Copyable, Sendable {
  private let descriptor: Int32

  /// Takes the lock.
  ///
  /// - Parameters:
  ///   - isDirectory: Whether the path is that of a directory; a file is created when it is missing.
  ///   - waits: Asked again and again, while another holder has the lock, whether to go on waiting.
  /// - Returns: `nil` when the waiting was given up.
  /// - Throws: ``SystemError`` when the path can't be opened or locked.
  package static func take(
    _ path: String, isDirectory: Bool, whileBusy waits: () throws -> Bool
  ) throws -> FileLock? {
    let flags = isDirectory ? O_RDONLY | O_DIRECTORY | O_CLOEXEC : O_RDWR | O_CREAT | O_CLOEXEC
    let descriptor = open(path, flags, 0o666)
    guard descriptor >= 0 else { throw SystemError(errno) }
    let lock = FileLock(descriptor: descriptor)
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      let code = errno
      guard code == EWOULDBLOCK || code == EINTR else { throw SystemError(code) }
      guard try waits() else { return nil }
      Pause.microseconds(2_000)
    }
    return lock
  }

  private init(descriptor: Int32) {
    self.descriptor = descriptor
  }

  deinit {
    // Closing gives the lock back.
    close(descriptor)
  }
}
