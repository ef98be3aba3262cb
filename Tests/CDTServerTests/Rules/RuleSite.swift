import CDTDatastore
import CDTJSON
import CDTServer
import CDTServerTestSupport
import CDTTestSupport
import Foundation

/// A server with users, and databases that all of them may use. Every reply a user gets can be compared with one to the admin.
struct RuleSite {
  let server: RunningServer

  static let users: [(name: String, roles: [String])] = [
    ("root", ["_admin"]), ("owner", []), ("anna", ["sales"]), ("bob", ["x", "y"]), ("carol", []),
  ]

  /// The database `db` has an admin, `owner`.
  static func run(requiresUser: Bool = false, _ body: (RuleSite) async throws -> Void) async throws {
    let directory = try temporaryDirectory()
    defer { removeDirectory(directory) }
    let file = "\(directory)/users.json"
    let users = UserFile(file)
    for (name, roles) in Self.users { _ = try users.setPassword("secret \(name)", of: name, roles: roles) }
    try await withServer({ ($0.usersFile, $0.requiresUser) = (file, requiresUser) }) { server in
      let site = RuleSite(server: server)
      try await site.open("db")
      try await body(site)
    }
  }

  func open(_ database: String) async throws {
    _ = try await admin.put("/\(database)")
    let security: JSONValue = [
      "admins": ["names": ["owner"], "roles": []], "members": ["names": [], "roles": []],
    ]
    _ = try await admin.put("/\(database)/_security", security)
  }

  var admin: RunningServer { user("root") }

  func user(_ name: String) -> RunningServer {
    var user = server
    let credentials = Data("\(name):secret \(name)".utf8).base64EncodedString()
    user.headers = [("Authorization", "Basic \(credentials)")]
    return user
  }

  /// Writes the rules of a database.
  func setRules(_ read: JSONValue?, _ more: JSONObject = [:], of database: String = "db") async throws {
    let known = try await admin.get("/\(database)/_design/access").json["_rev"]
    var document = more
    document["language"] = "query"
    document["read"] = read
    document["_rev"] = known
    _ = try await admin.put("/\(database)/_design/access", .object(document))
  }

  func setRoles(_ roles: [String], of name: String) async throws {
    let path = "/_users/org.couchdb.user:\(name)"
    var user = try await admin.get(path).json.objectValue ?? [:]
    user["roles"] = .array(roles.map { .string($0) })
    _ = try await admin.put(path, .object(user))
  }

  /// Saves a document as the admin, and returns its revision.
  @discardableResult
  func save(_ id: String, _ body: JSONObject, after revision: String? = nil) async throws -> String {
    var body = body
    if let revision { body["_rev"] = .string(revision) }
    return try await admin.put("/db/\(id)", .object(body)).json["rev"]?.stringValue ?? ""
  }
}

extension RunningServer {
  /// The rows of the changes, and the sequence to go on with.
  func changes(since: String = "0", _ more: String = "") async throws -> (rows: [JSONValue], last: String) {
    let reply = try await get("/db/_changes?since=\(since)\(more)").json
    return (reply["results"]?.arrayValue ?? [], reply["last_seq"]?.stringValue ?? "")
  }
}

extension JSONValue {
  /// The value without members whose values differ between databases.
  func without(_ names: Set<String>) -> JSONValue {
    switch self {
    case .object(let object):
      .object(
        JSONObject(object.filter { !names.contains($0.key) }.map { ($0.key, $0.value.without(names)) }))
    case .array(let values): .array(values.map { $0.without(names) })
    default: self
    }
  }
}
