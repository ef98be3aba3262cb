import Glibc

/// A lock on a file or directory that one holder has at a time, in this process and all others.
///
/// It is the system's advisory lock (`flock`), so it goes with a process that dies.
package struct FileLock: ~Copyable, Sendable {
  private let file: OpenFile

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
    let file = try OpenFile(path, flags: isDirectory ? O_RDONLY | O_DIRECTORY : O_RDWR | O_CREAT)
    while try !file.lock() {
      guard try waits() else { return nil }
      Pause.microseconds(2_000)
    }
    return FileLock(file: file)
  }

  deinit {
    file.unlock()
  }
}
