/// An exclusive lock on a file or directory, within this process and between processes.
///
/// It is the system's advisory lock (`flock`), so it is released when the process ends.
package struct FileLock: ~Copyable, Sendable {
  private let file: OpenFile

  /// Takes the lock.
  ///
  /// - Parameters:
  ///   - isDirectory: Whether the path is a directory; a missing file is created, but not where a symbolic link leads.
  ///   - waits: Called repeatedly while another holder has the lock; returns whether to keep waiting.
  /// - Returns: `nil` if `waits` returned `false`.
  /// - Throws: ``SystemError`` if the path can't be opened or locked.
  package static func take(
    _ path: String, isDirectory: Bool, whileBusy waits: () throws -> Bool
  ) throws -> FileLock? {
    let file = try OpenFile(path, for: isDirectory ? .directory : .locking, isPrivate: true)
    while try !file.lock() {
      guard try waits() else { return nil }
      Sleep.microseconds(2_000)
    }
    return FileLock(file: file)
  }

  deinit {
    file.unlock()
  }
}
