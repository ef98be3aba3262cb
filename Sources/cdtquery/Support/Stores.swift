import CDTDatastore
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
