import AsyncHTTPClient
import CDTJSON
import CDTPlatform
import CouchDB
import NIOCore

/// Proves to a server who the client is, and keeps the proof fresh.
actor Authorization {
  private let database: RemoteDatabase
  private let client: RedirectingClient
  /// The value of the cookie `AuthSession`, or a token.
  private var proof: String?
  /// The time at which the proof is renewed, before it expires.
  private var renewal: ContinuousClock.Instant
  /// Whether the server has no `_session`.
  private var lacksSessions = false
  private var login: Task<Void, any Error>?

  init(_ database: RemoteDatabase, with client: RedirectingClient) {
    self.database = database
    self.client = client
    renewal = database.now()
  }

  /// A header field with credentials.
  struct Field: Sendable, Hashable {
    let name, value: String

    /// The text after the scheme or the cookie's name.
    var secret: String { String(value.drop { $0 != " " && $0 != "=" }.dropFirst()) }
  }

  /// The header field of the next request; `nil` if there are no credentials.
  ///
  /// - Throws: ``ReplicationError`` if the server does not accept the credentials, `CancellationError`.
  func field() async throws -> Field? {
    switch database.credentials?.kind {
    case .session where !lacksSessions, .iam: try await logIn()
    default: break
    }
    return current
  }

  private var current: Field? {
    switch database.credentials?.kind {
    case nil: nil
    case .bearer(let token): Field(name: "Authorization", value: "Bearer \(token)")
    case .session where !lacksSessions: Field(name: "Cookie", value: "AuthSession=\(proof ?? "")")
    case .basic(let name, let password), .session(let name, let password):
      Field(
        name: "Authorization",
        value: "Basic \(Data("\(name):\(password)".utf8).base64EncodedString())")
    case .iam: Field(name: "Authorization", value: "Bearer \(proof ?? "")")
    }
  }

  /// Replaces a proof that the server no longer accepts.
  ///
  /// - Returns: Whether there is another token.
  /// - Throws: ``ReplicationError`` if the server does not give another token, `CancellationError`.
  func renew(_ refused: Field) async throws -> Bool {
    switch database.credentials?.kind {
    case .session where !lacksSessions, .iam: break
    default: return false
    }
    // Otherwise it was renewed for another request.
    if refused == current { proof = nil }
    try await logIn()
    return true
  }

  /// Takes a cookie that the server renewed.
  func take(_ cookies: [String]) {
    guard case .session? = database.credentials?.kind, !lacksSessions else { return }
    for cookie in cookies { _ = read(cookie) }
  }

  /// Exchanges the credentials for a proof, unless there is one that is fresh. Requests at the same time wait for one
  /// exchange.
  private func logIn() async throws {
    if let login {
      do {
        return try await login.value
      } catch is CancellationError {
        // The request that began it was cancelled.
        try Task.checkCancellation()
        return try await logIn()
      }
    }
    guard proof == nil || renewal <= database.now() else { return }
    let task = Task {
      defer { login = nil }
      try await exchange()
    }
    login = task
    try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }

  private func exchange() async throws {
    switch database.credentials?.kind {
    case .session(let name, let password):
      try await startSession(name, password)
    case .iam(let key, let url):
      let form =
        "grant_type=urn%3Aibm%3Aparams%3Aoauth%3Agrant-type%3Aapikey&apikey=\(PercentCoding.encode(key))"
      // The URL may have credentials of its own.
      let request = "POST to \(URLComponents(string: url)?.host ?? "") for a token"
      let reply = try await post(url, form: form, request)
      guard reply.status == 200, let token = reply.json["access_token"]?.stringValue else {
        throw failure(reply, "the API key", request)
      }
      prove(with: token, for: reply.json["expires_in"]?.intValue ?? 3_600)
    default: break
    }
  }

  /// - Parameter life: The lifetime of the proof in seconds.
  private func prove(with new: String, for life: Int) {
    proof = new
    renewal = database.now() + .seconds(max(0, min(life, 86_400))) * 0.8
  }

  private func startSession(_ name: String, _ password: String) async throws {
    let form = "name=\(PercentCoding.encode(name))&password=\(PercentCoding.encode(password))"
    let url = "\(database.server)/_session"
    let request = "POST \(url)"
    let reply = try await post(url, form: form, request)
    switch reply.status {
    case 200:
      guard reply.cookies.contains(where: read) else {
        throw ReplicationError(.invalidReply, "\(request): the server sends no cookie AuthSession")
      }
    case 404, 405, 501: lacksSessions = true
    default: throw failure(reply, "the name and the password", request)
    }
  }

  /// Takes a cookie, if it is one of a session.
  private func read(_ cookie: String) -> Bool {
    let parts = cookie.split(separator: ";").map { part -> (name: String, value: String) in
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      func trim(_ text: Substring) -> String { String(text.drop { $0 == " " }) }
      return (trim(pair[0]), pair.count > 1 ? trim(pair[1]) : "")
    }
    guard let first = parts.first, first.name == "AuthSession", !first.value.isEmpty else { return false }
    let age = parts.first { $0.name.lowercased() == "max-age" }.flatMap { Int($0.value) }
    prove(with: first.value, for: age ?? 600)
    return true
  }

  /// - Parameter what: A request that a server refuses with a status of 200 without a proof, 400 or 401. With 403 it refuses the
  ///   user, who may be locked after many failed logins, and says so.
  private func failure(_ reply: Reply, _ what: String, _ request: String) -> ReplicationError {
    switch reply.status {
    case 300..<400:
      return ReplicationError(
        .refused, "\(request): the server redirects to another server; use its URL", status: reply.status)
    case 200, 400, 401:
      return ReplicationError(
        .unauthorized, "\(request): the server does not accept \(what)", status: reply.status)
    default:
      let secret = database.credentials?.secret ?? ""
      let error = CouchError(reply.status, reply.json, hiding: [secret, PercentCoding.encode(secret)])
      return ReplicationError(error, request, pause: reply.pause)
    }
  }

  /// The answer to a login.
  private struct Reply {
    let status: Int
    let cookies: [String]
    let json: JSONValue
    let pause: Duration?
  }

  private func post(_ url: String, form: String, _ name: String) async throws -> Reply {
    guard let parts = URLComponents(string: url), parts.hasServer else {
      throw ReplicationError(.invalidRequest, "\(name): the URL has no valid host and port")
    }
    var request = HTTPClientRequest(url: url)
    request.method = .POST
    request.headers.add(name: "Accept", value: "application/json")
    request.headers.add(name: "Accept-Encoding", value: "identity")
    request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
    request.body = .bytes(ByteBuffer(string: form))
    do {
      let response = try await client.execute(request, elsewhere: nil).response
      let body = try await ReplyBody(response, to: name).collect(upTo: 1024 * 1024)
      let json = body.withUnsafeReadableBytes { try? JSONValue(parsing: $0) }
      return Reply(
        status: Int(response.status.code), cookies: response.headers["set-cookie"], json: json ?? .null,
        pause: response.headers.first(name: "retry-after").flatMap { RemoteConnection.pause($0) })
    } catch let error as CancellationError {
      throw error
    } catch let error as ReplicationError {
      throw error
    } catch {
      try Task.checkCancellation()
      throw ReplicationError(connection: error, name)
    }
  }
}
