import CDTCLibrary

/// A directory of this process that only the user can access. It is removed with the last reference to it.
///
/// It is locked while its process lives, so that those of killed processes are known: each new directory removes the ones beside it.
package final class TemporaryDirectory: Sendable {
  package let path: String
  private let lock: OpenFile

  /// - Parameters:
  ///   - parent: The directory in which it is made.
  ///   - prefix: The beginning of its name.
  ///   - isOurs: Whether a directory beside it with such a name, which is not locked, may be removed.
  package init(
    in parent: String, named prefix: String, removing isOurs: (_ path: String) -> Bool = isOfUser
  ) throws(SystemError) {
    for name in (try? Files.names(in: parent)) ?? [] where name.utf8.starts(with: prefix.utf8) {
      Self.sweep("\(parent)/\(name)", isOurs)
    }
    while true {
      let path = "\(parent)/\(prefix)\(RandomID.uuid())"
      try Files.makeDirectory(path)
      // Another process that is sweeping may remove it until it is locked.
      if let lock = try Self.lock(path), try lock.hasName() {
        (self.path, self.lock) = (path, lock)
        return
      }
    }
  }

  deinit {
    try? Files.removeTree(path)
  }

  /// Whether a directory is the user's, and nobody else can change what is in it: a path in it could lead elsewhere by now.
  package static func isOfUser(_ path: String) -> Bool {
    (try? FileStatus(path, followsLinks: false)).map {
      $0.owner == geteuid() && $0.permissions & 0o077 == 0
    } ?? false
  }

  /// Removes a directory that a killed process has left.
  private static func sweep(_ path: String, _ isOurs: (String) -> Bool) {
    guard (try? Files.kind(of: path, followsLinks: false)) == .directory, let lock = try? lock(path),
      isOurs(path)
    else { return }
    try? Files.removeTree(path)
    lock.unlock()
  }

  /// - Returns: `nil` if another process has the lock or has removed the directory.
  private static func lock(_ path: String) throws(SystemError) -> OpenFile? {
    do throws(SystemError) {
      let directory = try OpenFile(path, for: .directory)
      return try directory.lock() ? directory : nil
    } catch {
      guard error.isMissing else { throw error }
      return nil
    }
  }
}
