#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A directory of this process that only the user can access. It is removed with the last reference to it.
///
/// It is locked while its process lives, so that those of killed processes are known: each new directory removes the ones beside it.
package final class TemporaryDirectory: Sendable {
  package let path: String
  private let lock: OpenFile

  private static let prefix = "cdtdatastore-"

  /// A file system in memory, which Linux has.
  private static let memory = "/dev/shm"

  /// - Parameters:
  ///   - parent: Where to make it.
  ///   - inMemory: Whether to make it in memory instead, if there is a file system in memory.
  package init(in parent: String, orInMemory inMemory: Bool = false) throws(SystemError) {
    let parent = inMemory && Files.isWritable(Self.memory) ? Self.memory : parent
    Self.sweep(parent)
    while true {
      let path = "\(parent)/\(Self.prefix)\(RandomID.uuid())"
      try Files.makeDirectory(path)
      // Another process that is sweeping may remove it until it is locked.
      if let lock = try Self.lock(path), try Files.exists(path) {
        (self.path, self.lock) = (path, lock)
        return
      }
    }
  }

  deinit {
    try? Files.removeTree(path)
  }

  /// Removes the directories of killed processes.
  private static func sweep(_ parent: String) {
    for name in (try? Files.names(in: parent)) ?? [] where name.hasPrefix(prefix) {
      let path = "\(parent)/\(name)"
      // In a directory of another user, or that others can change, a path could lead elsewhere by now.
      guard let status = try? FileStatus(path, followsLinks: false), status.kind == .directory,
        status.owner == geteuid(), status.permissions & 0o077 == 0, let lock = try? lock(path)
      else { continue }
      try? Files.removeTree(path)
      lock.unlock()
    }
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
