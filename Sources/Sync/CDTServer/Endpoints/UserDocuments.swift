import CDTDatastore
import CDTDigest
import CDTJSON
import CDTPlatform
import CouchDB
import HTTPTypes
import Hummingbird

/// The users of the server's file as documents of `_users`, as CouchDB has them. No reply has a password or its hash.
///
/// A user may read the own document and change the own password. Server admins create, change and remove users, but for those with
/// the server's own roles: these are changed where the file is.
extension RequestContext {
  /// The users, for a client who may see them.
  private func users(for name: String? = nil) async throws -> Users {
    guard server.hasUsers else {
      throw CouchError.unsupported("A server without users", instead: "cdtquery serve --users FILE")
    }
    guard identity.isAdmin || name.map({ isOwn($0) }) == true else {
      // Whether another user exists is not told.
      throw identity.name == nil || name == nil ? CouchError.notMember(identity) : .missing
    }
    return try await server.authenticator.knownUsers()
  }

  private func isOwn(_ name: String) -> Bool { identity.name?.hasSameBytes(as: name) == true }

  /// The user that the path names.
  private var userName: String {
    get throws(CouchError) {
      let id = names["user"] ?? ""
      guard !id.hasBytePrefix("_") else {
        throw .badRequest(
          "_users has no \(id.prefix(100)); use /_users/org.couchdb.user:NAME or /_users/_all_docs"
        )
      }
      return try UserDocument.name(ofDocument: id)
    }
  }

  func usersInfo() async throws -> Response {
    Reply.json(OpenDatabase.info("_users", count: try await users().all.count))
  }

  func allUsers() async throws -> Response {
    let (users, options) = (try await users(), try await listOptions())
    func row(_ user: User) -> JSONObject {
      let id = JSONValue.string(UserDocument.id(of: user.name))
      var row: JSONObject = [
        "id": id, "key": id, "value": ["rev": .string(UserDocument.revision(of: user).description)],
      ]
      if options.includesDocuments { row["doc"] = .object(UserDocument.json(of: user)) }
      return row
    }
    let rows: [JSONValue]
    if let keys = options.wantedKeys {
      rows = keys.map { key in
        let name = key.stringValue.flatMap { try? UserDocument.name(ofDocument: $0) }
        return .object(name.flatMap { users[$0] }.map(row) ?? ["key": key, "error": "not_found"])
      }
    } else {
      let ids = options.page(of: users.all.map { UserDocument.id(of: $0.name) })
      rows = try ids.compactMap { id in users[try UserDocument.name(ofDocument: id)].map { .object(row($0)) }
      }
    }
    return Reply.json(["total_rows": .int(Int64(users.all.count)), "offset": 0, "rows": .array(rows)])
  }

  func userDocument() async throws -> Response {
    let name = try userName
    guard let user = try await users(for: name)[name] else { throw CouchError.missing }
    let tag = "\"\(UserDocument.revision(of: user))\""
    if hasNone(of: tag) { return Reply.empty(.notModified, headers: [.eTag: tag]) }
    return Reply.json(UserDocument.json(of: user), headers: [.eTag: tag])
  }

  func postUser() async throws -> Response {
    let sent = try await jsonObject()
    guard let id = sent["_id"]?.stringValue else { throw CouchError.forbiddenOfUser("doc.name is required") }
    return try await save(UserDocument(sent, id: id))
  }

  func putUser() async throws -> Response {
    let name = try userName
    let sent = try await body(limit: limits.documentLength).jsonObject()
    return try await save(UserDocument(sent, id: UserDocument.id(of: name)))
  }

  private func save(_ document: UserDocument) async throws -> Response {
    let name = document.name
    try checkWritable()
    guard identity.isAdmin || isOwn(name) else {
      throw identity.name == nil
        ? CouchError.notMember(identity) : .forbiddenOfUser("You may only update your own user document.")
    }
    _ = try await users(for: name)
    if document.isDeleted { return try await deleteUser(name, document.revision) }
    let named = try namedRevision(or: document.revision)
    let hash: PasswordHash? =
      if let password = document.password { try await server.authenticator.hash(password) } else { nil }
    let saved = try await server.authenticator.changeUsers { [isAdmin = identity.isAdmin] users in
      let known = users[name]
      guard named == known.map(UserDocument.revision) else { throw CouchError.conflict }
      guard known != nil || isAdmin else { throw CouchError.conflict }
      guard isAdmin || document.roles == known?.roles ?? [] else {
        throw CouchError.forbiddenOfUser("Only _admin may set roles")
      }
      guard UserDocument.serverRoles(document.roles) == UserDocument.serverRoles(known?.roles ?? []) else {
        throw CouchError.forbiddenOfUser(
          "No system roles (starting with underscore) in users db; they are changed with cdtquery user.")
      }
      guard let password = hash ?? known?.password else {
        throw CouchError.forbiddenOfUser("doc.password is required for a new user")
      }
      let user = try User(name: name, password: password, roles: document.roles)
      users.set(user)
      return user
    }
    noteChange("user saved", name)
    let revision = UserDocument.revision(of: saved)
    return self.saved(
      UserDocument.id(of: name), revision, .created, at: url("_users", UserDocument.id(of: name)))
  }

  func deleteUser() async throws -> Response { try await deleteUser(try userName, nil) }

