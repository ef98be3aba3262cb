import CDTDigest
import CouchDB
import Synchronization

/// Verifies names and passwords, slowly for those who guess and quickly for those whose credentials were verified before.
final class Logins: Sendable {
  /// The same credentials from the same source, which are verified once however many requests bring them.
  fileprivate struct Login: Hashable {
    let key: VerifiedCredentials.Key
    let source: LoginThrottle.Source
  }

  fileprivate typealias Verification = Task<Result<Bool, CouchError>, Never>

  fileprivate struct State {
    var throttle = LoginThrottle()
    var verified = VerifiedCredentials()
    var generation = 0
    var running: [Login: Verification] = [:]
    /// The number of running verifications by source.
    var loads: [LoginThrottle.Source: Int] = [:]
  }

  /// One source can't keep others from logging in.
  static let maximumPerSource = 16
  static let maximumRunning = 1_024

  private let clock: ServerClock
  private let work: PasswordWork
  private let state = Mutex(State())

  init(clock: ServerClock, work: PasswordWork) {
    self.clock = clock
    self.work = work
  }

  /// The user with the credentials.
  func check(
    _ credentials: BasicCredentials, from source: LoginThrottle.Source, _ users: UserDirectory.Snapshot
  ) async throws(CouchError) -> User {
    let isRight: Bool
    switch try start(credentials, source, users) {
    case .known: isRight = true
    case .running(let verification): isRight = try await verification.value.get()
    }
    guard isRight, let user = users.users[credentials.name] else { throw .wrongPassword }
    return user
  }

  private enum Start {
    case known
    case running(Verification)
  }

  private func start(
    _ credentials: BasicCredentials, _ source: LoginThrottle.Source, _ users: UserDirectory.Snapshot
  ) throws(CouchError) -> Start {
    let now = clock.uptime()
    let attempt = LoginThrottle.Attempt(name: credentials.name, source: source)
    return try state.withLock { state throws(CouchError) in
      state.forget(before: users.generation)
      let key = state.verified.key(of: credentials, generation: users.generation)
      let login = Login(key: key, source: source)
      // First of all, so that a locked account does not tell whether the password is right.
      guard !state.throttle.isLocked(attempt, at: now) else { throw .accountLocked }
      if state.verified.contains(key, at: now) { return .known }
      if let running = state.running[login] { return .running(running) }
      guard state.running.count < Self.maximumRunning else { throw .busyWithLogins }
      guard state.loads[source, default: 0] < Self.maximumPerSource else { throw .tooManyLogins }
      let delay = state.throttle.begin(attempt, at: now)
      let verification = Verification { [self] in
        await verify(credentials, users, login, attempt, after: delay)
      }
      state.running[login] = verification
      state.loads[source, default: 0] += 1
      return .running(verification)
    }
  }

  private func verify(
    _ credentials: BasicCredentials, _ users: UserDirectory.Snapshot, _ login: Login,
    _ attempt: LoginThrottle.Attempt, after delay: Duration
  ) async -> Result<Bool, CouchError> {
    if delay > .zero { await clock.sleep(delay) }
    let hash = users.users[credentials.name]?.password
    let result = await work.run {
      // For a name that nobody has, the decoy takes the same time.
      try (hash ?? users.decoy).verifies(credentials.password) && hash != nil
    }
    let now = clock.uptime()
    state.withLock { state in
      state.end(login)
      switch result {
      case .success(true):
        state.throttle.succeed(attempt, at: now)
        if users.generation == state.generation { state.verified.insert(login.key, at: now) }
      case .success(false): break
      case .failure: state.throttle.withdraw(attempt)
      }
    }
    return result
  }
}

extension Logins.State {
  /// Forgets what was verified with earlier users.
  fileprivate mutating func forget(before generation: Int) {
    guard generation > self.generation else { return }
    self.generation = generation
    verified.removeAll()
  }

  fileprivate mutating func end(_ login: Logins.Login) {
    running[login] = nil
    let load = loads[login.source, default: 1] - 1
    loads[login.source] = load > 0 ? load : nil
  }
}

/// Credentials that were verified a short time ago, so that not every request of a client pays for a derivation.
///
/// A code of the credentials under a random key is kept, not the credentials.
package struct VerifiedCredentials: Sendable {
  /// The code of a name and a password.
  package struct Key: Hashable, Sendable {
    fileprivate let code: [UInt8]
  }

  package static let lifetime = Duration.seconds(60)

  private let secret = RandomBytes.make(32)
  private let capacity: Int
  private var ends: [Key: Duration] = [:]

  package init(capacity: Int = 1_000) {
    self.capacity = max(1, capacity)
  }

  package var size: Int { ends.count }

  /// - Parameter generation: The generation of the users, so that nothing outlives a change of the file.
  package func key(of credentials: BasicCredentials, generation: Int) -> Key {
    let text =
      "\(generation):\(credentials.name.utf8.count):\(credentials.name)\(credentials.password)"
    return Key(code: AuthenticationCode.hmacSHA256(Array(text.utf8), key: secret))
  }

  package func contains(_ key: Key, at now: Duration) -> Bool {
    ends[key].map { now < $0 } ?? false
  }

  package mutating func insert(_ key: Key, at now: Duration) {
    if ends[key] == nil, ends.count >= capacity {
      ends = ends.filter { now < $0.value }
      if ends.count >= capacity, let oldest = ends.min(by: { $0.value < $1.value }) { ends[oldest.key] = nil }
    }
    ends[key] = now + Self.lifetime
  }

  package mutating func removeAll() { ends = [:] }
}
