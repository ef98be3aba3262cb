import CDTDigest
import CDTJSON
import CDTPlatform
package import CouchDB
import Synchronization

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

// The text of a hash in a file of users:
//
//     $scrypt$ln=14,r=8,p=2$SALT$KEY              SALT and KEY in Base64 without padding
//     -pbkdf2:sha256-KEY,SALT,ITERATIONS          KEY in hexadecimal; SALT is text
//
// The first is the format of the Password Hashing Competition, the second CouchDB's, as in its file local.ini.
extension PasswordHash {
  private static let scryptPrefix = "$scrypt$"
  private static let couchPrefix = "-pbkdf2:sha256-"

  package var text: String {
    switch function {
    case .scrypt(let logN, let r, let p):
      "\(Self.scryptPrefix)ln=\(logN),r=\(r),p=\(p)$\(Base64.unpadded(salt))$\(Base64.unpadded(key))"
    case .pbkdf2(let iterations):
      "\(Self.couchPrefix)\(Hexadecimal.text(key)),\(String(decoding: salt, as: UTF8.self)),\(iterations)"
    }
  }

  /// Reads a hash; `nil` if it has another form, or parameters that would take too much memory or time.
  package init?(text: String) {
    // The longest valid text is shorter, and none that is long is worth splitting.
    guard text.utf8.count <= 512 else { return nil }
    let hash: PasswordHash?
    if text.hasPrefix(Self.scryptPrefix) {
      hash = Self.scrypt(text.dropFirst(Self.scryptPrefix.count))
    } else if text.hasPrefix(Self.couchPrefix) {
      hash = Self.pbkdf2(text.dropFirst(Self.couchPrefix.count))
    } else {
      hash = nil
    }
    guard let hash, hash.function.isAffordable, (8...64).contains(hash.salt.count) else { return nil }
    self = hash
  }

  private static func scrypt(_ text: Substring) -> PasswordHash? {
    let parts = text.split(separator: "$", omittingEmptySubsequences: false)
    guard parts.count == 3 else { return nil }
    let parameters = parts[0].split(separator: ",", omittingEmptySubsequences: false)
    guard parameters.count == 3, let logN = number(parameters[0], after: "ln="),
      let r = number(parameters[1], after: "r="), let p = number(parameters[2], after: "p="),
      let salt = Base64.decodeUnpadded(parts[1]), let key = Base64.decodeUnpadded(parts[2]),
      (16...64).contains(key.count)
    else { return nil }
    return PasswordHash(function: .scrypt(logN: logN, r: r, p: p), salt: salt, key: key)
  }

  private static func pbkdf2(_ text: Substring) -> PasswordHash? {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count == 3, let key = Hexadecimal.bytes(parts[0]), key.count == 32,
      let iterations = number(parts[2], after: "")
    else { return nil }
    return PasswordHash(
      function: .pbkdf2(iterations: iterations), salt: Array(parts[1].utf8), key: key)
  }

  /// A decimal number without a sign.
  private static func number(_ text: Substring, after prefix: String) -> Int? {
    guard text.hasPrefix(prefix) else { return nil }
    let digits = text.dropFirst(prefix.count)
    guard digits.utf8.allSatisfy(\.isDigit) else { return nil }
    return Int(digits)
  }
}

/// Derives keys from passwords on two threads of its own, as each takes a core for a twentieth of a second and 16 MiB.
///
/// Swift's threads go on meanwhile. If too many derivations wait, further ones are refused.
package final class PasswordWork: Sendable {
  private let queue = WorkQueue(threads: 2)
  private let limit: Int
  private let unfinished = Mutex(0)

  /// - Parameter limit: The maximum number of derivations that run or wait.
  package init(limit: Int = 64) {
    self.limit = limit
  }

  /// Runs a derivation.
  ///
  /// - Returns: 503 if too many wait, or there is no memory or thread for it.
  package func run<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async -> Result<R, CouchError> {
    let isAccepted = unfinished.withLock { count in
      guard count < limit else { return false }
      count += 1
      return true
    }
    guard isAccepted else { return .failure(.busyWithLogins) }
    defer { unfinished.withLock { $0 -= 1 } }
    return await withCheckedContinuation { continuation in
      do throws(SystemError) {
        try queue.add {
          do {
            continuation.resume(returning: .success(try body()))
          } catch {
            continuation.resume(returning: .failure(.busyWithLogins))
          }
        }
      } catch {
        continuation.resume(returning: .failure(.busyWithLogins))
      }
    }
  }
}

/// Base64 without padding, in the alphabets of RFC 4648.
extension Base64 {
  static func unpadded(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString().replacing("=", with: "")
  }

  /// `nil` if the text has padding, or any character outside the alphabet.
  static func decodeUnpadded(_ text: some StringProtocol) -> [UInt8]? {
    guard !text.utf8.contains(UInt8(ascii: "=")) else { return nil }
    let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    return decode(text + padding)
  }

  /// In the alphabet for URLs and cookies.
  static func urlText(_ bytes: [UInt8]) -> String {
    unpadded(bytes).replacing("+", with: "-").replacing("/", with: "_")
  }

  /// From the alphabet for URLs and cookies.
  static func decodeURLText(_ text: some StringProtocol) -> [UInt8]? {
    guard !text.utf8.contains(where: { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/") }) else {
      return nil
    }
    return decodeUnpadded(String(text).replacing("-", with: "+").replacing("_", with: "/"))
  }
}
