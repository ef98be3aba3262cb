import Glibc

/// Which file a path names: another one may have taken its place.
package struct FileIdentity: Equatable, Sendable {
  private let device: UInt
  private let inode: UInt

  /// `nil` when there is no file.
  package init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    device = UInt(status.st_dev)
    inode = UInt(status.st_ino)
  }
}
