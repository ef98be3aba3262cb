import Glibc

/// Which file a path names: another one may have taken its place.
package struct FileIdentity: Equatable, Sendable {
  private let device: UInt
  private let inode: UInt

  init(_ status: stat) {
    device = UInt(status.st_dev)
    inode = UInt(status.st_ino)
  }

  /// `nil` when there is no file.
  package init?(_ path: String) {
    guard let status = try? FileStatus(path) else { return nil }
    self = status.identity
  }
}
