import CDTServer
import CouchDB
import FoundationEssentials
import Synchronization
import Testing

@Suite struct SessionCookieTests {
  static let now: Int64 = 1_700_000_000
  let cookie = SessionCookie(isSecure: false)
  let mike: User

  init() throws {
    mike = try User(name: "mike", password: PasswordHash("x", function: .cheap), roles: [])
  }

  private func state(
    _ value: String, _ user: User, at time: Int64 = now, _ cookie: SessionCookie? = nil
  ) throws -> SessionCookie.State {
    let claim = try #require(try SessionCookie.claim(in: ["AuthSession=\(value)"]))
    return (cookie ?? self.cookie).state(of: claim, user: user, at: time)
  }

  /// The bytes of a value.
  private func bytes(_ value: String) throws -> [UInt8] {
    let text = value.replacing("-", with: "+").replacing("_", with: "/")
    return Array(
      try #require(Data(base64Encoded: text + String(repeating: "=", count: (4 - text.count % 4) % 4))))
  }

  private func value(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString().replacing("=", with: "").replacing("+", with: "-").replacing(
      "/", with: "_")
  }

  // MARK: Values

  @Test func `a value is the name, the time in hexadecimal and a code, in Base64 for URLs`() throws {
    let text = try bytes(cookie.value(for: mike, at: Self.now))
    #expect(text.starts(with: Array("mike:6553F100:".utf8)))
    #expect(text.count == "mike:6553F100:".utf8.count + 32)
  }

  @Test func `a session is valid for ten minutes and renewed after one`() throws {
    let value = cookie.value(for: mike, at: Self.now)
    let states: [Int64: SessionCookie.State] = [
      0: .valid, 60: .valid, 61: .renewable, 599: .renewable, 600: .invalid, 1_000_000: .invalid,
      // Another server's clock may be ahead, but not by much.
      -60: .valid, -61: .invalid, -1_000_000: .invalid,
    ]
    for (age, expected) in states {
      #expect(try state(value, mike, at: Self.now + age) == expected, "\(age)")
    }
    for time in [Int64.min, .max] { #expect(try state(value, mike, at: time) == .invalid) }
  }

  @Test func `no bit of a value can be changed`() throws {
    let original = try bytes(cookie.value(for: mike, at: Self.now))
    for index in original.indices {
      for bit in 0..<8 {
        var forged = original
        forged[index] ^= 1 << bit
        // What has no three parts any more, or no UTF-8, is refused before.
        guard let claim = try? SessionCookie.claim(in: ["AuthSession=\(value(forged))"]) else { continue }
        #expect(cookie.state(of: claim, user: mike, at: Self.now) == .invalid, "byte \(index), bit \(bit)")
      }
    }
  }

  @Test func `a code that is cut off, empty or longer is invalid`() throws {
    let original = try bytes(cookie.value(for: mike, at: Self.now))
    let all: [[UInt8]] = [
      original.dropLast(1), original.dropLast(32), original + [0], original + original,
    ]
    for forged in all {
      #expect(try state(value(forged), mike) == .invalid)
    }
  }

  @Test func `the time can't be replaced, and need not be a number`() throws {
    let original = try bytes(cookie.value(for: mike, at: Self.now))
    for time in ["6553F101", "FFFFFFFFFFFFFFFF", "7FFFFFFFFFFFFFFF", "-8000000000000000", "", "zz", "６５"] {
      let forged = Array("mike:\(time):".utf8) + original.suffix(32)
      #expect(try state(value(forged), mike) == .invalid, "\(time)")
    }
  }

  @Test func `users have different values, even with the same password`() throws {
    let zoe = try User(name: "zoe", password: mike.password, roles: ["_admin"])
    #expect(try state(cookie.value(for: mike, at: Self.now), zoe) == .valid)
    let original = try bytes(cookie.value(for: mike, at: Self.now))
    let renamed = Array("zoe".utf8) + original.dropFirst("mike".utf8.count)
    #expect(try state(value(renamed), zoe) == .invalid)
  }

  @Test func `a new password ends the sessions, even if it is the same`() throws {
    let value = cookie.value(for: mike, at: Self.now)
    let changed = try User(name: "mike", password: PasswordHash("x", function: .cheap), roles: [])
    #expect(try state(value, changed) == .invalid)
  }

  @Test func `servers accept each other's cookies only if they share a secret`() throws {
    let secret = Array("a secret of several servers".utf8)
    let value = SessionCookie(secret: secret, isSecure: false).value(for: mike, at: Self.now)
    #expect(try state(value, mike, SessionCookie(secret: secret, isSecure: true)) == .valid)
    #expect(try state(value, mike, SessionCookie(secret: secret + [1], isSecure: false)) == .invalid)
    #expect(try state(value, mike) == .invalid)
    #expect(
      try state(cookie.value(for: mike, at: Self.now), mike, SessionCookie(isSecure: false)) == .invalid)
  }

  // MARK: Headers

  @Test(arguments: [
    "AuthSession=%%%", "AuthSession=bWlrZQ", "AuthSession=bWlrZTo2NTUz", "AuthSession=a",
    "AuthSession=bWlrZTo2NTUzOg==", "AuthSession=bWlr ZTo2NTUzOg", "AuthSession=//86Og",
    "AuthSession=_zo6", "AuthSession=OjovOv86Og\u{E9}", "AuthSession=" + String(repeating: "A", count: 1_025),
  ])
  func `a value without three parts is 400`(_ header: String) {
    #expect(throws: CouchError.malformedCookie) { try SessionCookie.claim(in: [header]) }
  }

  @Test(arguments: [
    "", ";", "=", "AuthSession", "AuthSession=", "AuthSession=; a=b", "authsession=x", "XAuthSession=x",
    "a=AuthSession=x",
    "AuthSession=\"\"",
  ])
  func `a header without the cookie has none`(_ header: String) throws {
    #expect(try SessionCookie.claim(in: [header]) == nil)
  }

  @Test func `the cookie is found among others, in quotes, and in the second header`() throws {
    let value = cookie.value(for: mike, at: Self.now)
    for headers in [
      ["AuthSession=\(value)"], ["a=b; AuthSession=\(value); c=d"], ["a=b;AuthSession=\"\(value)\""],
      ["a=b", "\t AuthSession=\(value)"], ["AuthSession=\(value);AuthSession=forged"],
    ] {
      let claim = try #require(try SessionCookie.claim(in: headers), "\(headers)")
      #expect(claim.name == "mike")
      #expect(cookie.state(of: claim, user: mike, at: Self.now) == .valid)
    }
  }

  @Test func `the attributes keep the cookie from scripts and other sites`() {
    let value = cookie.value(for: mike, at: Self.now)
    #expect(
      cookie.header(for: mike, at: Self.now)
        == "AuthSession=\(value); Version=1; Expires=Tue, 14 Nov 2023 22:23:20 GMT; Max-Age=600; Path=/; HttpOnly; "
        + "SameSite=Strict")
    #expect(
      cookie.removal
        == "AuthSession=; Version=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=0; Path=/; HttpOnly; SameSite=Strict"
    )
  }

  @Test func `with TLS the cookie is secure`() {
    let secure = SessionCookie(isSecure: true)
    #expect(secure.header(for: mike, at: 0).hasSuffix("; SameSite=Strict; Secure"))
    #expect(secure.removal.hasSuffix("; SameSite=Strict; Secure"))
    #expect(SessionCookie(sameSite: .none, isSecure: true).removal.hasSuffix("; SameSite=None; Secure"))
  }

  @Test func `the policy of a cookie is that of its time`() {
    let policy = Mutex(SessionCookie.SameSite.strict)
    let cookie = SessionCookie(sameSite: policy.withLock { $0 }, isSecure: true)
    #expect(cookie.removal.hasSuffix("; SameSite=Strict; Secure"))
    policy.withLock { $0 = .none }
    #expect(cookie.removal.hasSuffix("; SameSite=None; Secure"))
    #expect(cookie.header(for: mike, at: 0).hasSuffix("; SameSite=None; Secure"))
  }
}
