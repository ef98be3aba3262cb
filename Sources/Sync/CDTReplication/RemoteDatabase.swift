public import CDTPlatform
public import NIOSSL

/// A database at a server that speaks CouchDB's HTTP API.
///
/// ```swift
/// let tasks = try RemoteDatabase("https://couch.example.org/tasks", credentials: .session("ana", password))
/// ```
public struct RemoteDatabase: Sendable {
  /// The URL of the database, without credentials.
  public let url: String
  /// The client's credentials.
  public var credentials: Credentials?
  /// Certificates and trust; `nil` for the defaults of the system.
  public var tls: TLSConfiguration?
  /// The interceptors, each of which sees and changes each request and its reply, in this order.
  public var interceptors: [HTTPInterceptor] = []
  /// The time that the server may be silent. A server that waits for changes sends heartbeats more often than that.
  public var timeout = Duration.seconds(30)
  /// Whether a connection to a host and a port may be made, also by a redirect.
  package var permitsHost: (@Sendable (_ host: String, _ port: Int) -> Bool)?
  /// The URL of the server, the part before the database's name.
  /// The clock by which a session or a token is renewed, which tests replace.
  package var now: @Sendable () -> ContinuousClock.Instant = { .now }
  let server: String

  /// Creates the description of a database.
  ///
  /// - Parameters:
  ///   - url: The URL of the database: `http` or `https`. A user and a password in it are removed and become credentials.
  ///   - credentials: The credentials of the client; they override those in the URL.
  /// - Throws: ``ReplicationError`` with the code `.invalidRequest` if the URL is not one of a database, or has a user
  ///   without a password and there are no `credentials`.
  public init(_ url: String, credentials: Credentials? = nil) throws(ReplicationError) {
    guard var parts = URLComponents(string: url), let scheme = parts.scheme?.lowercased(),
      scheme == "http" || scheme == "https", parts.hasHost, parts.query == nil, parts.fragment == nil
    else { throw .invalidURL }
    guard parts.hasPort else { throw .invalidPort }
    let user = URLUser(parts)
    (parts.user, parts.password) = (nil, nil)
    if let credentials {
      self.credentials = credentials
    } else if let user {
      guard let password = user.password else { throw .userWithoutPassword }
      self.credentials = .session(user.name, password)
    }
    var path = parts.percentEncodedPath[...]
    while path.hasSuffix("/") { path.removeLast() }
    guard let slash = path.lastIndex(of: "/"), path.index(after: slash) < path.endIndex else {
      throw .invalidURL
    }
    // A server reads + as a space, which no name has.
    let name = path[path.index(after: slash)...].replacing("+", with: "%2B")
    parts.percentEncodedPath = String(path[...slash] + name)
    guard let text = parts.string else { throw .invalidURL }
    self.url = text
    parts.percentEncodedPath = String(path[..<slash])
    guard let server = parts.string else { throw .invalidURL }
    self.server = server
  }

  /// Creates the description of a database from a `URL`. See ``init(_:credentials:)-(String,_)``.
  public init(_ url: URL, credentials: Credentials? = nil) throws(ReplicationError) {
    try self.init(url.absoluteString, credentials: credentials)
  }
}

extension RemoteDatabase {
  /// Whether a connection to the host of the URL may be made.
  package var isPermitted: Bool { Self.isPermitted(url, permitsHost) }

  static func isPermitted(_ url: String, _ permitsHost: (@Sendable (String, Int) -> Bool)?) -> Bool {
    guard let permitsHost else { return true }
    guard let parts = URLComponents(string: url), let host = parts.host else { return false }
    return permitsHost(host, parts.port ?? (parts.scheme?.lowercased() == "https" ? 443 : 80))
  }
}

extension RemoteDatabase {
  /// Throws ``ReplicationError`` unless the database exists and the client may read it.
  package func checkExists() async throws {
    let connection = RemoteConnection(self, concurrentRequests: 1)
    let failure: (any Error)?
    do {
      let reply = try await connection.send(.init(""))
      failure =
        switch reply.status {
        case 200: nil
        case 404:
          ReplicationError(.notFound, "\(url): the database does not exist; check the URL", status: 404)
        default: await reply.failure()
        }
    } catch {
      failure = error
    }
    await connection.close()
    if let failure { throw failure }
  }
}

/// The user in a URL.
package struct URLUser: Sendable {
  package let name: String
  /// `nil` if the URL has a name only.
  package let password: String?

  /// - Returns: `nil` if the URL has no user.
  package init?(_ url: String) {
    guard let parts = URLComponents(string: url) else { return nil }
    self.init(parts)
  }

  fileprivate init?(_ parts: URLComponents) {
    guard let name = parts.user, !name.isEmpty || parts.password?.isEmpty == false else { return nil }
    (self.name, password) = (name, parts.password)
  }
}

/// The credentials of a client of a server.
public struct Credentials: Sendable {
  enum Kind: Sendable {
    case basic(String, String)
    case session(String, String)
    case bearer(String)
    case iam(key: String, tokenURL: String)
  }

  let kind: Kind

  /// The password, the token or the key.
  var secret: String {
    switch kind {
    case .basic(_, let secret), .session(_, let secret), .bearer(let secret), .iam(let secret, _): secret
    }
  }

  /// A name and a password that are sent with each request.
  public static func basic(_ name: String, _ password: String) -> Credentials {
    Credentials(kind: .basic(name, password))
  }

  /// A name and a password that are exchanged for a cookie at `_session`, which is renewed when it expires. A server
  /// without `_session` gets them with each request.
  public static func session(_ name: String, _ password: String) -> Credentials {
    Credentials(kind: .session(name, password))
  }

  /// A token that is sent with each request.
  public static func bearer(_ token: String) -> Credentials { Credentials(kind: .bearer(token)) }

  /// An API key of IBM Cloud, which is exchanged for a token that is renewed when it expires.
  public static func iam(
    apiKey: String, tokenURL: String = "https://iam.cloud.ibm.com/identity/token"
  ) -> Credentials {
    Credentials(kind: .iam(key: apiKey, tokenURL: tokenURL))
  }
}

extension Credentials: CustomStringConvertible, SecretHolder {
  /// A description without secrets.
  public var description: String {
    switch kind {
    case .basic(let name, _): "basic(\(name))"
    case .session(let name, _): "session(\(name))"
    case .bearer: "bearer"
    case .iam: "iam"
    }
  }
}

extension ReplicationError {
  static let invalidURL = ReplicationError(
    .invalidRequest, "this is not the URL of a database, such as https://couch.example.org/tasks")
  static let invalidPort = ReplicationError(
    .invalidRequest, "the URL of the database has a port that is not between 1 and 65535")
  static let userWithoutPassword = ReplicationError(
    .invalidRequest,
    "the URL of the database has a user and no password; give the credentials separately from the URL")
}
