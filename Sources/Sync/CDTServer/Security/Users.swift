package import CDTJSON

/// The users of a server, by name. Names are compared by their bytes, as in CouchDB.
package struct Users: Sendable {
  private var users: [KeyBytes: User] = [:]

  package init() {}

  package var isEmpty: Bool { users.isEmpty }

  /// The users, ordered by name.
  package var all: [User] { users.values.sorted { $0.name < $1.name } }

  package subscript(name: String) -> User? { users[KeyBytes(name)] }

  /// Adds a user, or replaces one of that name.
  package mutating func set(_ user: User) {
    users[KeyBytes(user.name)] = user
  }

  /// Removes a user.
  ///
  /// - Returns: `false` if there was none.
  package mutating func remove(_ name: String) -> Bool {
    users.removeValue(forKey: KeyBytes(name)) != nil
  }

  /// The hash that is verified for a name that nobody has, so that the time does not tell which names exist: it costs as
  /// much as the most expensive of the users.
  package var decoy: PasswordHash {
    .decoy(users.values.map(\.password.function).max { $0.work < $1.work } ?? .standard)
  }
}

// The content of a file of users. The names are the keys, so that no name is there twice:
//
//     {"users": {"mike": {"password": "$scrypt$…", "roles": ["_admin"]}}}
extension Users {
  package var json: JSONObject {
    [
      "users": .object(
        JSONObject(
          all.map { user in
            let roles = user.roles.map { JSONValue.string($0) }
            return (
              user.name, .object(["password": .string(user.password.text), "roles": .array(roles)])
            )
          }))
    ]
  }

  /// The reason why a content can't be used.
  struct ContentError: Error {
    let reason: String
  }

  init(json: JSONObject) throws(ContentError) {
    // An unknown member may be a misspelled one, so it is not ignored.
    guard let members = json["users"]?.objectValue, json.count == 1 else {
      throw ContentError(reason: "it is not an object with the one member \"users\", an object")
    }
    for (name, value) in members {
      do throws(ContentError) {
        set(try Self.user(name, value))
      } catch {
        throw ContentError(reason: "user \(JSONValue.string(name).text): \(error.reason)")
      }
    }
  }

  private static func user(_ name: String, _ json: JSONValue) throws(ContentError) -> User {
    guard let members = json.objectValue, members.count == 2, let text = members["password"]?.stringValue,
      let roles = members["roles"]?.arrayValue
    else { throw ContentError(reason: "not an object with \"password\", a string, and \"roles\", an array") }
    guard let password = PasswordHash(text: text) else {
      throw ContentError(reason: "\"password\" is not a hash of a known kind and cost")
    }
    let names = roles.compactMap(\.stringValue)
    guard names.count == roles.count else { throw ContentError(reason: "a role is not a string") }
    do throws(UserFileError) {
      return try User(name: name, password: password, roles: names)
    } catch {
      throw ContentError(reason: error.description)
    }
  }
}

/// A user of the server.
package struct User: Sendable {
  /// The maximum length of a name and of a role, in bytes.
  package static let maximumLength = 128
  package static let maximumRoles = 100
  package static let maximumPasswordLength = 1_024

  package let name: String
  package let password: PasswordHash
  package let roles: [String]

  /// - Throws: ``UserFileError`` if the name or a role is not allowed.
  package init(name: String, password: PasswordHash, roles: [String]) throws(UserFileError) {
    try Self.check(name: name, roles: roles)
    self.name = name
    self.password = password
    var known: Set<KeyBytes> = []
    self.roles = roles.filter { known.insert(KeyBytes($0)).inserted }
  }

  /// The members of a user that may be shown.
  package var summary: JSONObject {
    ["name": .string(name), "roles": .array(roles.map { .string($0) })]
  }

  func identity(_ handler: Identity.Handler) -> Identity {
    Identity(name: name, roles: roles, handler: handler)
  }

  /// - Throws: ``UserFileError`` if the name or a role is not allowed.
  package static func check(name: String, roles: [String]) throws(UserFileError) {
    guard isName(name) else { throw .invalidName(name) }
    for role in roles where !isRole(role) { throw .invalidRole(role) }
    guard roles.count <= maximumRoles else { throw .tooManyRoles(name) }
  }

  /// Whether a text can be a name. Basic authentication ends the name at a colon; CouchDB reserves a leading underscore.
  static func isName(_ text: String) -> Bool {
    isWord(text) && !text.utf8.contains(UInt8(ascii: ":"))
  }

  static func isRole(_ text: String) -> Bool {
    isWord(text) || [Identity.adminRole, Identity.metricsRole].contains { text.hasSameBytes(as: $0) }
  }

  private static func isWord(_ text: String) -> Bool {
    (1...maximumLength).contains(text.utf8.count) && text.utf8.first != UInt8(ascii: "_")
      && !hasControlCharacters(text)
  }

  static func checkPassword(_ password: String) throws(UserFileError) {
    guard (1...maximumPasswordLength).contains(password.utf8.count), !hasControlCharacters(password) else {
      throw .invalidPassword
    }
  }

  private static func hasControlCharacters(_ text: String) -> Bool {
    text.unicodeScalars.contains { $0.properties.generalCategory == .control }
  }
}
