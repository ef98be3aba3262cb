import CDTDigest
import CDTJSON
package import CouchDB

/// The cookie of a session, `AuthSession`: a user's name and a time, authenticated with a key that only the server has.
///
/// Its value is Base64 (for URLs) of `NAME:SECONDS:MAC`: the seconds since 1970 in hexadecimal, and HMAC-SHA-256 of what is
/// before the last colon. The key is derived from the server's secret and the user's password hash, so a new password ends
/// all sessions of the user. The server stores nothing, so logging out only removes the cookie from the client.
package struct SessionCookie: Sendable {
  package static let name = "AuthSession"
  /// The life of a session, in seconds.
  package static let lifetime: Int64 = 600
  /// The maximum difference of the clocks of servers with the same secret, in seconds.
  static let clockDifference: Int64 = 60

  /// The policy of browsers for requests that another site causes.
  package enum SameSite: String, Sendable {
    case strict = "Strict"
    case none = "None"
  }

  /// The shortest secret that can't be guessed, in bytes.
  static let minimumSecretLength = 32

  private let secret: [UInt8]
  private let sameSite: @Sendable () -> SameSite
  private let isSecure: Bool
  private var attributes: String {
    "Path=/; HttpOnly; SameSite=\(sameSite().rawValue)" + (isSecure ? "; Secure" : "")
  }
  private let lifetime: Int64
  /// The age from which a reply renews the cookie, in seconds.
  private var renewalAge: Int64 { lifetime / 10 }

  /// - Parameters:
  ///   - secret: A secret that several servers can share; `nil` for a random one, so that a restart ends all sessions.
  ///   - sameSite: Evaluated for each cookie, as the origins of the server change.
  ///   - isSecure: Whether the server has TLS; browsers then don't send the cookie without TLS.
  ///   - lifetime: The life of a session, in seconds.
  package init(
    secret: [UInt8]? = nil, sameSite: @escaping @autoclosure @Sendable () -> SameSite = .strict,
    isSecure: Bool, lifetime: Int64 = Self.lifetime
  ) {
    self.lifetime = lifetime
    self.secret = secret ?? RandomBytes.make(32)
    self.sameSite = sameSite
    self.isSecure = isSecure
  }

  // MARK: Writing

  /// The `Set-Cookie` header that begins or renews a user's session.
  ///
  /// - Parameter now: Seconds since 1970.
  package func header(for user: User, at now: Int64) -> String {
    let expires = HTTPDate.text(now + lifetime)
    return
      "\(Self.name)=\(value(for: user, at: now)); Version=1; Expires=\(expires); Max-Age=\(lifetime); \(attributes)"
  }

  /// The `Set-Cookie` header that removes the cookie.
  package var removal: String {
    "\(Self.name)=; Version=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=0; \(attributes)"
  }

  package func value(for user: User, at now: Int64) -> String {
    let text = Array("\(user.name):\(String(now, radix: 16, uppercase: true))".utf8)
    let code = AuthenticationCode.hmacSHA256(text, key: key(of: user))
    return Base64.urlText(text + [UInt8(ascii: ":")] + code)
  }

  private func key(of user: User) -> [UInt8] {
    AuthenticationCode.hmacSHA256(Array(user.password.text.utf8), key: secret)
  }

  // MARK: Reading

  /// The parts of a cookie's value, which are not verified yet.
  package struct Claim: Sendable {
    package let name: String
    fileprivate let time: Int64?
    fileprivate let text: [UInt8]
    fileprivate let code: [UInt8]
  }

  /// Finds the cookie in the `Cookie` headers of a request.
  ///
  /// - Returns: `nil` if there is none.
  /// - Throws: 400 if the value does not have the three parts.
  package static func claim(in headers: [String]) throws(CouchError) -> Claim? {
    guard let value = value(in: headers), !value.isEmpty else { return nil }
    guard value.utf8.count <= 1_024, let bytes = Base64.decodeURLText(value) else {
      throw .malformedCookie
    }
    let parts = bytes.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, let name = String(validating: parts[0], as: UTF8.self),
      let digits = String(validating: parts[1], as: UTF8.self)
    else { throw .malformedCookie }
    return Claim(
      name: name, time: Int64(digits, radix: 16), text: Array(bytes.prefix(parts[2].startIndex - 1)),
      code: Array(parts[2]))
  }

  private static func value(in headers: [String]) -> Substring? {
    for header in headers {
      for pair in header.utf8.split(separator: UInt8(ascii: ";")) {
        let pair = Substring(pair).drop { $0 == " " || $0 == "\t" }
        guard pair.hasPrefix(name + "=") else { continue }
        let value = pair.dropFirst(name.count + 1)
        let isQuoted = value.utf8.count >= 2 && value.hasPrefix("\"") && value.hasSuffix("\"")
        return isQuoted ? value.dropFirst().dropLast() : value
      }
    }
    return nil
  }

  /// The state of a session.
  package enum State: Sendable, Hashable {
    /// Forged, expired, or of an earlier password.
    case invalid
    case valid
    /// Valid, and old enough to be renewed.
    case renewable
  }

  /// Verifies a claim in a time that does not depend on where the code is wrong.
  package func state(of claim: Claim, user: User, at now: Int64) -> State {
    let isAuthentic = AuthenticationCode.areEqual(
      claim.code, AuthenticationCode.hmacSHA256(claim.text, key: key(of: user)))
    guard isAuthentic, let time = claim.time, let age = self.age(of: time, at: now) else { return .invalid }
    return age > renewalAge ? .renewable : .valid
  }

  /// `nil` if the session has expired, or has not begun.
  private func age(of time: Int64, at now: Int64) -> Int64? {
    let (age, overflow) = now.subtractingReportingOverflow(time)
    return !overflow && age < lifetime && age >= -Self.clockDifference ? age : nil
  }
}
