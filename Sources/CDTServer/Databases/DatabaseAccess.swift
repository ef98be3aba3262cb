import CDTDatastore
import CouchDB

/// What a client may do with a database.
struct DatabaseAccess: Sendable {
  let database: Database
  let exchange: Exchange

  private func security() throws(CouchError) -> DatabaseSecurity { try exchange.security(of: database) }

  func checkRead() throws(CouchError) { try security().checkRead(exchange.identity) }

  /// Throws unless the client may change documents.
  func checkWrite() throws(CouchError) {
    try exchange.checkWritable()
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
