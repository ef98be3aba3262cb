import CouchDB
import Hummingbird

/// Finds the endpoint of what a database has besides documents.
struct DatabaseRouter: Sendable {
  let exchange: Exchange
  let access: DatabaseAccess

  func respond(to name: String, _ rest: [String]) async throws -> Response {
    switch (name, rest.count) {
    case ("_all_docs", 0): return try await AllDocsEndpoint(exchange: exchange, access: access).respond()
    case ("_design_docs", 0):
      return try await AllDocsEndpoint(exchange: exchange, access: access, onlyDesign: true).respond()
    case ("_all_docs", 1) where rest[0] == "queries":
      return try await AllDocsEndpoint(exchange: exchange, access: access).respondToQueries()
    case ("_design_docs", 1) where rest[0] == "queries":
      return try await AllDocsEndpoint(exchange: exchange, access: access, onlyDesign: true)
        .respondToQueries()
    case ("_local_docs", 1) where rest[0] == "queries":
      return try await LocalDocsEndpoint(exchange: exchange, access: access).respondToQueries()
    case ("_local_docs", 0): return try await LocalDocsEndpoint(exchange: exchange, access: access).respond()
    case ("_bulk_docs", 0): return try await BulkDocsEndpoint(exchange: exchange, access: access).respond()
    case ("_bulk_get", 0): return try await BulkGetEndpoint(exchange: exchange, access: access).respond()
    case ("_changes", 0): return try await ChangesEndpoint(exchange: exchange, access: access).respond()
    case ("_revs_diff", 0):
      return try await RevisionsEndpoint(exchange: exchange, access: access).differences()
    case ("_missing_revs", 0):
      return try await RevisionsEndpoint(exchange: exchange, access: access).missing()
    case ("_revs_limit", 0):
      return try await SettingsEndpoint(exchange: exchange, access: access).revisionsLimit()
    case ("_security", 0): return try await SettingsEndpoint(exchange: exchange, access: access).security()
    case ("_find", 0): return try await FindEndpoint(exchange: exchange, access: access).find()
    case ("_explain", 0): return try await FindEndpoint(exchange: exchange, access: access).explain()
    case ("_index", _): return try await IndexEndpoint(exchange: exchange, access: access).respond(rest)
    case ("_compact", _): return try await MaintenanceEndpoint(exchange: exchange, access: access).compact()
    case ("_ensure_full_commit", 0):
      return try await MaintenanceEndpoint(exchange: exchange, access: access).ensureFullCommit()
    case ("_view_cleanup", 0):
      return try await MaintenanceEndpoint(exchange: exchange, access: access).viewCleanup()
    default:
      if let error = CouchError.unsupportedResource(ofDatabase: name) { throw error }
      // As at CouchDB, it would be a document, which can't be created.
      guard exchange.method != .put else {
        throw CouchError(400, "illegal_docid", "Only reserved document ids may start with underscore.")
      }
      throw CouchError.missing
    }
  }
}
