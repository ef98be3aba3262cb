import CDTServer
import CDTServerTestSupport
import CouchDB
import FoundationEssentials
import Glibc
import Synchronization
import Testing

@Suite struct AuthenticatorTests {
  let files: ServerDirectory
  let file: UserFile
  let time = TestClock()
  let reported = Reports()
  let peer = "192.0.2.1"

  final class Reports: Sendable {
    private let errors = Mutex<[UserFileError]>([])
    var all: [UserFileError] { errors.withLock { $0 } }
    func add(_ error: UserFileError) { errors.withLock { $0.append(error) } }
  }

  init() throws {
    files = try ServerDirectory()
    file = UserFile(files.path("users.json"))
    _ = try file.setPassword("correct:horse", of: "mike", roles: ["team"], function: .cheap)
    _ = try file.setPassword("root", of: "root", roles: ["_admin"], function: .cheap)
  }

  func authenticator(work: PasswordWork = PasswordWork()) throws -> Authenticator {
    Authenticator(
      users: try UserDirectory(file, at: time.uptime), cookie: SessionCookie(isSecure: false),
      clock: time.clock,
      work: work, report: { [reported] in reported.add($0) })
  }

  static func basic(_ name: String, _ password: String) -> String {
    "Basic " + Data("\(name):\(password)".utf8).base64EncodedString()
  }

  static func pair(_ header: String?) throws -> String {
    String(try #require(header?.split(separator: ";").first))
  }

  func identity(
    _ authenticator: Authenticator, _ authorization: String?, cookies: [String] = [], from peer: String? = nil
  ) async throws(CouchError) -> Identity {
    try await authenticator.authenticate(
      authorization: authorization, cookies: cookies, from: peer ?? self.peer
    ).identity
  }

  func error(
    _ authenticator: Authenticator, _ authorization: String?, cookies: [String] = [], from peer: String? = nil
  ) async -> CouchError? {
    do throws(CouchError) {
      _ = try await identity(authenticator, authorization, cookies: cookies, from: peer)
      return nil
    } catch {
      return error
    }
  }

  // MARK: Basic authentication

  @Test func `a request without credentials is anonymous`() async throws {
    let authentication = try await authenticator().authenticate(authorization: nil, cookies: [], from: peer)
    #expect(authentication.identity == .anonymous)
    #expect(authentication.cookie == nil)
    #expect(!authentication.identity.isAdmin)
  }

  @Test func `the right password gives the name and the roles`() async throws {
    let authenticator = try authenticator()
    let mike = try await identity(authenticator, Self.basic("mike", "correct:horse"))
    #expect(mike == Identity(name: "mike", roles: ["team"], handler: .basic))
    #expect(!mike.isAdmin)
    #expect(try await identity(authenticator, Self.basic("root", "root")).isAdmin)
    #expect(
      try await identity(authenticator, Self.basic("root", "root").replacing("Basic", with: "bASIC")).isAdmin)
  }

  @Test(arguments: [
    ("mike", "wrong"), ("mike", ""), ("mike", "correct"), ("mike", "correct:horse\0"),
    ("nobody", "correct:horse"),
    ("", ""), ("", "root"), ("Mike", "correct:horse"), ("_admin", "root"), ("mike ", "correct:horse"),
  ])
  func `wrong names and passwords are 401`(_ name: String, _ password: String) async throws {
    #expect(await error(try authenticator(), Self.basic(name, password)) == .wrongPassword)
  }

  struct Header: Sendable, CustomTestStringConvertible {
    let text: String
    let error: CouchError?
    var testDescription: String { text }
  }
  static let headers = [
    Header(text: "Basic YW=J", error: .invalidBase64), Header(text: "Basic ====", error: .invalidBase64),
    Header(text: "Basic: bWlrZTp4", error: nil), Header(text: "Basic %%%", error: .invalidBase64),
    Header(text: "Basic bWlrZTp4AA", error: .invalidBase64),
    Header(text: "Basic bWlrZTp4\u{E9}", error: .invalidBase64),
    Header(text: "Basic bWlrZTp4Cg", error: .invalidBase64),
    Header(text: "Basic", error: nil), Header(text: "", error: nil),
    Header(text: " ", error: nil), Header(text: "Basic ", error: nil),
    Header(text: "Digest username=\"mike\"", error: nil),
    Header(text: "Bearer abc.def.ghi", error: .bearerToken), Header(text: "bearer x", error: .bearerToken),
    // Not UTF-8.
    Header(text: "Basic bWlrZTr/", error: .wrongPassword),
    // No colon, and CouchDB's name and password of those who are logged out.
    Header(text: "Basic bWlrZQ==", error: nil), Header(text: "Basic Xzpf", error: nil),
  ]

