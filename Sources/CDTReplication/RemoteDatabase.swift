import FoundationEssentials
public import NIOSSL

/// A database at a server that speaks CouchDB's HTTP API.
///
/// ```swift
/// let tasks = try RemoteDatabase("https://couch.example.org/tasks", credentials: .session("ana", password))
/// ```
public struct RemoteDatabase: Sendable {
  /// The URL of the database, without credentials.
  public let url: String
  /// Who the client is.
  public var credentials: Credentials?
  /// Certificates and trust; `nil` for the defaults of the system.
  public var tls: TLSConfiguration?
  /// What sees and changes each request and its reply, in this order.
  public var interceptors: [HTTPInterceptor] = []
  /// How long the server may be silent. A server that waits for changes sends heartbeats more often than that.
  public var timeout = Duration.seconds(30)
  /// The URL of the server, the part before the database's name.
  let server: String

  /// Creates the description of a database.
  ///
  /// - Parameters:
  ///   - url: The URL of the database: `http` or `https`. A user and a password in it are removed and become credentials.
  ///   - credentials: Who the client is; overrides those in the URL.
  /// - Throws: ``ReplicationError`` with the code `.invalidRequest` if the URL is not one of a database.
  public init(_ url: String, credentials: Credentials? = nil) throws(ReplicationError) {
    guard var parts = URLComponents(string: url), let scheme = parts.scheme?.lowercased(),
      scheme == "http" || scheme == "https", parts.host?.isEmpty == false, parts.query == nil,
      parts.fragment == nil
    else { throw .invalidURL }
    if let user = parts.user {
      self.credentials = .session(user, parts.password ?? "")
      (parts.user, parts.password) = (nil, nil)
    }
    if let credentials { self.credentials = credentials }
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
}

/// Who a client of a server is.
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

extension Credentials: CustomStringConvertible, CustomReflectable {
  /// Without what is secret.
  public var description: String {
    switch kind {
    case .basic(let name, _): "basic(\(name))"
    case .session(let name, _): "session(\(name))"
    case .bearer: "bearer"
    case .iam: "iam"
    }
  }

  /// Without what is secret, as `dump` uses it.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension ReplicationError {
  static let invalidURL = ReplicationError(
    .invalidRequest, "this is not the URL of a database, such as https://couch.example.org/tasks")
}
