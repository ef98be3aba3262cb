import Glibc

/// The identity of the file at a path, which changes if the file is replaced.
package struct FileIdentity: Hashable, Sendable {
  private let device: UInt
  private let inode: UInt

  init(_ status: stat) {
    device = UInt(status.st_dev)
    inode = UInt(status.st_ino)
  }

  /// `nil` if there is no file, or the system can't tell.
  package init?(_ path: String) {
    guard let status = try? FileStatus(path) else { return nil }
    self = status.identity
  }
}
