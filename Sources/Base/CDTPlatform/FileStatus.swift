import CDTCPlatform

/// The status of a file.
package struct FileStatus: Hashable, Sendable {
  package enum Kind: Sendable {
    case file, directory, other
    /// A symbolic link, if links are not followed.
    case link
  }

  package let identity: FileIdentity
  package let kind: Kind
  /// The number of bytes.
  package let size: Int64
  /// The permissions to read, write and execute it.
  let permissions: UInt32
  /// The times of the last change of the content and of the status, in nanoseconds since 1970.
  private let modified, changed: Int64
  let owner: UInt32
  /// The number of its names (hard links).
  let links: UInt64

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
    var status = cdt_status()
    let error = cdt_status_of_path(path, followsLinks, &status)
    guard error == 0 else { throw SystemError(error) }
    self.init(status)
  }

  /// The status of an open file.
  init(descriptor: Int32) throws(SystemError) {
    var status = cdt_status()
    let error = cdt_status_of_file(descriptor, &status)
    guard error == 0 else { throw SystemError(error) }
    self.init(status)
  }

  /// Whether everybody can read it.
  package var isPublic: Bool { permissions & 0o004 != 0 }

  private init(_ status: cdt_status) {
    identity = FileIdentity(status)
    kind =
      switch status.kind {
      case Int32(cdt_kind_file): .file
      case Int32(cdt_kind_directory): .directory
      case Int32(cdt_kind_link): .link
      default: .other
      }
    size = status.size
    permissions = status.permissions
    (modified, changed) = (status.modified, status.changed)
    (owner, links) = (status.owner, status.links)
  }
}

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
