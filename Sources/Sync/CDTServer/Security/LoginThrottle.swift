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
  /// The origin of a login: an address, or the 64-bit network of an IPv6 address, all of which one machine can use.
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
  /// - Returns: The time to wait before the password is verified.
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

/// Counts failures by key, for a limited time and in limited memory.
struct FailureTable<Key: Hashable & Sendable>: Sendable {
  private struct Entry {
    var count: Int
    var last: Duration
  }

  private let window: Duration
  private let capacity: Int
  private var entries: [Key: Entry] = [:]

  /// - Parameter window: The time for which a count is kept after the last failure.
  init(window: Duration, capacity: Int) {
    self.window = window
    self.capacity = max(1, capacity)
  }

  /// The number of keys in memory.
  var size: Int { entries.count }

  func count(_ key: Key, at now: Duration) -> Int {
    guard let entry = entries[key], now - entry.last < window else { return 0 }
    return entry.count
  }

  mutating func add(_ key: Key, at now: Duration) {
    let count = count(key, at: now)
    if entries[key] == nil, entries.count >= capacity { makeRoom(at: now) }
    entries[key] = Entry(count: count + 1, last: now)
  }

  mutating func subtract(_ number: Int, from key: Key) {
    guard var entry = entries[key] else { return }
    entry.count -= number
    entries[key] = entry.count > 0 ? entry : nil
  }

  /// Removes expired entries, or else the one with the fewest failures, the oldest of several: someone who invents keys
  /// pushes out invented keys before those with many failures.
  private mutating func makeRoom(at now: Duration) {
    entries = entries.filter { now - $0.value.last < window }
    guard entries.count >= capacity else { return }
    let least = entries.min { ($0.value.count, $0.value.last) < ($1.value.count, $1.value.last) }
    if let least { entries[least.key] = nil }
  }
}
