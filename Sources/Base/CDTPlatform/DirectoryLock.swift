/// Keeps a directory at its path, or allows its holder to move it, within this process and between processes.
///
/// It is the system's advisory lock (`flock`) of the directory, so it is released when the process ends.
package struct DirectoryLock: ~Copyable, Sendable {
  package enum Purpose: Sendable {
    /// The directory, and the files that ``exclusive`` is about, stay where they are. Others may have this lock too.
    case shared
    /// Nobody else has the lock.
    case exclusive
  }

  /// `nil` if the user may not read the directory, and therefore not lock it.
  private let directory: OpenFile?

  /// Takes the lock of the directory that is at a path.
  ///
  /// - Parameter timeout: The time to wait for other holders.
  /// - Returns: `nil` after the timeout.
  /// - Throws: ``SystemError``, also if there is no directory.
  package static func take(
    _ path: String, for purpose: Purpose, timeout: Duration
  ) throws(SystemError) -> DirectoryLock? {
    let deadline = ContinuousClock.now + timeout
    while true {
      let directory: OpenFile
      do throws(SystemError) {
        directory = try OpenFile(path, for: .directory)
      } catch {
        guard purpose == .shared, error.isForbidden else { throw error }
        return DirectoryLock(directory: nil)
      }
      while try !directory.lock(isShared: purpose == .shared) {
        guard ContinuousClock.now < deadline else { return nil }
        Sleep.microseconds(500)
      }
      // It may have been moved before it was locked.
      if try FileStatus(path).identity == directory.status().identity {
        return DirectoryLock(directory: directory)
      }
      directory.unlock()
    }
  }

  deinit {
    directory?.unlock()
  }
}
