import CDTPlatform
import Synchronization

/// The databases that connections of this process have open.
///
/// Opening and closing one of SQLite's locked files by other means releases the locks of these connections.
/// Source: https://sqlite.org/howtocorrupt.html, section 2.2.
enum OpenDatabases {
  private static let counts = Mutex<[FileIdentity: Int]>([:])

  static func add(_ file: FileIdentity) {
    counts.withLock { $0[file, default: 0] += 1 }
  }

  static func remove(_ file: FileIdentity) {
    counts.withLock { counts in
      let count = (counts[file] ?? 0) - 1
      counts[file] = count > 0 ? count : nil
    }
  }

  /// Runs `body` unless the database is open. Connections that are opened in the meantime wait.
  static func ifClosed<R, E: Error>(_ file: FileIdentity, _ body: () throws(E) -> R?) throws(E) -> R? {
    var result: Result<R?, E> = .success(nil)
    counts.withLock { counts in
      guard counts[file] == nil else { return }
      do throws(E) { result = .success(try body()) } catch { result = .failure(error) }
    }
    return try result.get()
  }
}
