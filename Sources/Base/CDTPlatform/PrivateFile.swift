import CDTCLibrary

/// A small file with secrets, which nobody but its owner can access.
package struct PrivateFile: Sendable {
  /// A version of a file, which differs after a change of the content, the owner or the permissions.
  package struct Version: Hashable, Sendable {
    fileprivate let status: FileStatus
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
    let (file, status) = try open(path)
    guard status.owner == geteuid() || status.owner == 0 else { throw .ownedByAnother }
    guard status.permissions & 0o077 == 0 else { throw .sharedAccess }
    let version = Version(status: status)
    guard version != known else { return nil }
    return PrivateFile(content: try content(of: file, limit: limit), version: version)
  }

  private static func open(_ path: String) throws(Refusal) -> (OpenFile, FileStatus) {
    let found: (OpenFile, FileStatus)?
    do throws(SystemError) {
      let file = try OpenFile.regular(path)
      found = if let file { (file, try file.status()) } else { nil }
    } catch {
      throw .system(error)
    }
    guard let found else { throw .notRegular }
    return found
  }

  private static func content(of file: OpenFile, limit: Int) throws(Refusal) -> [UInt8] {
    var content: [UInt8] = []
    while true {
      let chunk: [UInt8]
      do throws(SystemError) {
        chunk = try file.read(upTo: 64 * 1024)
      } catch {
        throw .system(error)
      }
      if chunk.isEmpty { return content }
      content += chunk
      guard content.count <= limit else { throw .tooLarge }
    }
  }
}
