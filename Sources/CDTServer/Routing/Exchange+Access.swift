import CouchDB

extension Exchange {
  /// Throws unless the client may create and delete databases.
  func checkAdmin() throws(CouchError) {
    try identity.checkServerAdmin()
    if ![.get, .head].contains(method) { try checkWritable() }
  }

  /// What a client learns of a database that does not exist. Somebody whom nobody knows must not find out which exist, so
  /// for them it is like one that they may not use.
  var noDatabase: CouchError {
    server.hasUsers && identity.name == nil ? .notMember(identity) : .noDatabase
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
