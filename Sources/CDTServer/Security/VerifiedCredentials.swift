import CDTDigest

/// Credentials that were verified a short time ago, so that not every request of a client pays for a derivation.
///
/// What is kept is a code of the credentials under a random key, not the credentials.
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