  @Test(arguments: headers)
  func `reads headers without a name and a password`(_ header: Header) async throws {
    let authenticator = try authenticator()
    #expect(await error(authenticator, header.text) == header.error)
    if header.error == nil { #expect(try await identity(authenticator, header.text) == .anonymous) }
  }

  // MARK: Sessions

  @Test func `a login begins a session`() async throws {
    let authenticator = try authenticator()
    let login = try await authenticator.logIn(name: "mike", password: "correct:horse", from: peer)
    #expect(login.identity == Identity(name: "mike", roles: ["team"], handler: .cookie))
    let known = try await authenticator.authenticate(
      authorization: nil, cookies: [Self.pair(login.cookie)], from: "203.0.113.9")
    #expect(known.identity == login.identity)
    #expect(known.cookie == nil)
  }

  @Test func `a login with a wrong password is 401`() async throws {
    let authenticator = try authenticator()
    await #expect(throws: CouchError.wrongPassword) {
      try await authenticator.logIn(name: "mike", password: "wrong", from: peer)
    }
    #expect(authenticator.cookieRemoval.hasPrefix("AuthSession=; "))
  }

  @Test func `a session that is used is renewed, one that is not expires`() async throws {
    let authenticator = try authenticator()
    let first = try await authenticator.logIn(name: "mike", password: "correct:horse", from: peer)
    time.advance(by: .seconds(61))
    let known = try await authenticator.authenticate(
      authorization: nil, cookies: [Self.pair(first.cookie)], from: peer)
    #expect(known.identity.name == "mike")
    let renewed = try Self.pair(known.cookie)
    time.advance(by: .seconds(540))
    #expect(try await identity(authenticator, nil, cookies: [Self.pair(first.cookie)]) == .anonymous)
    #expect(try await identity(authenticator, nil, cookies: [renewed]).name == "mike")
  }

  @Test func `a forged cookie is anonymous, a malformed one 400`() async throws {
    let authenticator = try authenticator()
    let forged = SessionCookie(isSecure: false)
    let mike = try #require(try file.read().users["mike"])
    let cookie = try Self.pair(forged.header(for: mike, at: TestClock.start))
    #expect(try await identity(authenticator, nil, cookies: [cookie]) == .anonymous)
    let malformed = "AuthSession=x"
    #expect(await error(authenticator, nil, cookies: [malformed]) == .malformedCookie)
    // Good credentials beside a bad cookie are accepted.
    for bad in [cookie, malformed] {
      let identity = try await identity(authenticator, Self.basic("mike", "correct:horse"), cookies: [bad])
      #expect(identity.handler == .basic)
      #expect(
        await error(authenticator, Self.basic("mike", "x"), cookies: [bad], from: "::1") == .wrongPassword)
    }
  }

  @Test func `a valid cookie comes before the Authorization header`() async throws {
    let authenticator = try authenticator()
    let login = try await authenticator.logIn(name: "mike", password: "correct:horse", from: peer)
    let known = try await identity(
      authenticator, Self.basic("root", "wrong"), cookies: [try Self.pair(login.cookie)])
    #expect(known.name == "mike" && !known.isAdmin)
  }

  @Test func `a session ends with the password, and with the user`() async throws {
    let authenticator = try authenticator()
    let login = try await authenticator.logIn(name: "mike", password: "correct:horse", from: peer)
    let cookies = [try Self.pair(login.cookie)]
    _ = try file.setPassword("correct:horse", of: "mike", function: .cheap)
    time.advance(by: .seconds(1))
    #expect(try await identity(authenticator, nil, cookies: cookies) == .anonymous)
    let second = [
      try Self.pair(await authenticator.logIn(name: "mike", password: "correct:horse", from: peer).cookie)
    ]
    try file.remove("mike")
    time.advance(by: .seconds(1))
    #expect(try await identity(authenticator, nil, cookies: second) == .anonymous)
  }

  // MARK: The file of users

  @Test func `without a file of users everyone is an admin, and no password is right`() async throws {
    let authenticator = Authenticator(
      users: nil, cookie: SessionCookie(isSecure: false), clock: time.clock,
      report: { [reported] in reported.add($0) })
    let anyone = try await identity(authenticator, nil)
    #expect(anyone.isAdmin && anyone.name == nil)
    #expect(await error(authenticator, Self.basic("mike", "x")) == .wrongPassword)
    await #expect(throws: CouchError.wrongPassword) {
      try await authenticator.logIn(name: "mike", password: "x", from: peer)
    }
  }

  @Test func `a file that is removed makes nobody an admin`() async throws {
    let authenticator = try authenticator()
    let login = try await authenticator.logIn(name: "root", password: "root", from: peer)
    unlink(file.path)
    time.advance(by: .seconds(1))
    for _ in 0..<3 {
      #expect(await error(authenticator, nil) == .noUsers)
      #expect(await error(authenticator, Self.basic("root", "root")) == .noUsers)
      #expect(await error(authenticator, nil, cookies: [try Self.pair(login.cookie)]) == .noUsers)
      time.advance(by: .seconds(1))
    }
    #expect(reported.all == [.missing(file.path)])
  }
}
