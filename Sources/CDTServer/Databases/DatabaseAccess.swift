import CDTDatastore
import CouchDB

/// What a client may do with a database.
struct DatabaseAccess: Sendable {
  let database: Database
  let exchange: Exchange

  private func security() throws(CouchError) -> DatabaseSecurity { try exchange.security(of: database) }

  func checkRead() throws(CouchError) { try security().checkRead(exchange.identity) }

  /// Throws if the server or the database can only be read.
  func checkWritable() throws(CouchError) {
    try exchange.checkWritable()
    guard !database.store.access.isReadOnly else {
      throw CouchError(
        403, "forbidden",
        "The database can only be read; allow the server to write to its directory and its files.")
    }
  }

  /// Throws unless the client may change documents.
  func checkWrite() throws(CouchError) {
    try checkWritable()
    try security().checkWrite(exchange.identity)
  }

  /// Throws unless the client may change a document. Design documents are for the admins of the database.
  func checkWrite(_ id: String) throws(CouchError) {
    try checkWrite()
    if DocumentID.isDesign(id) { try security().checkWriteDesign(exchange.identity) }
  }

  /// Throws unless the client is an admin of the database.
  func checkAdmin() throws(CouchError) { try security().checkAdminister(exchange.identity) }
}
