import CDTReplication
import CDTServer
import CDTServerTestSupport
import CDTTestSupport
import Logging
import Synchronization

/// A user of a server, and the file that knows the user.
struct ServedUser: Sendable {
  static let name = "ana"
  static let password = "hunter2-password"

  let file: String

  /// The clocks of the server, by which sessions end and changes of the file are noticed.
  let clock = TestClock()

  /// Sets the password, the same one again. It ends all sessions, as the new hash has another salt. The
  /// server looks at the file every second.
  func setPassword() throws {
    _ = try UserFile(file).setPassword(
      Self.password, of: Self.name, roles: ["_admin"], function: .scrypt(logN: 4, r: 8, p: 1))
    clock.advance(by: .seconds(1))
  }
}

/// Runs `body` with a store and one behind a server that knows one user.
///
/// - Parameter log: Gets whatever the server logs.
func withServedUser<R: Sendable>(
  log: KeptLog = KeptLog(), _ body: (ServedStore, ServedUser) async throws -> R
) async throws -> R {
  try await withTemporaryDirectory(inMemory: true) { directory in
    let user = ServedUser(file: "\(directory)/users.json")
    try user.setPassword()
    return try await withServedStore(logger: log.logger) {
      $0.usersFile = user.file
      $0.clock = user.clock.clock
    } _: { served in
      try await body(served, user)
    }
  }
}

/// Everything that was logged.
final class KeptLog: Sendable {
  private let lines = Mutex("")

  var text: String { lines.withLock { $0 } }
  var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

  private struct Handler: LogHandler {
    let log: KeptLog
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      log.lines.withLock { $0 += "\(event.message) \(metadata) \(event.metadata ?? [:])\n" }
    }
  }
}
