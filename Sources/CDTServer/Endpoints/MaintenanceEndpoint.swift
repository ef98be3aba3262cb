import CouchDB
import HTTPTypes
import Hummingbird

/// What admins and replicators ask a database to do.
struct MaintenanceEndpoint: Sendable {
  let exchange: Exchange
  let access: DatabaseAccess

  /// Starts to compact the database, and answers at once.
  func compact() async throws -> Response {
    guard exchange.method == .post else { throw exchange.methodNotAllowed("POST") }
    try access.checkWritable()
    try access.checkAdmin()
    _ = try await exchange.jsonBody(limit: 1 << 20)
    let (database, tasks, logger) = (access.database, exchange.server.tasks, exchange.server.logger)
    exchange.server.background.add {
      do {
        try await tasks.run("database_compaction", on: database.name) { _ in
          try await database.compacting {
            _ = try await database.store.compact(keeping: database.revisionsLimit)
          }
        }
      } catch {
        logger.error("compaction failed", metadata: ["database": "\(database.name)", "error": "\(error)"])
      }
    }
    return Reply.json(Reply.ok, .accepted)
  }

  /// Every acknowledged change is on disk already.
  func ensureFullCommit() async throws -> Response {
    guard exchange.method == .post else { throw exchange.methodNotAllowed("POST") }
    _ = try await exchange.jsonBody(limit: 1 << 20)
    return Reply.json(
      ["ok": true, "instance_start_time": .string(access.database.created)], .created)
  }

  /// There are no views to clean up after.
  func viewCleanup() async throws -> Response {
    guard exchange.method == .post else { throw exchange.methodNotAllowed("POST") }
    try access.checkAdmin()
    _ = try await exchange.jsonBody(limit: 1 << 20)
    return Reply.json(Reply.ok, .accepted)
  }
}
