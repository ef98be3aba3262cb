import Glibc

/// Files by their paths.
package enum Files {
  package static func exists(_ path: String) -> Bool {
    access(path, F_OK) == 0
  }

  /// Gives a file another path, in place of what may be there.
  package static func rename(_ path: String, to other: String) throws(SystemError) {
    guard Glibc.rename(path, other) == 0 else { throw SystemError(errno) }
  }

  /// Removes a file; one that is gone already is no error.
  package static func remove(_ path: String) throws(SystemError) {
    guard unlink(path) == 0 || errno == ENOENT else { throw SystemError(errno) }
  }
}
