import CDTJSON
package import CouchDB

/// Who sends a request.
package struct Identity: Hashable, Sendable {
  /// How a request was authenticated, by CouchDB's names of its handlers.
  package enum Handler: String, Sendable {
    /// The `Authorization` header.
    case basic = "default"
    /// The cookie of a session.
    case cookie
  }

  /// The role of server admins.
  package static let adminRole = "_admin"

  /// `nil` for an anonymous request.
  package let name: String?
  package let roles: [String]
  /// `nil` if the request had no valid credentials.
  package let handler: Handler?

  package init(name: String?, roles: [String], handler: Handler?) {
    self.name = name
    self.roles = roles
    self.handler = handler
  }

  package static let anonymous = Identity(name: nil, roles: [], handler: nil)

  /// Anyone who can reach a server without users.
  package static let adminOfServerWithoutUsers = Identity(name: nil, roles: [adminRole], handler: nil)

  /// Whether this is a server admin, who may do everything.
  package var isAdmin: Bool { roles.contains { $0.hasSameBytes(as: Self.adminRole) } }

  /// Allows what only server admins may do, such as creating a database.
  package func checkServerAdmin() throws(CouchError) {
    guard isAdmin else { throw .notServerAdmin }
  }
}
