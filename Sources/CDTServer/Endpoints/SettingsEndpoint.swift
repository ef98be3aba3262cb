import CDTJSON
import CouchDB
import HTTPTypes
import Hummingbird

/// The settings of a database: `_security` and `_revs_limit`.
struct SettingsEndpoint: Sendable {
  let exchange: Exchange
  let access: DatabaseAccess

  func security() async throws -> Response {
    switch exchange.method {
    case .get, .head: return Reply.json(try exchange.security(of: access.database).json)
    case .put:
      try access.checkWritable()
      try access.checkAdmin()
      // As at CouchDB, of any content type.
      let object = try DatabaseSecurity(try await exchange.body(limit: 1 << 20).json()).json
      try await access.database.changeSettings { $0.security = object }
      return Reply.json(Reply.ok)
    default: throw exchange.methodNotAllowed("PUT,GET")
    }
  }

  func revisionsLimit() async throws -> Response {
    switch exchange.method {
    case .get, .head: return Reply.value(.int(Int64(access.database.revisionsLimit)))
    case .put:
      try access.checkWritable()
      try access.checkAdmin()
      guard let limit = try await exchange.body(limit: 1_000).json().intValue, limit > 0 else {
        throw CouchError.badRequest("`_revs_limit` must be a positive number.")
      }
      try await access.database.changeSettings { $0.revisionsLimit = limit }
      return Reply.json(Reply.ok)
    default: throw exchange.methodNotAllowed("PUT,GET")
    }
  }
}
