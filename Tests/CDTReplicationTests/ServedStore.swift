import CDTDatastore
import CDTReplication
import CDTServer
import CDTServerTestSupport
import CDTTestSupport
import Foundation
import Logging

/// Runs `body` with two new stores.
func withStores<R>(_ body: (Datastore, Datastore) async throws -> R) async throws -> R {
  try await withTemporaryDirectory(inMemory: true) { directory in
    let manager = try DatastoreManager(directory: directory)
    return try await body(try manager.datastore(named: "left"), try manager.datastore(named: "right"))
  }
}

/// A store, and a server with another one.
struct ServedStore: Sendable {
  /// The manager of the store, which would be closed without it.
  let manager: DatastoreManager
  let local: Datastore
  let server: RunningServer
  /// The store behind the server.
  let remote: Datastore

  /// The URL of the remote store's database.
  var url: String { "\(server.url)/db" }

  func database(_ credentials: Credentials? = nil) throws -> RemoteDatabase {
    try RemoteDatabase(url, credentials: credentials)
  }

  /// Replicates, and returns the result.
  @discardableResult
  func replicate(
    _ direction: Replication.Direction, filter: ReplicationFilter? = nil,
    _ change: (inout Replication) throws -> Void = { _ in }
  ) async throws -> ReplicationResult {
    var replication = Replication(direction, with: try database(), filter: filter)
    replication.retries.firstPause = .milliseconds(1)
    replication.retries.longestPause = .milliseconds(10)
    try change(&replication)
    return try await Replicator(replication, of: local).replicate()
  }
}

/// Runs `body` with a new store and another one behind a server.
func withServedStore<R: Sendable>(
  logger: Logger = .silent, _ configure: (inout ServerConfiguration) throws -> Void = { _ in },
  _ body: (ServedStore) async throws -> R
) async throws -> R {
  try await withTemporaryDirectory(inMemory: true) { directory in
    let served = try DatastoreManager(directory: "\(directory)/served")
    let remote = try await served.datastore(named: "db")
    let manager = try DatastoreManager(directory: "\(directory)/local")
    let local = try await manager.datastore(named: "local")
    return try await withServer(of: served, logger: logger, configure) { server in
      try await body(ServedStore(manager: manager, local: local, server: server, remote: remote))
    }
  }
}
