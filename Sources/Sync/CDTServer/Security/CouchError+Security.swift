package import CouchDB

// The errors of authentication and authorization. Where CouchDB has a reason, it is CouchDB's.
extension CouchError {
  package static let wrongPassword = CouchError(401, "unauthorized", "Name or password is incorrect.")
  package static let accountLocked = CouchError(
    403, "forbidden", "Account is temporarily locked due to multiple authentication failures")
  package static let invalidBase64 = badRequest("Authorization header has invalid base64 value")
  package static let bearerToken = CouchError(
    401, "unauthorized", "This server has no bearer tokens; use basic authentication or POST /_session.")
  package static let malformedCookie = badRequest(
    "Malformed AuthSession cookie. Please clear your cookies.")
  package static let tooManyLogins = CouchError(
    429, "too_many_requests", "Too many logins from this address at the same time; try again later.")
  package static let busyWithLogins = CouchError(
    503, "service_unavailable", "Too many logins at the same time; try again later.")
  package static let noUsers = CouchError(
    500, "internal_server_error", "The file of users can't be used; see the server's log.")

  static let userRequired = CouchError(401, "unauthorized", "Authentication required.")

  package static let notServerAdmin = CouchError(401, "unauthorized", "You are not a server admin.")

  package static let notMetricsUser = CouchError(
    401, "unauthorized", "You are not a server admin or read-only metrics user")

  /// Without a name, logging in may help.
  static func refusal(of identity: Identity, anonymous: String, named: String) -> CouchError {
    identity.name == nil
      ? CouchError(401, "unauthorized", anonymous) : CouchError(403, "forbidden", named)
  }

  static func notMember(_ identity: Identity) -> CouchError {
    refusal(
      of: identity, anonymous: "You are not authorized to access this db.",
      named: "You are not allowed to access this db.")
  }

  static func notDatabaseAdmin(_ identity: Identity) -> CouchError {
    let reason = "You are not a db or server admin."
    return refusal(of: identity, anonymous: reason, named: reason)
  }

  static let securityNotObject = badRequest("Security object must be a JSON object")
  static let securityGroupNotObject = badRequest("admins or members must be a JSON list of strings")
  static func securityList(_ member: String) -> CouchError {
    badRequest("\(member) must be a JSON list of strings")
  }

  package static let missingHost = badRequest("The request needs exactly one Host header.")
  package static let invalidHost = badRequest("The Host header is not a host name or address.")
  /// Not 403, which tells clients that other credentials may help; RFC 9110 has 421 for a request that reached the wrong
  /// server.
  package static let unknownHost = CouchError(
    421, "misdirected_request",
    "This server does not have that host name; use localhost or its address, or add the name to its hosts.")
  package static let crossSiteWrite = CouchError(
    403, "forbidden", "A page of another origin can't write; add its origin to the server's CORS origins.")
  static let crossSiteBackup = CouchError(
    403, "forbidden", "A page of another origin can't cause a backup; open the address of the backup itself.")
}
