import CDTCPlatform

/// The identity of the file at a path, which changes if the file is replaced.
package struct FileIdentity: Hashable, Sendable {
  private let device: UInt64
  private let inode: UInt64

  init(_ status: cdt_status) {
    device = status.device
    inode = status.inode
  }

  /// `nil` if there is no file, or the system can't tell.
  package init?(_ path: String) {
    guard let status = try? FileStatus(path) else { return nil }
    self = status.identity
  }
}
