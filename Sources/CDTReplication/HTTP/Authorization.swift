import AsyncHTTPClient
import CDTJSON
import CouchDB
import FoundationEssentials
import NIOCore

/// Proves to a server who the client is, and keeps the proof fresh.
actor Authorization {
  private let database: RemoteDatabase
  /// The value of the cookie `AuthSession`, or a token.
  private var proof: String?
  /// When the proof is renewed, before it expires.
  private var renewal = ContinuousClock.now
  /// Whether the server has no `_session`.
  private var lacksSessions = false
  private var login: Task<Void, any Error>?

  init(_ database: RemoteDatabase) {
    self.database = database
  }

  /// The header fields of the next request.
  ///
  /// - Throws: ``ReplicationError`` if the server does not accept the credentials.
  func fields(with client: HTTPClient) async throws -> [(String, String)] {
    switch database.credentials?.kind {
    case nil: return []
    case .bearer(let token): return [("Authorization", "Bearer \(token)")]
    case .basic(let name, let password): return [Self.basic(name, password)]
    case .session(let name, let password):
      if !lacksSessions { try await logIn(with: client) }
      return lacksSessions ? [Self.basic(name, password)] : [("Cookie", "AuthSession=\(proof ?? "")")]
    case .iam:
      try await logIn(with: client)
      return [("Authorization", "Bearer \(proof ?? "")")]
    }
  }

  /// Forgets a proof that the server no longer accepts.
  ///
  /// - Returns: Whether there is a new one.
  func renew(with client: HTTPClient) async -> Bool {
    switch database.credentials?.kind {
    case .session where !lacksSessions, .iam:
      renewal = .now
      proof = nil
      return (try? await logIn(with: client)) != nil
    default: return false
    }
  }

  /// Takes a cookie that the server renewed.
  func take(_ cookies: [String]) {
    guard case .session? = database.credentials?.kind, !lacksSessions else { return }
    for cookie in cookies { read(cookie) }
  }

  private static func basic(_ name: String, _ password: String) -> (String, String) {
    ("Authorization", "Basic \(Data("\(name):\(password)".utf8).base64EncodedString())")
  }

  /// Exchanges the credentials for a proof, unless there is one that is fresh. Requests at the same time wait for one
  /// exchange.
  private func logIn(with client: HTTPClient) async throws {
    if let login { return try await login.value }
    guard proof == nil || renewal <= .now else { return }
    let task = Task { try await exchange(with: client) }
    login = task
    defer { login = nil }
    try await task.value
  }

  private func exchange(with client: HTTPClient) async throws {
    switch database.credentials?.kind {
    case .session(let name, let password):
      try await startSession(name, password, with: client)
    case .iam(let key, let url):
      let form =
        "grant_type=urn%3Aibm%3Aparams%3Aoauth%3Agrant-type%3Aapikey&apikey=\(PercentCoding.encode(key))"
      let (status, _, json) = try await post(url, form: form, with: client)
      guard status == 200, let token = json["access_token"]?.stringValue else {
        throw Self.failure(status, "the API key", url)
      }
      proof = token
      renewal = .now + .seconds(max(0, (json["expires_in"]?.intValue ?? 3_600) * 9 / 10))
    default: break
    }
  }

  private func startSession(_ name: String, _ password: String, with client: HTTPClient) async throws {
    let form = "name=\(PercentCoding.encode(name))&password=\(PercentCoding.encode(password))"
    let url = "\(database.server)/_session"
    let (status, cookies, _) = try await post(url, form: form, with: client)
    switch status {
    case 200: for cookie in cookies { read(cookie) }
    case 404, 405, 501:
      lacksSessions = true
      return
    default: throw Self.failure(status, "the name and the password", url)
    }
    guard proof != nil else {
      throw ReplicationError(.invalidReply, "POST \(url): the server sends no cookie AuthSession")
    }
  }

  private func read(_ cookie: String) {
    let parts = cookie.split(separator: ";").map { part -> (name: String, value: String) in
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      func trim(_ text: Substring) -> String { String(text.drop { $0 == " " }) }
      return (trim(pair[0]), pair.count > 1 ? trim(pair[1]) : "")
    }
    guard let first = parts.first, first.name == "AuthSession", !first.value.isEmpty else { return }
    proof = first.value
    let age = parts.first { $0.name.lowercased() == "max-age" }.flatMap { Int($0.value) } ?? 600
    renewal = .now + .seconds(max(0, min(age, 86_400)) * 8 / 10)
  }

  private static func failure(_ status: Int, _ what: String, _ url: String) -> ReplicationError {
    if status == 408 || status == 429 || status >= 500 {
      return ReplicationError(
        .unreachable, "POST \(url): the server answers \(status)", status: status, isTransient: true)
    }
    return ReplicationError(
      .unauthorized, "POST \(url): the server does not accept \(what)", status: status)
  }

  private func post(
    _ url: String, form: String, with client: HTTPClient
  ) async throws -> (status: Int, cookies: [String], json: JSONValue) {
    var request = HTTPClientRequest(url: url)
    request.method = .POST
    request.headers.add(name: "Accept", value: "application/json")
    request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
    request.body = .bytes(ByteBuffer(string: form))
    do {
      let response = try await client.execute(request, deadline: .distantFuture)
      let body = try await response.body.collect(upTo: 1024 * 1024)
      let json = body.withUnsafeReadableBytes { try? JSONValue(parsing: $0) }
      return (Int(response.status.code), response.headers["set-cookie"], json ?? .null)
    } catch let error as CancellationError {
      throw error
    } catch {
      throw ReplicationError(connection: error, "POST \(url)")
    }
  }
}
