package import CDTJSON
package import CouchDB

/// The users who may use a database: its `_security` object.
///
/// ```json
/// {"admins": {"names": ["mike"], "roles": []}, "members": {"names": [], "roles": ["team"]}}
/// ```
///
/// Members read and write documents; database admins also write design documents and the security object. Without members
/// the database is open to everyone. Server admins may do everything.
package struct DatabaseSecurity: Sendable {
  /// The object as it is stored and sent, with members that have no meaning here.
  package let json: JSONObject
  private let admins: Group
  private let members: Group

  /// Reads an object that a client or the store gives.
  ///
  /// - Throws: 400 if the lists are not lists of strings.
  package init(_ value: JSONValue) throws(CouchError) {
    guard let json = value.objectValue else { throw .securityNotObject }
    self.json = json
    admins = try Group(json["admins"])
    // CouchDB's word before 1.2. Ignoring it would open the database.
    members = try Group(json["members"] ?? json["readers"])
  }

  private init(roles: [String]) {
    let group: JSONValue = ["roles": .array(roles.map { .string($0) })]
    json = ["admins": group, "members": group]
    admins = Group(roles: roles)
    members = admins
  }

  /// The security of a database of a server.
  init(
    ofDatabase name: String, _ settings: DatabaseSettings, hasUsers: Bool
  ) throws(CouchError) {
    // The documents of `_replicator` have credentials.
    guard !Databases.isReplicator(name), let stored = settings.security else {
      self = .initial(hasUsers: hasUsers)
      return
    }
    try self.init(.object(stored))
  }

  /// The security of a new database: only server admins if there are users, otherwise everyone.
  package static func initial(hasUsers: Bool) -> DatabaseSecurity {
    hasUsers ? onlyServerAdmins : everyone
  }

  private static let onlyServerAdmins = DatabaseSecurity(roles: [Identity.adminRole])
  private static let everyone = DatabaseSecurity(roles: [])

  // MARK: Decisions

  /// Allows reading everything, and writing documents and local documents.
  ///
  /// - Throws: 401 for an anonymous request, otherwise 403.
  package func checkMember(_ identity: Identity) throws(CouchError) {
    guard isAdmin(identity) || members.isEmpty || members.contains(identity) else {
      throw .notMember(identity)
    }
  }

  /// Allows writing design documents and indexes, changing the security object and the revision limit, and compaction.
  package func checkAdmin(_ identity: Identity) throws(CouchError) {
    // Someone who may not even read learns no more than that.
    try checkMember(identity)
    guard isAdmin(identity) else { throw .notDatabaseAdmin(identity) }
  }

  func isAdmin(_ identity: Identity) -> Bool {
    identity.isAdmin || admins.contains(identity)
  }
}

/// Names and roles, compared by their bytes.
private struct Group: Sendable {
  private let names: Set<KeyBytes>
  private let roles: Set<KeyBytes>

  init(roles: [String]) {
    names = []
    self.roles = Set(roles.map(KeyBytes.init))
  }

  init(_ value: JSONValue?) throws(CouchError) {
    guard let json = (value ?? [:]).objectValue else { throw .securityGroupNotObject }
    names = try Self.list("names", of: json)
    roles = try Self.list("roles", of: json)
  }

  private static func list(_ member: String, of json: JSONObject) throws(CouchError) -> Set<KeyBytes> {
    guard let values = (json[member] ?? []).arrayValue else { throw .securityList(member) }
    let strings = values.compactMap(\.stringValue)
    guard strings.count == values.count else { throw .securityList(member) }
    return Set(strings.map(KeyBytes.init))
  }

  var isEmpty: Bool { names.isEmpty && roles.isEmpty }

  func contains(_ identity: Identity) -> Bool {
    identity.name.map { names.contains(KeyBytes($0)) } ?? false
      || identity.roles.contains { roles.contains(KeyBytes($0)) }
  }
}
