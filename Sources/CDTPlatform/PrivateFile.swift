import Glibc

/// A small file with secrets, which nobody but its owner can access.
package struct PrivateFile: Sendable {
  /// What changes whenever the content, the owner or the permissions of a file do.
  package struct Version: Hashable, Sendable {
    private let device: UInt
    private let inode: UInt
    private let size: Int64
    private let changed: [Int]

    fileprivate init(_ status: stat) {
      device = UInt(status.st_dev)
      inode = UInt(status.st_ino)
      size = Int64(status.st_size)
      changed = [
        status.st_ctim.tv_sec, status.st_ctim.tv_nsec, status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
      ]
    }
  }

  /// The reason why a file is not used.
  package enum Refusal: Error, Hashable, Sendable {
    case system(SystemError)
    case notRegular
    /// It belongs neither to the user of this process nor to root.
    case ownedByAnother
    /// The group or others can read or write it.
    case sharedAccess
    case tooLarge
  }

  package let content: [UInt8]
  package let version: Version

  /// Reads a file.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of bytes.
  ///   - known: The version whose content the caller has.
  /// - Returns: `nil` if the file has the known version.
  package static func read(
    _ path: String, limit: Int, unless known: Version? = nil
  ) throws(Refusal) -> PrivateFile? {
    do throws(SystemError) {
      try SystemError.checkPath(path)
    } catch {
      throw .system(error)
    }
    // Opening a FIFO must not wait for its writer.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { throw .system(.last) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .system(.last) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
    guard status.st_uid == geteuid() || status.st_uid == 0 else { throw .ownedByAnother }
    guard status.st_mode & (S_IRWXG | S_IRWXO) == 0 else { throw .sharedAccess }
    let version = Version(status)
    guard version != known else { return nil }
    return PrivateFile(content: try content(of: descriptor, limit: limit), version: version)
  }

  private static func content(of descriptor: Int32, limit: Int) throws(Refusal) -> [UInt8] {
    var content: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      guard count >= 0 || errno == EINTR else { throw .system(.last) }
      if count == 0 { return content }
      content += chunk.prefix(max(0, count))
      guard content.count <= limit else { throw .tooLarge }
    }
  }
}
