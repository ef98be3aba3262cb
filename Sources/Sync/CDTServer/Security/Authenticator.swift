import CDTJSON
import CDTPlatform
package import CouchDB
import Synchronization

/// Determines who sends a request, from its headers.
///
/// As in CouchDB, a valid cookie comes first, and then the `Authorization` header. A cookie that is forged or has expired is
/// ignored; wrong credentials are an error.
///
/// ```swift
/// let known = try await authenticator.authenticate(
///   authorization: request.headers[.authorization], cookies: request.headers[values: .cookie], from: peer)
/// known.identity.name  // "mike"
/// ```
package final class Authenticator: Sendable {
  /// The sender of a request, and the `Set-Cookie` header for the reply, if the session begins or is renewed.
  package struct Authentication: Hashable, Sendable {
    package let identity: Identity
    package var cookie: String?
  }

  /// - Parameters:
  ///   - directory: The users. Without it everyone is a server admin, so the server must not be exposed; see ``Exposure``.
  ///   - report: Called when the file of users has become unusable.
  package init(
    users directory: UserDirectory?, cookie: SessionCookie, clock: ServerClock = .system,
    work: PasswordWork = PasswordWork(), report: @escaping @Sendable (UserFileError) -> Void
  ) {
    self.directory = directory
    self.cookie = cookie
    self.clock = clock
    self.report = report
    self.work = work
    logins = Logins(clock: clock, work: work)
  }

  private let directory: UserDirectory?
  private let cookie: SessionCookie
  private let clock: ServerClock
  private let report: @Sendable (UserFileError) -> Void
  private let work: PasswordWork
  private let logins: Logins
  private let files = WorkQueue(threads: 1)

  /// Determines who sends a request.
  ///
  /// - Parameters:
  ///   - cookies: The `Cookie` headers.
  ///   - peer: The address of the client.
  /// - Throws: 400 for headers that can't be read, 401 for wrong credentials, 403 for a locked account, 429 and 503 for too
  ///   many logins at once, 500 if the file of users can't be used.
  package func authenticate(
    authorization: String?, cookies: [String], from peer: String
  ) async throws(CouchError) -> Authentication {
    // A client that gives credentials does not fail because of a cookie.
    let claim: SessionCookie.Claim?
    do throws(CouchError) {
      claim = try SessionCookie.claim(in: cookies)
    } catch {
      guard authorization != nil else { throw error }
      claim = nil
    }
    let users = try await users()
    if let users, let claim, let known = session(claim, users) { return known }
    guard let credentials = try BasicCredentials.read(authorization) else {
      return Authentication(identity: users == nil ? .adminOfServerWithoutUsers : .anonymous)
    }
    let user = try await check(credentials, from: peer, users)
    return Authentication(identity: user.identity(.basic))
  }

  /// A text that stays the same as long as the credentials of a request are those of the same user with the same roles and password;
  /// `nil` if they are not valid any more. Without users, and for an anonymous request, it is empty.
  ///
  /// - Throws: `CouchError` if the file of users can't be used.
  func stamp(of identity: Identity, cookies: [String]) async throws(CouchError) -> String? {
    guard let name = identity.name, let users = try await users() else { return "" }
    guard let user = users.users[name] else { return nil }
    if identity.handler == .cookie {
      guard let claim = try SessionCookie.claim(in: cookies), session(claim, users) != nil else { return nil }
    }
    return ([user.password.text] + user.roles).joined(separator: "\n")
  }

  /// Begins a session.
  ///
  /// - Throws: As ``authenticate(authorization:cookies:from:)``.
  package func logIn(
    name: String, password: String, from peer: String
  ) async throws(CouchError) -> Authentication {
    let user = try await check(
      BasicCredentials(name: name, password: password), from: peer, try await users())
    return Authentication(
      identity: user.identity(.cookie), cookie: cookie.header(for: user, at: clock.seconds()))
  }

  /// The users; none if the server has none.
  func knownUsers() async throws(CouchError) -> Users { try await users()?.users ?? Users() }

  /// Derives the hash of a password, as verifications are done: few at a time.
  func hash(_ password: String) async throws(CouchError) -> PasswordHash {
    try await work.run { try PasswordHash(password) }.get()
  }

  /// Changes the file of users. What it has then is known when the call returns.
  ///
  /// - Throws: The errors of `change`; `CouchError` if the file can't be changed.
  func changeUsers<R: Sendable>(_ change: @escaping @Sendable (inout Users) throws -> R) async throws -> R {
    guard let directory else { throw CouchError.noUsers }
    let result: Result<R, any Error> = await withCheckedContinuation { continuation in
      do throws(SystemError) {
        try files.add {
          let result = Result { try directory.change(change) }
          continuation.resume(returning: result)
        }
      } catch {
        continuation.resume(returning: .failure(CouchError.busyWithLogins))
      }
    }
    do {
      return try result.get()
    } catch let error as UserFileError {
      if ![.busy, .invalidUser, .invalidPassword].contains(error.code) { report(error) }
      throw CouchError(error)
    }
  }

  /// Whether there are users, and none is an admin of the server.
  package var lacksAdmin: Bool {
    guard case .success(let known)? = directory?.current else { return false }
    return !known.users.all.contains { $0.identity(.basic).isAdmin }
  }

  /// The `Set-Cookie` header that ends a session, and that goes with a failed login.
  package var cookieRemoval: String { cookie.removal }

  private func session(_ claim: SessionCookie.Claim, _ users: UserDirectory.Snapshot) -> Authentication? {
    guard let user = users.users[claim.name] else { return nil }
    let now = clock.seconds()
    let identity = user.identity(.cookie)
    switch cookie.state(of: claim, user: user, at: now) {
    case .invalid: return nil
    case .valid: return Authentication(identity: identity)
    case .renewable: return Authentication(identity: identity, cookie: cookie.header(for: user, at: now))
    }
  }

  private func check(
    _ credentials: BasicCredentials, from peer: String, _ users: UserDirectory.Snapshot?
  ) async throws(CouchError) -> User {
    // Without users no credentials are right.
    guard let users else { throw .wrongPassword }
    return try await logins.check(credentials, from: LoginThrottle.Source(peer), users)
  }

  /// The users, or `nil` if the server has none.
  private func users() async throws(CouchError) -> UserDirectory.Snapshot? {
    guard let directory else { return nil }
    if directory.isDue(at: clock.uptime()) { await refresh(directory) }
    guard case .success(let snapshot) = directory.current else { throw .noUsers }
    return snapshot
  }

  /// Looks at the file on a thread that may wait for the disk.
  private func refresh(_ directory: UserDirectory) async {
    let error: UserFileError? = await withCheckedContinuation { continuation in
      do throws(SystemError) {
        try files.add { continuation.resume(returning: directory.refresh()) }
      } catch {
        // Without a thread, the next request tries again.
        continuation.resume(returning: nil)
      }
    }
    if let error { report(error) }
  }
}

