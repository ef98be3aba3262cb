import CDTPlatform
import CDTSQLite

/// The directory of a datastore, which keeps its place while files in it are opened and closed.
///
/// SQLite opens a database by its path, and later its log by the log's path; it removes the log by its path when the last
/// connection is closed. If the directory were renamed in between, and another datastore created in its place, a
/// connection would use or remove the log of the other datastore. Source: https://sqlite.org/howtocorrupt.html,
/// section 2.4.
struct StoreDirectory: Sendable {
  /// The datastore's name.
  let name: String
  let path: String
  let timeout: Duration
  /// Waits for the locks, if there is one.
  var suspension: Suspension?

  /// Keeps the directory in place while the result lives. It can be taken several times, but not in ``exclusive(_:)``.
  ///
  /// - Throws: ``DatastoreError``: `.closed` if there is no directory, `.busy` after the timeout.
  func lockShared() throws(DatastoreError) -> PlaceLock {
    try lock(for: .shared, DatastoreError(.beingDeleted(name, timeout)))
  }

  /// Runs `body` while nobody moves the directory.
  ///
  /// - Throws: ``DatastoreError`` as ``lockShared()``; what `body` throws.
  func shared<R>(_ body: () throws -> R) throws -> R {
    let lock = try lockShared()
    defer { _ = lock }
    return try body()
  }

  /// Runs `body`, which moves the directory or a database in it, while nobody opens or closes a file.
  ///
  /// - Throws: ``DatastoreError``: `.closed` if there is no directory, `.busy` after the timeout.
  func exclusive<R>(_ body: () throws -> R) throws -> R {
    let lock = try lock(for: .exclusive, DatastoreError(.inUse(name, timeout)))
    defer { _ = lock }
    return try body()
  }

  private func lock(
    for purpose: DirectoryLock.Purpose, _ late: @autoclosure () -> DatastoreError
  ) throws(DatastoreError) -> PlaceLock {
    let hold = try suspension?.holdFiles()
    do throws(SystemError) {
      if let lock = try DirectoryLock.take(path, for: purpose, timeout: timeout) {
        return PlaceLock(lock: lock, hold: hold)
      }
    } catch {
      throw error.isMissing ? DatastoreError(.deletedElsewhere(name)) : DatastoreError(error, "lock", path)
    }
    throw late()
  }
}

/// A lock of a datastore's directory, which suspending the datastore waits for.
package struct PlaceLock: ~Copyable, Sendable {
  fileprivate let lock: DirectoryLock
  fileprivate let hold: Suspension.Hold?
}
