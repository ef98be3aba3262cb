import CDTCLibrary

/// A file that takes its place when its content is whole.
///
/// Until then it has no name, so that a process that is killed leaves nothing. File systems that can't make such files, like
/// NFS, show it as `.<uuid>` in the same directory; it is removed with the last reference.
package final class DraftFile: Sendable {
  /// The file to write to.
  package let file: OpenFile
  private let target: String
  private let directory: String
  /// Its name, if it has one.
  private let name: String?

  /// - Parameters:
  ///   - target: The path that the file will have.
  ///   - isPrivate: Whether only the user can access it. Otherwise its permissions depend on the process's umask.
  package init(for target: String, isPrivate: Bool) throws(SystemError) {
    try SystemError.checkPath(target)
    self.target = target
    directory = target.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(target[...$0]) } ?? "./"
    if let unnamed = try Self.unnamed(in: directory, isPrivate: isPrivate) {
      (file, name) = (unnamed, nil)
    } else {
      let path = "\(directory).\(RandomID.uuid())"
      (file, name) = (try OpenFile(path, for: .creating, isPrivate: isPrivate), path)
    }
  }

  #if os(Linux)
    /// `O_TMPFILE`, which Swift does not import.
    private static let withoutName = 0o20_000_000 | O_DIRECTORY
  #endif

  /// - Returns: `nil` if the system or the file system has no files without a name.
  private static func unnamed(in directory: String, isPrivate: Bool) throws(SystemError) -> OpenFile? {
    #if os(Linux)
      do throws(SystemError) {
        let file = try OpenFile(directory, flags: O_WRONLY | Self.withoutName, isPrivate: isPrivate)
        return file.canBeLinked ? file : nil
      } catch {
        guard [EOPNOTSUPP, EISDIR, EINVAL].contains(error.code) else { throw error }
      }
    #endif
    return nil
  }

  /// Gives the file its path. A file that was there is replaced.
  package func publish() throws(SystemError) {
    if let name { return try Files.rename(name, to: target) }
    do throws(SystemError) {
      return try file.link(to: target)
    } catch {
      guard error.isExisting else { throw error }
    }
    let path = "\(directory).\(RandomID.uuid())"
    try file.link(to: path)
    do throws(SystemError) {
      try Files.rename(path, to: target)
    } catch {
      unlink(path)
      throw error
    }
  }

  deinit {
    if let name { unlink(name) }
  }
}
