import CDTJSON
import CDTPlatform

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
