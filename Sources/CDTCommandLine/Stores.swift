package import CDTDatastore
import CDTPlatform
import Synchronization

/// The managers of this run. They are kept until its end, as a store closes with its manager.
package enum Stores {
  private static let managers = Mutex<[DatastoreManager]>([])

  package static func keep(_ manager: DatastoreManager) -> DatastoreManager {
    managers.withLock { $0.append(manager) }
    return manager
  }

  /// Whether a path leads to a directory.
  ///
  /// - Throws: ``ToolError`` if that can't be determined.
  package static func isDirectory(_ path: String) throws(ToolError) -> Bool {
    do throws(SystemError) {
      return try FileStatus(path).kind == .directory
    } catch {
      guard !error.isMissing, !error.isNotDirectory else { return false }
      throw .unreadable(path, error)
    }
  }

  /// Closes every store of this run, which checkpoints their logs.
  package static func closeAll() {
    let closed = managers.withLock { managers in
      defer { managers = [] }
      return managers
    }
    _ = consume closed
  }
}
