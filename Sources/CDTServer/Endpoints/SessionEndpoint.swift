import CDTJSON
import CouchDB
import HTTPTypes
import Hummingbird

/// Who the client is: `_session`.
struct SessionEndpoint: Sendable {
  let exchange: Exchange

  func respond() async throws -> Response {
    switch exchange.method {
    case .get, .head:
      // A page that wants the browser to ask for a name and a password.
      if exchange.parameters.flag("basic"), exchange.identity.name == nil, exchange.server.hasUsers {
        throw CouchError(401, "unauthorized", "Please login.")
      }
      return Reply.json(description(of: exchange.identity))
    case .post: return try await begin()
    case .delete:
      let cookie = exchange.server.authenticator.cookieRemoval
      return try redirected(by: "next", Reply.json(Reply.ok, headers: [.setCookie: cookie]))
    default: throw exchange.methodNotAllowed("DELETE,GET,HEAD,POST")
    }
  }

  private func description(of identity: Identity) -> JSONObject {
    var info: JSONObject = ["authentication_handlers": ["cookie", "default"]]
    if let handler = identity.handler { info["authenticated"] = .string(handler.rawValue) }
    return ["ok": true, "userCtx": .object(user(identity)), "info": .object(info)]
  }

  private func user(_ identity: Identity) -> JSONObject {
    [
      "name": identity.name.map { .string($0) } ?? .null,
      "roles": .array(identity.roles.map { .string($0) }),
    ]
  }

  private func begin() async throws -> Response {
    let (name, password) = try await credentials()
    let authenticator = exchange.server.authenticator
    let known: Authenticator.Authentication
    do throws(CouchError) {
      known = try await authenticator.logIn(name: name, password: password, from: exchange.peer)
    } catch {
      guard error.status == 401 else { throw error }
      return try redirected(
        by: "fail", Reply.error(error, headers: [.setCookie: authenticator.cookieRemoval]))
    }
    var reply: JSONObject = ["ok": true]
    for (member, value) in user(known.identity) { reply[member] = value }
    var headers: HTTPFields = [:]
    if let cookie = known.cookie { headers[.setCookie] = cookie }
    return try redirected(by: "next", Reply.json(reply, headers: headers))
  }

  /// The reply, as a redirection if a parameter names a page of this server to go on with.
  private func redirected(by parameter: String, _ reply: Response) throws -> Response {
    guard let path = exchange.parameters[parameter] else { return reply }
    // After the host, no text leads to another one.
    guard path.utf8.first == UInt8(ascii: "/"), path.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
      throw CouchError.badRequest("`\(parameter)` must be a path of this server, such as /_session")
    }
    var reply = reply
    reply.status = .found
    reply.headers[.location] = exchange.url() + path.dropFirst()
    return reply
  }

  /// The name and the password in the body, a form or JSON.
  private func credentials() async throws -> (name: String, password: String) {
    let type = exchange.request.headers[.contentType]?.lowercased() ?? ""
    let bytes = try await exchange.body(limit: 10_000)
    let name: String?
    let password: String?
    if type.hasPrefix("application/x-www-form-urlencoded") {
      let form = try QueryString(String(decoding: bytes.readableBytesView, as: UTF8.self))
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
