import CDTJSON
import CDTPlatform

/// Slows guessing of passwords.
///
/// Each failed login for a name, and each from an address, delays the next ones. After five failures for a name from an
/// address, that name is locked for that address until five minutes after the last failure, as in CouchDB. An attacker at another address
/// can slow a user's logins, but can't lock the user out.
///
/// An attempt counts as failed from its beginning, so that attempts at the same time don't escape the limit.
package struct LoginThrottle: Sendable {
  /// Where a login comes from: an address, or the 64-bit network of an IPv6 address, all of which one machine can use.
  package struct Source: Hashable, Sendable {
    private let text: KeyBytes
    private let address: IPAddress?

    package init(_ peer: String) {
      address = IPAddress(peer)?.subscriber
      text = KeyBytes(address == nil ? peer : "")
    }
  }

  /// A login with a name from an address.
  package struct Attempt: Hashable, Sendable {
    /// `nil` for a text that can't be a name. All such texts count together, so they need no memory.
    let name: KeyBytes?
    let source: Source

    package init(name: String, source: Source) {
      self.name = User.isName(name) ? KeyBytes(name) : nil
      self.source = source
    }
  }

  package static let maximumFailures = 5
  package static let window = Duration.seconds(300)
  package static let shortestDelay = Duration.milliseconds(100)
  package static let longestDelay = Duration.seconds(2)

  private var attempts: FailureTable<Attempt>
  private var names: FailureTable<KeyBytes?>
  private var sources: FailureTable<Source>

  /// - Parameter capacity: The maximum number of names, addresses and pairs of them that are kept.
  package init(capacity: Int = 10_000) {
    attempts = FailureTable(window: Self.window, capacity: capacity)
    names = FailureTable(window: Self.window, capacity: capacity)
    sources = FailureTable(window: Self.window, capacity: capacity)
  }

  /// The number of counts in memory.
  package var size: Int { attempts.size + names.size + sources.size }

  /// Whether the name is locked for the address.
  package func isLocked(_ attempt: Attempt, at now: Duration) -> Bool {
    attempts.count(attempt, at: now) >= Self.maximumFailures
  }

  /// Counts an attempt as failed.
  ///
  /// - Returns: How long to wait before the password is verified.
  package mutating func begin(_ attempt: Attempt, at now: Duration) -> Duration {
    let failures = max(names.count(attempt.name, at: now), sources.count(attempt.source, at: now))
    attempts.add(attempt, at: now)
    names.add(attempt.name, at: now)
    sources.add(attempt.source, at: now)
    return Self.delay(after: failures)
  }

  /// Forgets the failures for the name from the address.
  package mutating func succeed(_ attempt: Attempt, at now: Duration) {
    remove(attempts.count(attempt, at: now), of: attempt)
  }

  /// Forgets an attempt whose password was not verified.
  package mutating func withdraw(_ attempt: Attempt) {
    remove(1, of: attempt)
  }

  private mutating func remove(_ count: Int, of attempt: Attempt) {
    attempts.subtract(count, from: attempt)
    names.subtract(count, from: attempt.name)
    sources.subtract(count, from: attempt.source)
  }

  private static func delay(after failures: Int) -> Duration {
    guard failures > 0 else { return .zero }
    return min(longestDelay, shortestDelay * (1 << min(failures - 1, 10)))
  }
}
