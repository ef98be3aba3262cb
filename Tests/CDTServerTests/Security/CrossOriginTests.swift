import CDTServer
import CouchDB
import Testing

@Suite struct CrossOriginTests {
  static let app = "https://app.example"

  private func texts(_ headers: [CrossOrigin.Header]?) -> [String]? {
    headers?.map { "\($0.name): \($0.value)" }
  }

  private func listed(_ origins: String..., allowsCredentials: Bool = true) throws -> CrossOrigin {
    try CrossOrigin(origins: origins, allowsCredentials: allowsCredentials)
  }

  // MARK: Replies

  static let exposed =
    "Access-Control-Expose-Headers: content-type, cache-control, accept-ranges, etag, server, x-couch-request-id, "
    + "x-couch-update-newrev, x-couchdb-body-time"

  @Test func `by default there are no headers`() {
    #expect(texts(CrossOrigin.off.headers(origin: Self.app)) == [])
    #expect(
      CrossOrigin.off.preflight(
        method: "OPTIONS", origin: Self.app, requestMethod: "GET", requestHeaders: nil)
        == nil)
  }

  @Test func `a listed origin may read with credentials`() throws {
    #expect(
      texts(try listed(Self.app).headers(origin: Self.app)) == [
        "Vary: Origin", "Access-Control-Allow-Origin: https://app.example",
        "Access-Control-Allow-Credentials: true", Self.exposed,
      ])
    #expect(
      texts(try listed(Self.app, allowsCredentials: false).headers(origin: Self.app)) == [
        "Vary: Origin", "Access-Control-Allow-Origin: https://app.example", Self.exposed,
      ])
  }

  @Test(arguments: [
    nil, "", "null", "https://evil.example", "http://app.example", "https://app.example:8443",
    "https://app.example.",
    "https://app.example.evil.example", "https://evil-app.example", "https://app.example/",
    "https://app.example@evil.example",
    "https://app.example#", "https://APP.example\0", "app.example", "https://",
    "https://app.example, https://evil.example",
  ])
  func `any other origin gets no permission`(_ origin: String?) throws {
    let crossOrigin = try listed(Self.app, "http://localhost:3000")
    let isSame = origin == "https://app.example."
    #expect(
      texts(crossOrigin.headers(origin: origin))?.count == (isSame ? 4 : 1), "\(String(describing: origin))")
    #expect(texts(crossOrigin.headers(origin: origin))?.first == "Vary: Origin")
  }

  @Test func `scheme and host are compared without case, and a default port may be left out`() throws {
    let crossOrigin = try listed("https://app.example:443", "http://localhost:80", "capacitor://localhost")
    for origin in [
      "https://app.example", "HTTPS://App.Example", "http://localhost", "http://localhost:80",
      "capacitor://localhost",
    ] {
      #expect(crossOrigin.headers(origin: origin).count == 4, "\(origin)")
    }
    #expect(crossOrigin.headers(origin: "https://localhost").count == 1)
  }

  @Test func `the star allows every origin, by its name`() throws {
    let headers = texts(try listed("*").headers(origin: "https://any.example"))
    #expect(headers?.contains("Access-Control-Allow-Origin: https://any.example") == true)
  }

  @Test(arguments: [
    "app.example", "https://app.example/", "https://app.example/path", "null", "", "https://*.example", "**",
  ])
  func `refuses a configured origin`(_ origin: String) {
    #expect(throws: ServerError.invalidOrigin(origin)) { try CrossOrigin(origins: [origin]) }
  }

  // MARK: Preflights

  private func preflight(
    _ crossOrigin: CrossOrigin, method: String = "OPTIONS", origin: String? = app,
    _ requestMethod: String? = "PUT",
    _ requestHeaders: String? = "content-type"
  ) -> [String]? {
    texts(
      crossOrigin.preflight(
        method: method, origin: origin, requestMethod: requestMethod, requestHeaders: requestHeaders))
  }

  @Test func `a preflight is told what is allowed`() throws {
    #expect(
      preflight(try listed(Self.app), "PUT", "Content-Type, authorization,accept") == [
        "Vary: Origin", "Access-Control-Allow-Origin: https://app.example",
        "Access-Control-Allow-Credentials: true",
        "Access-Control-Allow-Methods: GET, HEAD, POST, PUT, DELETE, COPY",
        "Access-Control-Allow-Headers: Content-Type, authorization, accept", "Access-Control-Max-Age: 600",
      ])
    for method in ["GET", "HEAD", "POST", "DELETE", "COPY"] {
      #expect(preflight(try listed(Self.app), method, nil) != nil, "\(method)")
    }
  }

  @Test func `other origins get no permission`() throws {
    let crossOrigin = try listed(Self.app)
    #expect(preflight(crossOrigin, origin: "https://evil.example") == nil)
    #expect(preflight(crossOrigin, origin: nil) == nil)
    #expect(preflight(crossOrigin, origin: "null") == nil)
    #expect(preflight(crossOrigin, method: "GET") == nil)
    for method in [nil, "", "PATCH", "TRACE", "CONNECT", "put", "*"] {
      #expect(preflight(crossOrigin, method) == nil)
    }
    for headers in [
      "x-evil", "content-type, x-evil", "*", "cookie", "host", "content-type\r\nx: y",
    ] {
      #expect(preflight(crossOrigin, "PUT", headers) == nil, "\(headers)")
    }
  }

  // MARK: The session cookie

  @Test func `the cookie goes to other sites only if they are listed and there is TLS`() throws {
    #expect(CrossOrigin.off.sameSite(isSecure: true) == .strict)
    #expect(try listed(Self.app).sameSite(isSecure: true) == .none)
    #expect(try listed(Self.app).sameSite(isSecure: false) == .strict)
    #expect(try listed("*").sameSite(isSecure: true) == .strict)
    #expect(try listed(Self.app, "*").sameSite(isSecure: true) == .strict)
    #expect(try listed(Self.app, allowsCredentials: false).sameSite(isSecure: true) == .strict)
  }

  // MARK: Writes

  private func isWritable(
    _ crossOrigin: CrossOrigin = .off, _ method: String = "PUT", origin: String?, fetchSite: String? = nil,
    host: String = "localhost:5984", isSecure: Bool = false
  ) throws -> Bool {
    let host = try #require(HostAndPort(host))
    do throws(CouchError) {
      try crossOrigin.checkWrite(
        method: method, origin: origin, fetchSite: fetchSite, host: host, isSecure: isSecure)
      return true
    } catch {
      #expect(error == .crossSiteWrite)
      return false
    }
  }

  @Test(arguments: ["POST", "PUT", "DELETE", "COPY", "PATCH", "put", "MKCOL", ""])
  func `a page of another origin can't write`(_ method: String) throws {
    #expect(try !isWritable(.off, method, origin: "https://evil.example"))
    #expect(try !isWritable(.off, method, origin: "null"))
    #expect(try !isWritable(.off, method, origin: ""))
    #expect(try !isWritable(.off, method, origin: nil, fetchSite: "cross-site"))
    #expect(try !isWritable(.off, method, origin: nil, fetchSite: "same-site"))
    #expect(try !isWritable(.off, method, origin: nil, fetchSite: "anything"))
    #expect(try !isWritable(try listed(Self.app), method, origin: "https://evil.example"))
    // A program.
    #expect(try isWritable(.off, method, origin: nil))
    // The user, without a page.
    #expect(try isWritable(.off, method, origin: nil, fetchSite: "none"))
  }

  @Test(arguments: ["GET", "HEAD", "OPTIONS"])
  func `reading is not writing`(_ method: String) throws {
    #expect(try isWritable(.off, method, origin: "https://evil.example", fetchSite: "cross-site"))
  }

  @Test func `the server's own pages can write: scheme, host and port are the same`() throws {
    #expect(try isWritable(origin: "http://localhost:5984"))
    #expect(try isWritable(origin: "http://localhost:5984", fetchSite: "same-origin"))
    #expect(try isWritable(origin: "https://db.example", host: "db.example", isSecure: true))
    #expect(try isWritable(origin: "https://db.example", host: "db.example:443", isSecure: true))
    #expect(try isWritable(origin: "http://[::1]:5984", host: "[0::1]:5984"))
    for origin in [
      "https://localhost:5984", "http://localhost", "http://localhost:3000", "http://127.0.0.1:5984",
      "http://localhost:59840",
      "http://localhost:5984/", "http://localhost:5984@evil.example", "localhost:5984",
    ] {
      #expect(try !isWritable(origin: origin), "\(origin)")
    }
    #expect(try !isWritable(origin: "http://db.example", host: "db.example", isSecure: true))
    // Sent on by another site's page.
    #expect(try !isWritable(origin: "http://localhost:5984", fetchSite: "cross-site"))
  }

  @Test func `listed origins can write`() throws {
    #expect(try isWritable(listed(Self.app), origin: Self.app, fetchSite: "cross-site"))
    #expect(
      try isWritable(listed("http://localhost:3000"), origin: "http://localhost:3000", fetchSite: "same-site")
    )
    #expect(try isWritable(listed("*"), origin: "https://any.example", fetchSite: "cross-site"))
    #expect(try !isWritable(listed(Self.app), origin: nil, fetchSite: "cross-site"))
  }
}
