import CDTDigest
import CDTPlatform

/// A password in a form from which it can't be read, but that can be verified.
///
/// ```swift
/// let hash = try PasswordHash("correct horse")
/// hash.text                             // $scrypt$ln=14,r=8,p=2$…$…
/// try hash.verifies("correct horse")    // true
/// ```
///
/// - Complexity: See ``Function/work``. With the standard parameters, deriving and verifying use 16 MiB and about 60 ms of
///   one core.
package struct PasswordHash: Sendable {
  package let function: Function
  let salt: [UInt8]
  let key: [UInt8]

  init(function: Function, salt: [UInt8], key: [UInt8]) {
    self.function = function
    self.salt = salt
    self.key = key
  }

  /// Derives a hash with a random salt.
  ///
  /// - Throws: `KeyDerivationError` if there is no memory.
  package init(_ password: String, function: Function = .standard) throws {
    let salt = RandomBytes.make(16)
    self.init(
      function: function, salt: salt,
      key: try function.derive(password, salt: salt, count: 32))
  }

  /// A hash that no known password has, and that costs as much to verify.
  package static func decoy(_ function: Function) -> PasswordHash {
    PasswordHash(function: function, salt: RandomBytes.make(16), key: RandomBytes.make(32))
  }

  /// Whether this is the hash of the password. The time does not depend on where the hashes differ.
  ///
  /// - Throws: `KeyDerivationError` if there is no memory.
  package func verifies(_ password: String) throws -> Bool {
    let derived = try function.derive(password, salt: salt, count: key.count)
    // The comparison of keys takes constant time. The empty password is nobody's, nor one with NUL: HMAC, on which both
    // functions rest, ignores NULs at the end.
    return AuthenticationCode.areEqual(derived, key) && !password.isEmpty && !password.utf8.contains(0)
  }

}

extension PasswordHash {
  /// A slow function from a password and a salt to a key.
  package enum Function: Hashable, Sendable {
    /// scrypt (RFC 7914) with the cost N = 2^`logN`, the block size `r` and the parallelism `p`.
    case scrypt(logN: Int, r: Int, p: Int)
    /// PBKDF2 (RFC 8018) with HMAC-SHA-256, as CouchDB uses it. Only verified, as it is cheaper to attack.
    case pbkdf2(iterations: Int)

    package static let standard = Function.scrypt(logN: 14, r: 8, p: 2)

    /// The relative time that a derivation takes: a quarter to half a microsecond each.
    package var work: Int {
      switch self {
      case .scrypt(let logN, let r, let p): r * p << logN
      case .pbkdf2(let iterations): iterations
      }
    }

    /// Whether a derivation takes at most 64 MiB and about a second, so that a file of users can't exhaust the machine.
    var isAffordable: Bool {
      switch self {
      case .scrypt(let logN, let r, let p):
        (1...19).contains(logN) && (1...16).contains(r) && (1...8).contains(p)
          && logN < 16 * r && 128 * r << logN <= 64 << 20 && work <= 1 << 21
      case .pbkdf2(let iterations): (1...2_000_000).contains(iterations)
      }
    }

    func derive(_ password: String, salt: [UInt8], count: Int) throws -> [UInt8] {
      // The library needs at least one byte; `verifies` refuses the empty password.
      let password = password.isEmpty ? [0] : Array(password.utf8)
      switch self {
      case .scrypt(let logN, let r, let p):
        return try KeyDerivation.scrypt(
          password, salt: salt, cost: 1 << logN, blockSize: r, parallelism: p, count: count)
      case .pbkdf2(let iterations):
        return try KeyDerivation.pbkdf2(password, salt: salt, iterations: iterations, count: count)
      }
    }
  }
}
