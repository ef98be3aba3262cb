import CDTDatastore
import CDTJSON
import CDTPlatform
import CouchDB
import HTTPTypes
import Hummingbird
import NIOCore

/// The resources of the server besides databases.
extension RequestContext {
  func welcome() -> Response {
    var json: JSONObject = [
      "couchdb": "Welcome", "version": "3.5.2", "uuid": .string(server.uuid), "features": ["cdtdatastore"],
      "vendor": ["name": "CDTDatastore for Swift", "version": .string(Version.current)],
    ]
    // For the commands that the page shows to who has the directory at hand.
    if server.addressToken != nil { json["directory"] = .string(databases.directory) }
    // The page then offers no edits.
    if server.configuration.isReadOnly { json["read_only"] = true }
    return Reply.json(json)
  }

  func uuids() throws -> Response {
    let count = try parameters.count("count") ?? 1
    guard count <= 1_000 else { throw CouchError.badRequest("count parameter too large") }
    let ids = (0..<count).map { _ in JSONValue.string(RandomID.digits()) }
    return Reply.json(
      ["uuids": .array(ids)], headers: [.cacheControl: "must-revalidate, no-cache", .pragma: "no-cache"])
  }

  func databaseNames() async throws -> Response {
    Reply.value(.array(try await namesOfPage().map { .string($0) }))
  }

  private func namesOfPage() async throws -> [String] {
    try ListOptions(parameters).page(of: await databases.names().sorted())
  }

  /// The names of a page of those that the client may read.
  private func readableNames() async throws -> [String] {
    let options = try ListOptions(parameters)
    var names: [String] = []
    for name in try await databases.names().sorted() where try await mayRead(name) { names.append(name) }
    return options.page(of: names)
  }

  /// A server admin may read also what can't be opened.
  private func mayRead(_ name: String) async throws -> Bool {
    guard !sender.isAdmin || request.headers[.asUser] != nil else { return true }
    try Task.checkCancellation()
    do {
      _ = try await reader(databases.security(of: name, hasUsers: server.hasUsers))
      return true
    } catch let error as CouchError where error.status == 503 {
      throw error
    } catch let error where !(error is CancellationError) {
      server.logger.note(error, of: request)
      return false
    }
  }

  /// The totals of a database as the client sees them; `nil` if it may not read it any more.
  private func readableInfo(of name: String) async throws -> JSONObject? {
    var context = self
    do {
      try await context.use(databases.database(named: name))
    } catch let error as CouchError where [401, 403, 404].contains(error.status) {
      return nil
    }
    let database = try context.database
    var info = try await database.info(database.lastSequence())
    if parameters.flag("conflicts") {
      let deadline = ContinuousClock.now + min(limits.queryTime, Self.longestCount)
      let count = try? await database.query(until: deadline) { try $0.conflictedDocumentIDs().count }
      info["conflicts"] = count.map { .int(Int64($0)) }
    }
    return info
  }

  /// The time after which the conflicts of a database are not counted.
  private static let longestCount = Duration.seconds(1)

  func databasesInfo() async throws -> Response {
    var names: [String]
    let isForReader = method != .post && parameters.flag("readable")
    if method == .post {
      guard case .array(let keys)? = try await jsonObject()["keys"] else {
        throw CouchError.badRequest("`keys` member must exist.")
      }
      names = keys.compactMap(\.stringValue)
      guard names.count == keys.count, names.count <= 100 else {
        throw CouchError.badRequest("`keys` must be an array of at most 100 names.")
      }
    } else {
      names = try await isForReader ? readableNames() : namesOfPage()
    }
    var rows: [JSONValue] = []
    for name in names {
      do {
        let info =
          try await isForReader ? readableInfo(of: name) : databases.database(named: name).info()
        guard let info else { continue }
        rows.append(["key": .string(name), "info": .object(info)])
      } catch let error as CouchError where error == .noDatabase {
        rows.append(["key": .string(name), "error": "not_found"])
      } catch let error where !(error is CancellationError) {
        // One that is damaged or has another key must not hide the others.
        server.logger.note(error, of: request)
        let couch = CouchError(of: error)
        rows.append(["key": .string(name), "error": .string(couch.error), "reason": .string(couch.reason)])
      }
    }
    return Reply.value(.array(rows))
  }

