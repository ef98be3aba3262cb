import Glibc

/// The status of a file.
package struct FileStatus: Equatable, Sendable {
  package enum Kind: Sendable {
    case file, directory, other
    /// A symbolic link, if links are not followed.
    case link
  }

  package let identity: FileIdentity
  package let kind: Kind
  /// The number of bytes.
  package let size: Int64
  /// Who can read, write and execute it.
  let permissions: mode_t
  private let seconds: Int
  private let nanoseconds: Int

  /// The status of the file at a path; `nil` if there is none.
  ///
  /// - Throws: ``SystemError`` if the system can't tell.
  package static func ofFile(at path: String, followsLinks: Bool = true) throws(SystemError) -> FileStatus? {
    do {
      return try FileStatus(path, followsLinks: followsLinks)
    } catch {
      guard error.isMissing else { throw error }
      return nil
    }
  }

  /// - Parameter followsLinks: Whether to follow a symbolic link.
  package init(_ path: String, followsLinks: Bool = true) throws(SystemError) {
    try SystemError.checkPath(path)
    var status = stat()
    guard (followsLinks ? stat(path, &status) : lstat(path, &status)) == 0 else { throw SystemError(errno) }
    identity = FileIdentity(status)
    kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .directory
      case S_IFLNK: .link
      default: .other
      }
    size = Int64(status.st_size)
    permissions = status.st_mode & 0o777
    (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
  }
}
