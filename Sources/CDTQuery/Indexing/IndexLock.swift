import CDTDatastore
import Glibc

/// Lets one process at a time make or replace an index file, or change which indexes there are.
///
/// The system's lock on the directory: it goes with a process that dies. It is never taken within itself.
struct IndexLock: Sendable {
  let directory: String

  /// How long to wait for another process, as SQLite does for its own locks.
  private static let patience = Duration.seconds(5)

  func withLock<R>(_ body: () throws -> R) throws -> R {
    let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(errno) }
    // Closing gives the lock back.
    defer { close(descriptor) }
    let deadline = ContinuousClock.now + Self.patience
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      let code = errno
      guard code == EWOULDBLOCK || code == EINTR else { throw failure(code) }
      guard ContinuousClock.now < deadline else { throw DatastoreError.indexesBusy(directory) }
      usleep(2_000)
    }
    return try body()
  }

  private func failure(_ code: Int32) -> QueryError {
    .failed("the directory \(directory) can't be locked: \(String(cString: strerror(code)))")
  }
}