  /// Whether the server can do its work, which costs the system two calls and nothing on the disk.
  func up() async throws -> Response {
    let configuration = server.configuration
    guard !configuration.isReadOnly,
      let obstacle = try await databases.obstacle(minimumFreeBytes: configuration.minimumFreeBytes)
    else { return Reply.json(["status": "ok", "seeds": [:]]) }
    return Reply.json(
      ["status": "unwritable", "reason": .string(obstacle), "seeds": [:]], .serviceUnavailable,
      headers: [.retryAfter: Reply.retryAfter])
  }

  func metrics() async -> Response {
    await server.metrics.sample(databases, tasks: server.tasks.json.count)
    return Reply.bytes(
      ByteBuffer(string: server.metrics.text), type: "text/plain; version=0.0.4; charset=utf-8")
  }

  func activeTasks() -> Response { Reply.value(.array(server.tasks.json + replicationTasks)) }
}

/// The session of the client: `_session`.
extension RequestContext {
  func session() throws -> Response {
    // A page that wants the browser to ask for a name and a password.
    if parameters.flag("basic"), identity.name == nil, server.hasUsers {
      throw CouchError(401, "unauthorized", "Please login.")
    }
    var info: JSONObject = ["authentication_handlers": ["cookie", "default"]]
    if let handler = identity.handler { info["authenticated"] = .string(handler.rawValue) }
    return Reply.json(["ok": true, "userCtx": .object(Self.user(identity)), "info": .object(info)])
  }

  func endSession() throws -> Response {
    let cookie = server.authenticator.cookieRemoval
    return try redirected(by: "next", Reply.json(Reply.ok, headers: [.setCookie: cookie]))
  }

  private static func user(_ identity: Identity) -> JSONObject {
    [
      "name": identity.name.map { .string($0) } ?? .null,
      "roles": .array(identity.roles.map { .string($0) }),
    ]
  }

  func beginSession() async throws -> Response {
    let (name, password) = try await credentials()
    let authenticator = server.authenticator
    let known: Authenticator.Authentication
    do throws(CouchError) {
      known = try await authenticator.logIn(name: name, password: password, from: peer)
    } catch {
      server.noteFailedLogin(name, from: peer, error)
      guard error.status == 401 else { throw error }
      return try redirected(
        by: "fail", Reply.error(error, headers: [.setCookie: authenticator.cookieRemoval]))
    }
    var reply: JSONObject = ["ok": true]
    for (member, value) in Self.user(known.identity) { reply[member] = value }
    var headers: HTTPFields = [:]
    if let cookie = known.cookie { headers[.setCookie] = cookie }
    return try redirected(by: "next", Reply.json(reply, headers: headers))
  }

  /// The reply, as a redirection if a parameter names a page of this server to go on with.
  private func redirected(by parameter: String, _ reply: Response) throws -> Response {
    guard let path = parameters[parameter] else { return reply }
    // After the host, no text leads to another host.
    guard path.utf8.first == UInt8(ascii: "/"), path.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
      throw CouchError.badRequest("`\(parameter)` must be a path of this server, such as /_session")
    }
    var reply = reply
    reply.status = .found
    reply.headers[.location] = url() + path.dropFirst()
    return reply
  }

  /// The name and the password in the body, a form or JSON.
  private func credentials() async throws -> (name: String, password: String) {
    let type = request.headers[.contentType]?.lowercased() ?? ""
    let bytes = try await body(limit: 10_000)
    let name: String?
    let password: String?
    if type.hasPrefix("application/x-www-form-urlencoded") {
      let form = try QueryParameters(String(decoding: bytes.readableBytesView, as: UTF8.self))
      (name, password) = (form["username"] ?? form["name"], form["password"])
    } else if type.hasPrefix(Reply.json) {
      let json = try bytes.json()
      name = (json["username"] ?? json["name"])?.stringValue
      password = json["password"]?.stringValue
    } else {
      throw CouchError(
        415, "bad_content_type", "Content-Type must be application/json or application/x-www-form-urlencoded")
    }
    guard let name, let password else {
      throw CouchError.badRequest("request body must contain a username and a password")
    }
    return (name, password)
  }
}