/// The sender of a request.
package struct Identity: Hashable, Sendable {
  /// The way in which a request was authenticated, by CouchDB's names of its handlers.
  package enum Handler: String, Sendable {
    /// The `Authorization` header.
    case basic = "default"
    /// The cookie of a session.
    case cookie
  }

  /// The role of server admins.
  package static let adminRole = "_admin"
  /// The role of those who may read the metrics of the server.
  package static let metricsRole = "_metrics"

  /// `nil` for an anonymous request.
  package let name: String?
  package let roles: [String]
  /// `nil` if the request had no valid credentials.
  package let handler: Handler?

  package init(name: String?, roles: [String], handler: Handler?) {
    self.name = name
    self.roles = roles
    self.handler = handler
  }

  package static let anonymous = Identity(name: nil, roles: [], handler: nil)

  /// Anyone who can reach a server without users.
  package static let adminOfServerWithoutUsers = Identity(name: nil, roles: [adminRole], handler: nil)

  /// Whether this is a server admin, who may do everything.
  package var isAdmin: Bool { has(Self.adminRole) }

  private func has(_ role: String) -> Bool { roles.contains { $0.hasSameBytes(as: role) } }

  /// Allows what only server admins may do, such as creating a database.
  package func checkServerAdmin() throws(CouchError) {
    guard isAdmin else { throw .notServerAdmin }
  }

  /// Allows reading the metrics of the server.
  package func checkMetrics() throws(CouchError) {
    guard isAdmin || has(Self.metricsRole) else { throw .notMetricsUser }
  }
}

/// The name and the password of an `Authorization` header.
package struct BasicCredentials: Hashable, Sendable {
  package let name: String
  package let password: String

  package init(name: String, password: String) {
    self.name = name
    self.password = password
  }

  /// Reads the header.
  ///
  /// The first colon ends the name, so a password can have colons. As in CouchDB, a text without a colon and `_:_` are not
  /// credentials.
  ///
  /// - Returns: `nil` if there are no credentials: also, as in CouchDB, for an unknown scheme.
  /// - Throws: 400 for invalid Base64; 401 for bearer tokens, and for a text that is not UTF-8.
  package static func read(_ header: String?) throws(CouchError) -> BasicCredentials? {
    guard let parts = header?.split(separator: " ", maxSplits: 1), parts.count == 2 else { return nil }
    switch parts[0].lowercased() {
    case "basic": break
    case "bearer": throw .bearerToken
    default: return nil
    }
    guard let bytes = Base64.decode(String(parts[1]), ignoresSpace: true) else { throw .invalidBase64 }
    // No name and no password has such bytes.
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .wrongPassword }
    guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    let credentials = BasicCredentials(
      name: String(text[..<colon]), password: String(text[text.utf8.index(after: colon)...]))
    return credentials.name == "_" && credentials.password == "_" ? nil : credentials
  }
}
