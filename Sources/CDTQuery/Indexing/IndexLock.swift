import CDTDatastore
import CDTPlatform

/// Locks on the index file's directory, which one process at a time has, and one thread in it.
enum IndexLock {
  /// How long to wait for another process that creates or replaces the file, as SQLite does for its own locks.
  private static let patience = Duration.seconds(5)

  /// Runs `body` while nobody else creates or replaces the file, or changes which indexes there are. Never to be called
  /// within itself.
  static func whileChanging<R>(_ directory: String, _ body: () throws -> R) throws -> R {
    let deadline = ContinuousClock.now + patience
    let lock = try take(directory, isDirectory: true) {
      guard ContinuousClock.now < deadline else { throw DatastoreError.indexesBusy(directory) }
      return true
    }
    defer { _ = lock }
    return try body()
  }

  /// The lock of whoever fills indexes.
  ///
  /// - Parameter waits: Asked again and again, while another has it, whether to go on waiting.
  /// - Returns: `nil` when the waiting was given up.
  static func whileBuilding(_ directory: String, waits: () -> Bool) throws -> FileLock? {
    try take("\(directory)/build.lock", isDirectory: false, waits)
  }

  private static func take(
    _ path: String, isDirectory: Bool, _ waits: () throws -> Bool
  ) throws -> FileLock? {
    do {
      return try FileLock.take(path, isDirectory: isDirectory, whileBusy: waits)
    } catch let error as SystemError {
      throw DatastoreError(error, "lock", path)
    }
  }
}
