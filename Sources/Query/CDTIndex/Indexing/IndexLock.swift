import CDTDatastore
import CDTPlatform
import CDTSQLite

/// Locks in the index file's directory, each held by one thread of one process at a time. A thread takes at most one of them, and then
/// that of the datastore's directory (`Datastore.stayInPlace`).
enum IndexLock {
  /// The time to wait for another process that creates or replaces the file, like SQLite's busy timeout.
  private static let patience = Duration.seconds(5)

  /// Runs `body` while no other thread or process creates or replaces the file, or changes the index definitions. Not
  /// reentrant.
  static func whileChanging<R>(
    _ directory: String, _ suspension: Suspension? = nil, _ body: () throws -> R
  ) throws -> R {
    let hold = try suspension?.holdFiles()
    defer { _ = hold }
    let deadline = ContinuousClock.now + patience
    let lock = try take(directory, isDirectory: true) {
      guard ContinuousClock.now < deadline else { throw DatastoreError(.indexesBusy(directory)) }
      _ = try suspension?.holdFiles()
      return true
    }
    defer { _ = lock }
    return try body()
  }

  /// The lock for building indexes.
  ///
  /// - Parameter waits: Called repeatedly while the lock is taken; returns whether to keep waiting.
  /// - Returns: `nil` if `waits` returned `false`.
  static func whileBuilding(_ directory: String, waits: () throws -> Bool) throws -> FileLock? {
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