  private func deleteUser(_ name: String, _ revision: RevisionID?) async throws -> Response {
    try checkWritable()
    guard identity.isAdmin else {
      throw identity.name == nil
        ? CouchError.notMember(identity) : .forbiddenOfUser("Only admins may delete user documents.")
    }
    _ = try await users()
    let named = try namedRevision(or: revision)
    let removed = try await server.authenticator.changeUsers { users in
      guard let known = users[name] else { throw CouchError.missing }
      guard named == UserDocument.revision(of: known) else { throw CouchError.conflict }
      guard UserDocument.serverRoles(known.roles).isEmpty else {
        throw CouchError.forbiddenOfUser(
          "A user with a role of the server is removed with cdtquery user remove.")
      }
      _ = users.remove(name)
      return known
    }
    noteChange("user removed", name)
    return saved(UserDocument.id(of: name), UserDocument.revision(of: removed), .ok, at: nil)
  }

  private func noteChange(_ message: String, _ name: String) {
    server.logger.notice(
      "\(message)", metadata: ["name": "\(name)", "user": "\(identity.name ?? "")", "client": "\(peer)"])
  }

  /// The database is always there.
  func createUsers() async throws -> Response {
    _ = try await users()
    throw CouchError.databaseExists
  }
}

/// A document of `_users` that a client sends.
struct UserDocument: Sendable {
  let name: String
  let roles: [String]
  /// `nil` to keep the one that the user has.
  let password: String?
  let revision: RevisionID?
  let isDeleted: Bool

  private static let prefix = "org.couchdb.user:"

  static func id(of name: String) -> String { prefix + name }

  static func name(ofDocument id: String) throws(CouchError) -> String {
    guard let name = id.afterBytePrefix(prefix), !name.isEmpty else {
      throw .forbiddenOfUser("Doc ID must be of the form org.couchdb.user:name")
    }
    return String(name)
  }

  /// The user without the hash of the password.
  static func json(of user: User) -> JSONObject {
    [
      "_id": .string(id(of: user.name)), "_rev": .string(revision(of: user).description),
      "name": .string(user.name),
      "type": "user", "roles": .array(user.roles.map { .string($0) }),
    ]
  }

  /// A revision that changes with the user. Nobody can guess a password from it, as the salt is not told.
  static func revision(of user: User) -> RevisionID {
    var json = user.summary
    json["password"] = .string(user.password.text)
    return RevisionID(generation: 1, suffix: Hexadecimal.text(Digest.hash(json.utf8Text, .sha256).prefix(16)))
  }

  /// The roles that have a meaning to the server.
  static func serverRoles(_ roles: [String]) -> Set<String> { Set(roles.filter { $0.hasBytePrefix("_") }) }

  /// - Throws: `CouchError`: 403 in the words of CouchDB's design document of `_users`, and 400 for members that the file of users
  ///   can't keep.
  init(_ json: JSONObject, id: String) throws(CouchError) {
    name = try Self.name(ofDocument: id)
    if let sent = json["_id"], sent != .string(id) {
      throw .forbiddenOfUser("Doc ID must be of the form org.couchdb.user:name")
    }
    revision = try json["_rev"].map { value throws(CouchError) in try RevisionID(json: value) }
    isDeleted = json["_deleted"] == true
    guard !isDeleted else {
      (roles, password) = ([], nil)
      return
    }
    guard json["type"] == "user" else { throw .forbiddenOfUser("doc.type must be user") }
    guard let sentName = json["name"]?.stringValue else { throw .forbiddenOfUser("doc.name is required") }
    guard sentName.hasSameBytes(as: name) else {
      throw .forbiddenOfUser("Doc ID must be of the form org.couchdb.user:name")
    }
    guard let roles = json["roles"] else { throw .forbiddenOfUser("doc.roles must exist") }
    guard let values = roles.arrayValue else { throw .forbiddenOfUser("doc.roles must be an array") }
    self.roles = values.compactMap(\.stringValue)
    guard self.roles.count == values.count else {
      throw .forbiddenOfUser("doc.roles can only contain strings")
    }
    switch json["password"] {
    case nil, .null?: password = nil
    case .string(let text)?:
      do throws(UserFileError) { try User.checkPassword(text) } catch { throw .badRequest(error.description) }
      password = text
    default: throw .forbiddenOfUser("doc.password must be a string")
    }
    do throws(UserFileError) {
      try User.check(name: name, roles: self.roles)
    } catch {
      throw .badRequest(error.description)
    }
    let known: Set = ["_id", "_rev", "_deleted", "type", "name", "roles", "password"]
    if let unknown = json.first(where: { !known.contains($0.key) })?.key {
      throw .badRequest(
        "\(JSONValue.string(String(unknown.prefix(100))).text) can't be kept: a user of this server has a name, roles and a password."
      )
    }
  }
}

extension CouchError {
  fileprivate static func forbiddenOfUser(_ reason: String) -> CouchError {
    CouchError(403, "forbidden", reason)
  }

  static let unsupportedOfUsers = unsupported(
    "This request of _users",
    instead: "GET, PUT and DELETE of /_users/org.couchdb.user:NAME, or /_users/_all_docs")

  /// A change of the file of users that is not possible.
  init(_ error: UserFileError) {
    switch error.code {
    case .busy: self.init(503, "service_unavailable", "The file of users is being changed; try again later.")
    case .invalidUser, .invalidPassword: self = .badRequest(error.description)
    default: self = .noUsers
    }
  }
}
