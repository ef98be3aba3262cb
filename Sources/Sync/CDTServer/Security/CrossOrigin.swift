import CDTPlatform
package import CouchDB

/// The rules for pages of other origins: CORS, and protection against writes that a foreign page causes.
///
/// By default nothing: browsers don't let such pages read replies, and their writes are refused. Origins that are listed may
/// do what their users may do.
package struct CrossOrigin: Sendable {
  /// A header of a reply.
  package typealias Header = (name: String, value: String)

  private let origins: Set<WebOrigin>
  package let allowsAnyOrigin: Bool
  private let allowsCredentials: Bool

  /// CORS is off.
  package static let off = CrossOrigin()

  private init() {
    origins = []
    allowsAnyOrigin = false
    allowsCredentials = false
  }

  /// - Parameters:
  ///   - origins: Origins such as `https://app.example`, or `*` for every origin.
  ///   - allowsCredentials: Whether browsers may send cookies and the `Authorization` header, as PouchDB does.
  package init(origins: [String], allowsCredentials: Bool = true) throws(ServerError) {
    var known: Set<WebOrigin> = []
    for text in origins where text != "*" {
      guard let origin = WebOrigin(text) else { throw .invalidOrigin(text) }
      known.insert(origin)
    }
    self.origins = known
    allowsAnyOrigin = origins.contains("*")
    self.allowsCredentials = allowsCredentials
  }

  private var isOff: Bool { origins.isEmpty && !allowsAnyOrigin }

  /// Whether the origin may read and write.
  private func allows(_ origin: String) -> Bool {
    if allowsAnyOrigin { return true }
    return WebOrigin(origin).map(origins.contains) ?? false
  }

  /// The policy of the session cookie.
  ///
  /// Strict keeps the cookie from all requests that another site causes. Pages of another site that are listed need it,
  /// for which browsers demand `None` and TLS. With `*` it stays strict: no page in the world gets a user's session. A page on
  /// another port of the same host is the same site, so it has the cookie in any case.
  package func sameSite(isSecure: Bool) -> SessionCookie.SameSite {
    isSecure && allowsCredentials && !allowsAnyOrigin && !origins.isEmpty ? .none : .strict
  }

  // MARK: Replies

  private static let exposedHeaders =
    "content-type, cache-control, accept-ranges, etag, server, x-couch-request-id, x-couch-update-newrev, "
    + "x-couchdb-body-time"

  /// The headers of every reply, also of errors.
  ///
  /// - Parameter origin: The `Origin` header of the request.
  package func headers(origin: String?) -> [Header] {
    if isOff { return [] }
    // Caches must not give one origin the reply to another, or to none.
    let vary = [Header("Vary", "Origin")]
    guard let origin, allows(origin) else { return vary }
    return vary + permission(origin) + [Header("Access-Control-Expose-Headers", Self.exposedHeaders)]
  }

  private func permission(_ origin: String) -> [Header] {
    let allowed = [Header("Access-Control-Allow-Origin", origin)]
    return allowsCredentials ? allowed + [Header("Access-Control-Allow-Credentials", "true")] : allowed
  }

  // MARK: Preflights

  private static let methods = ["GET", "HEAD", "POST", "PUT", "DELETE", "COPY"]
  private static let requestHeaders: Set<String> = [
    "accept", "accept-language", "authorization", "cache-control", "content-encoding", "content-language",
    "content-type",
    "destination", "if-match", "if-none-match", "last-event-id", "origin", "pragma", "range", "referer",
    "x-couch-full-commit", "x-requested-with",
  ]

  /// The headers of the reply to a preflight, whose status is 204.
  ///
  /// - Parameters:
  ///   - requestMethod: The `Access-Control-Request-Method` header.
  ///   - requestHeaders: The `Access-Control-Request-Headers` header.
  /// - Returns: `nil` if this is not a preflight, or one of an origin, method or header that is not allowed. As in CouchDB it is
  ///   then a plain OPTIONS request.
  package func preflight(
    method: String, origin: String?, requestMethod: String?, requestHeaders: String?
  ) -> [Header]? {
    guard method == "OPTIONS", !isOff, let origin, allows(origin), let requestMethod,
      Self.methods.contains(requestMethod)
    else { return nil }
    let requested = (requestHeaders ?? "").split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }
    guard requested.allSatisfy({ Self.requestHeaders.contains($0.lowercased()) }) else { return nil }
    return [Header("Vary", "Origin")] + permission(origin) + [
      Header("Access-Control-Allow-Methods", Self.methods.joined(separator: ", ")),
      Header("Access-Control-Allow-Headers", requested.joined(separator: ", ")),
      Header("Access-Control-Max-Age", "600"),
    ]
  }

  // MARK: Writes

  /// Allows a request unless it is a write that a page of an origin that is not listed has caused.
  ///
  /// Programs other than browsers send neither header.
  ///
  /// - Parameters:
  ///   - origin: The `Origin` header. Browsers send it with every write.
  ///   - fetchSite: The `Sec-Fetch-Site` header.
  ///   - host: The `Host` header.
  ///   - isSecure: Whether the request came over TLS.
  /// - Throws: 403.
  package func checkWrite(
    method: String, origin: String?, fetchSite: String?, host: HostAndPort, isSecure: Bool
  ) throws(CouchError) {
    guard !["GET", "HEAD", "OPTIONS"].contains(method) else { return }
    if let origin {
      if allows(origin) { return }
      guard WebOrigin(origin) == WebOrigin(isSecure: isSecure, host) else { throw .crossSiteWrite }
    }
    guard Self.isOwn(fetchSite) else { throw .crossSiteWrite }
  }

  /// Whether no page of another origin has caused a request.
  ///
  /// - Parameter fetchSite: The `Sec-Fetch-Site` header. "none" is what the user caused without a page.
  static func isOwn(_ fetchSite: String?) -> Bool {
    fetchSite.map { ["same-origin", "none"].contains($0) } ?? true
  }
}

/// The origin of a web page: scheme, host and port.
package struct WebOrigin: Hashable, Sendable {
  package let scheme: String
  package let host: HostAndPort.Host
  package let port: Int?

  /// Reads `http://localhost:3000`, `https://app.example` or an origin of an app such as `capacitor://localhost`. Other texts, also `null`, are
  /// nobody's origin.
  package init?(_ text: String) {
    guard text.utf8.count <= 512, let separator = text.firstRange(of: "://") else { return nil }
    let scheme = text[..<separator.lowerBound].lowercased()
    guard let first = scheme.utf8.first, first.isLetter, scheme.utf8.allSatisfy(Self.isSchemeByte),
      let place = HostAndPort(String(text[separator.upperBound...]))
    else { return nil }
    self.init(scheme: scheme, place)
  }

  /// The origin of a server's own pages.
  package init(isSecure: Bool, _ place: HostAndPort) {
    self.init(scheme: isSecure ? "https" : "http", place)
  }

  private init(scheme: String, _ place: HostAndPort) {
    self.scheme = scheme
    host = place.host
    port = place.port ?? (scheme == "http" ? 80 : scheme == "https" ? 443 : nil)
  }

  private static func isSchemeByte(_ byte: UInt8) -> Bool {
    byte.isLetter || byte.isDigit || "+-.".utf8.contains(byte)
  }
}
