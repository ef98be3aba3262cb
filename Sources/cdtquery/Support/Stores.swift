import CDTDatastore
import FoundationEssentials
import Glibc
import Synchronization

/// The managers of this run. They are kept to its end, as a store closes when its manager goes.
enum Stores {
  private static let managers = Mutex<[DatastoreManager]>([])

  static func keep(_ manager: DatastoreManager) -> DatastoreManager {
    managers.withLock { $0.append(manager) }
    return manager
  }

  /// Closes every store of this run, which copies what the log holds into the file.
  static func closeAll() {
    let closed = managers.withLock { managers in
      defer { managers = [] }
      return managers
    }
    _ = consume closed
  }
}

enum Files {
  /// Whether a file of that name can be put in its place as a whole: there is none, or it is an ordinary one.
  static func isReplaceable(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
  }

  static func isDirectory(_ path: String) -> Bool {
    var isDirectory = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory
  }
}
