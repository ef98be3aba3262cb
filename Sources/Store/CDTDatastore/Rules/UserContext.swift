package import CDTJSON

/// A user, for the rules of a datastore: `userCtx` in a rule.
///
/// ```swift
/// var options = DatastoreOptions()
/// options.rules = .enforced(as: UserContext(name: "anna", roles: ["sales"]))
/// ```
public struct UserContext: Sendable, Hashable {
  /// The name; `nil` for an anonymous user.
  public var name: String?
  /// The roles. Database admins of a server have the role `_admin` only if they are admins of the server.
  public var roles: [String]

  /// A user with a name and roles.
  public init(name: String?, roles: [String] = []) {
    self.name = name
    self.roles = roles
  }

  /// A user without a name and roles, for an app in which nobody is logged in.
  ///
  /// ```swift
  /// options.rules = .enforced(as: .anonymous)
  /// ```
  public static let anonymous = UserContext(name: nil)

  /// The object that rules see, as at CouchDB.
  ///
  /// - Parameter database: The name of the database.
  package func json(inDatabase database: String) -> JSONObject {
    [
      "db": .string(database), "name": name.map { .string($0) } ?? .null,
      "roles": .array(roles.map { .string($0) }),
    ]
  }
}
