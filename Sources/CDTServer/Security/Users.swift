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

  /// What is verified for a name that nobody has, so that the time does not tell which names exist: a hash that costs as
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
