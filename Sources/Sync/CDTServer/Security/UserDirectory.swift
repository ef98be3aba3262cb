import CDTPlatform
import Synchronization

/// The users of a running server. They are read again when their file has changed, which is noticed within a second.
///
/// If the file can't be used any more, nobody is known: a file that was removed must not open the server.
package final class UserDirectory: Sendable {
  /// The users at a moment.
  package struct Snapshot: Sendable {
    package let users: Users
    package let decoy: PasswordHash
    /// Grows with each change of the file.
    package let generation: Int
  }

  private struct State {
    var current: Result<Snapshot, UserFileError>
    var version: PrivateFile.Version?
    var generation = 0
    var checked: Duration
  }

  private static let interval = Duration.seconds(1)

  private let file: UserFile
  private let state: Mutex<State>

  /// Reads the file, which must exist.
  package init(_ file: UserFile, at now: Duration) throws(UserFileError) {
    self.file = file
    let content = try file.read()
    let snapshot = Snapshot(users: content.users, decoy: content.users.decoy, generation: 0)
    state = Mutex(State(current: .success(snapshot), version: content.version, checked: now))
  }

  /// The users as last read.
  package var current: Result<Snapshot, UserFileError> { state.withLock { $0.current } }

  /// Whether it is time to look at the file. Returns `true` to one caller, who then calls ``refresh()``.
  package func isDue(at now: Duration) -> Bool {
    state.withLock { state in
      guard now - state.checked >= Self.interval else { return false }
      state.checked = now
      return true
    }
  }

  /// Changes the file, and reads it again. It waits for the disk, and for others who change the file.
  func change<R>(_ change: (inout Users) throws -> R) throws -> R {
    // A file that is gone must not be replaced by one with this change alone.
    _ = try file.read()
    let result = try file.change(change)
    if let error = refresh() { throw error }
    return result
  }

  /// Reads the file if it has changed. It may wait for the disk.
  ///
  /// - Returns: The error if the file has become unusable since the last call.
  package func refresh() -> UserFileError? {
    do throws(UserFileError) {
      guard let content = try file.read(unless: state.withLock { $0.version }) else { return nil }
      state.withLock { state in
        state.generation += 1
        state.current = .success(
          Snapshot(users: content.users, decoy: content.users.decoy, generation: state.generation))
        state.version = content.version
      }
      return nil
    } catch {
      return state.withLock { state in
        // So that the file is read when it can be used again, whatever its version is.
        state.version = nil
        if case .failure(let known) = state.current, known == error { return nil }
        state.generation += 1
        state.current = .failure(error)
        return error
      }
    }
  }
}

/// The clocks of a server, which tests replace.
package struct ServerClock: Sendable {
  /// Seconds since 1970, for what other machines read.
  package let seconds: @Sendable () -> Int64
  /// The time since some point, which only grows, for intervals.
  package let uptime: @Sendable () -> Duration
  package let sleep: @Sendable (Duration) async -> Void

  package init(
    seconds: @escaping @Sendable () -> Int64, uptime: @escaping @Sendable () -> Duration,
    sleep: @escaping @Sendable (Duration) async -> Void
  ) {
    self.seconds = seconds
    self.uptime = uptime
    self.sleep = sleep
  }

  /// The clocks of the system.
  package static var system: ServerClock {
    let start = ContinuousClock.now
    return ServerClock(
      seconds: { Int64(Date().timeIntervalSince1970) }, uptime: { start.duration(to: .now) },
      sleep: { try? await Task.sleep(for: $0) })
  }
}
