import CDTDatastore
import FoundationEssentials
import Synchronization

/// The managers of this run. They are kept to its end, as a store closes when its manager goes.
enum Stores {
  private static let managers = Mutex<[DatastoreManager]>([])

  static func keep(_ manager: DatastoreManager) -> DatastoreManager {
    managers.withLock { $0.append(manager) }
    return manager
  }
}

enum Files {
  static func isDirectory(_ path: String) -> Bool {
    var isDirectory = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory
  }
}
