import CouchDB

extension Exchange {
  /// Throws unless the client may create and delete databases.
  func checkAdmin() throws(CouchError) {
    try identity.checkServerAdmin()
    if ![.get, .head].contains(method) { try checkWritable() }
  }

  /// Throws unless the client may list the databases.
  func checkServerRead() throws(CouchError) {
    if server.hasUsers, identity.name == nil {
      throw CouchError(401, "unauthorized", "You are not a server admin.")
    }
  }

  /// Throws if the server only reads.
  func checkWritable() throws(CouchError) {
    if server.configuration.isReadOnly {
      throw CouchError(403, "forbidden", "This server is read-only.")
    }
  }

  /// Who may use a database.
  func security(of database: Database) throws(CouchError) -> DatabaseSecurity {
    guard let stored = database.settings.security else { return .initial(hasUsers: server.hasUsers) }
    return try DatabaseSecurity(.object(stored))
  }
}
