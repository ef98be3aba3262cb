import Glibc

/// Files and directories by their paths.
package enum Files {
  package static func exists(_ path: String) -> Bool {
    access(path, F_OK) == 0
  }

  /// What is at a path; `nil` for nothing.
  ///
  /// - Parameter followsLinks: Whether it is what a symbolic link leads to.
  package static func kind(of path: String, followsLinks: Bool = true) -> FileStatus.Kind? {
    (try? FileStatus(path, followsLinks: followsLinks))?.kind
  }

  /// The length of an ordinary file; `nil` when there is none.
  package static func length(of path: String) -> Int64? {
    guard let status = try? FileStatus(path), status.kind == .file else { return nil }
    return status.size
  }

  /// - Throws: ``SystemError`` for the reason why a file can't be read.
  package static func checkReadable(_ path: String) throws(SystemError) {
    guard access(path, R_OK) == 0 else { throw SystemError(errno) }
  }

  /// Makes a directory, whose parent has to be there.
  ///
  /// - Parameter isPrivate: Whether only the user may look into it.
  package static func makeDirectory(_ path: String, isPrivate: Bool = false) throws(SystemError) {
    try SystemError.checkPath(path)
    guard mkdir(path, isPrivate ? 0o700 : 0o777) == 0 else { throw SystemError(errno) }
  }

  /// Gives a file another path, in place of what may be there.
  package static func rename(_ path: String, to other: String) throws(SystemError) {
    guard Glibc.rename(path, other) == 0 else { throw SystemError(errno) }
  }

  /// Removes a file; one that is gone already is no error.
  package static func remove(_ path: String) throws(SystemError) {
    guard unlink(path) == 0 || errno == ENOENT else { throw SystemError(errno) }
  }

  /// Removes a file that nobody has locked, while nobody can lock it.
  ///
  /// - Returns: Whether it was removed.
  package static func removeUnlocked(_ path: String) -> Bool {
    guard let file = try? OpenFile(path, flags: O_RDONLY | O_NONBLOCK | O_NOFOLLOW),
      (try? file.lock()) == true
    else { return false }
    return unlink(path) == 0
  }
}
