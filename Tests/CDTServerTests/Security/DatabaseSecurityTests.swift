import CDTJSON
import CDTServer
import CouchDB
import Testing

@Suite struct DatabaseSecurityTests {
  static let admin = Identity(name: "root", roles: ["_admin"], handler: .basic)
  static let mike = Identity(name: "mike", roles: [], handler: .basic)
  static let zoe = Identity(name: "zoe", roles: ["team"], handler: .cookie)
  static let ann = Identity(name: "ann", roles: ["owners"], handler: .cookie)
  static let bob = Identity(name: "bob", roles: ["other"], handler: .cookie)

  enum Right: CaseIterable {
    case read, write, design, administer
  }

  private func error(_ security: DatabaseSecurity, _ right: Right, _ identity: Identity) -> CouchError? {
    do throws(CouchError) {
      switch right {
      case .read: try security.checkMember(identity)
      case .write: try security.checkMember(identity)
      case .design: try security.checkAdmin(identity)
      case .administer: try security.checkAdmin(identity)
      }
      return nil
    } catch {
      return error
    }
  }

  private func rights(_ security: DatabaseSecurity, _ identity: Identity) -> [Right] {
    Right.allCases.filter { error(security, $0, identity) == nil }
  }

  private func security(_ text: String) throws -> DatabaseSecurity {
    try DatabaseSecurity(.object(JSONObject(parsing: text)))
  }

  @Test func `members read and write, database admins also administer, others do nothing`() throws {
    let security = try security(
      #"{"admins":{"names":["mike"],"roles":["owners"]},"members":{"names":["kim"],"roles":["team"]}}"#)
    let kim = Identity(name: "kim", roles: [], handler: .basic)
    for admin in [Self.admin, Self.mike, Self.ann, .adminOfServerWithoutUsers] {
      #expect(rights(security, admin) == Right.allCases, "\(admin)")
    }
    for member in [Self.zoe, kim] { #expect(rights(security, member) == [.read, .write], "\(member)") }
    for other in [Self.bob, .anonymous] { #expect(rights(security, other) == [], "\(other)") }
  }

  @Test func `the errors tell an anonymous request from a user without rights`() throws {
    let security = try security(#"{"members":{"names":["zoe"]}}"#)
    for right in Right.allCases {
      #expect(
        error(security, right, .anonymous)
          == CouchError(401, "unauthorized", "You are not authorized to access this db."))
      #expect(
        error(security, right, Self.bob)
          == CouchError(403, "forbidden", "You are not allowed to access this db."))
    }
    for right in [Right.design, .administer] {
      #expect(
        error(security, right, Self.zoe) == CouchError(403, "forbidden", "You are not a db or server admin."))
    }
    let open = try DatabaseSecurity([:])
    #expect(
      error(open, .design, .anonymous) == CouchError(401, "unauthorized", "You are not a db or server admin.")
    )
  }

  @Test func `without members the database is open to everyone, but not to administer`() throws {
    for text in [
      "{}", #"{"members":{}}"#, #"{"members":{"names":[],"roles":[]},"admins":{"names":["mike"]}}"#,
    ] {
      let security = try security(text)
      for anyone in [Identity.anonymous, Self.bob] { #expect(rights(security, anyone) == [.read, .write]) }
    }
  }

  @Test func `a new database is for server admins, or open if there are no users`() {
    let closed = DatabaseSecurity.initial(hasUsers: true)
    #expect(
      closed.json.text
        == #"{"admins":{"roles":["_admin"]},"members":{"roles":["_admin"]}}"#)
    #expect(rights(closed, Self.admin) == Right.allCases)
    for other in [Identity.anonymous, Self.mike] { #expect(rights(closed, other) == []) }
    let open = DatabaseSecurity.initial(hasUsers: false)
    #expect(open.json.text == #"{"admins":{"roles":[]},"members":{"roles":[]}}"#)
    #expect(rights(open, .adminOfServerWithoutUsers) == Right.allCases)
    #expect(rights(open, .anonymous) == [.read, .write])
  }

  @Test func `a member of one database is not a member of another`() throws {
    let first = try security(#"{"members":{"names":["mike"]}}"#)
    let second = try security(#"{"members":{"names":["zoe"]}}"#)
    #expect(rights(first, Self.mike) == [.read, .write])
    #expect(rights(second, Self.mike) == [])
  }

  @Test func `names and roles are different, and both are compared by their bytes`() throws {
    let security = try security(#"{"members":{"names":["team","Mike","jos\#u{E9}"],"roles":["mike"]}}"#)
    #expect(rights(security, Self.zoe) == [])
    #expect(rights(security, Self.mike) == [])
    let role = Identity(name: "x", roles: ["Mike"], handler: .basic)
    #expect(rights(security, role) == [])
    #expect(rights(security, Identity(name: "jose\u{301}", roles: [], handler: .basic)) == [])
    #expect(rights(security, Identity(name: "jos\u{E9}", roles: [], handler: .basic)) == [.read, .write])
  }

  @Test func `a user named _admin would be no admin`() throws {
    let name = Identity(name: "_admin", roles: [], handler: .basic)
    #expect(rights(.initial(hasUsers: true), name) == [])
    #expect(!name.isAdmin)
  }

  @Test func `readers, as before CouchDB 1·2, restrict as members do`() throws {
    #expect(rights(try security(#"{"readers":{"names":["zoe"]}}"#), Self.bob) == [])
    #expect(
      rights(try security(#"{"members":{"names":["zoe"]},"readers":{"names":["bob"]}}"#), Self.bob) == [])
  }

  @Test func `other members of the object are kept`() throws {
    let text = #"{"members":{"names":["zoe"],"x":1},"cloudant":{"nobody":[]}}"#
    #expect(try security(text).json.text == text)
  }

  struct Invalid: Sendable, CustomTestStringConvertible {
    let json: JSONValue
    let reason: String
    var testDescription: String { json.text }
  }
  static let names = "names must be a JSON list of strings"
  static let roles = "roles must be a JSON list of strings"
  static let group = "admins or members must be a JSON list of strings"
  static let object = "Security object must be a JSON object"
  static let invalid = [
    Invalid(json: [], reason: object), Invalid(json: "x", reason: object), Invalid(json: nil, reason: object),
    Invalid(json: ["admins": []], reason: group), Invalid(json: ["members": "mike"], reason: group),
    Invalid(json: ["members": nil], reason: group), Invalid(json: ["readers": 1], reason: group),
    Invalid(json: ["members": ["names": "mike"]], reason: names),
    Invalid(json: ["admins": ["names": ["mike", 1]]], reason: names),
    Invalid(json: ["admins": ["names": nil]], reason: names),
    Invalid(json: ["members": ["roles": [[]]]], reason: roles),
    Invalid(json: ["admins": ["roles": ["a": "b"]]], reason: roles),
  ]

  @Test(arguments: invalid)
  func `refuses an object`(_ invalid: Invalid) {
    #expect(throws: CouchError(400, "bad_request", invalid.reason)) { try DatabaseSecurity(invalid.json) }
  }

  @Test func `only server admins may do what concerns the server`() throws {
    try Self.admin.checkServerAdmin()
    try Identity.adminOfServerWithoutUsers.checkServerAdmin()
    for other in [
      Identity.anonymous, Self.mike, Identity(name: "a", roles: ["_ADMIN", "admin"], handler: .basic),
    ] {
      #expect(throws: CouchError(401, "unauthorized", "You are not a server admin.")) {
        try other.checkServerAdmin()
      }
    }
  }
}
