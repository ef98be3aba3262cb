import CDTDatastore
import CouchDB
import Synchronization

/// The datastores of a manager, opened when they are asked for.
final class Databases: Sendable {
  let manager: DatastoreManager
  private let open = Mutex<[String: Database]>([:])

  init(_ manager: DatastoreManager) {
    self.manager = manager
  }

  func names() async throws -> [String] { try await manager.datastoreNames() }

  /// The database with a name.
  ///
  /// - Throws: ``CouchError/noDatabase``.
  func database(named name: String) async throws -> Database {
    if let known = open.withLock({ $0[name] }) { return known }
    do {
      return try await opened(manager.existingDatastore(named: name))
    } catch let error as DatastoreError where [.notFound, .invalidName].contains(error.code) {
      throw CouchError.noDatabase
    }
  }

  func create(_ name: String) async throws {
    try DatabaseName.check(name)
    if try await exists(name) { throw CouchError.databaseExists }
    _ = try await opened(manager.datastore(named: name))
  }

  func delete(_ name: String) async throws {
    do {
      try await manager.deleteDatastore(named: name)
    } catch let error as DatastoreError where [.notFound, .invalidName].contains(error.code) {
      throw CouchError.noDatabase
    }
    open.withLock { $0[name] = nil }
  }

  /// Forgets a database whose datastore was closed or deleted by others.
  func forget(_ database: Database) {
    open.withLock { if $0[database.name] === database { $0[database.name] = nil } }
  }

  private func exists(_ name: String) async throws -> Bool {
    do {
      _ = try await database(named: name)
      return true
    } catch let error as CouchError where error == .noDatabase {
      return false
    }
  }

  private func opened(_ store: Datastore) async throws -> Database {
    let new = try await Database(store)
    return open.withLock { open in
      if let known = open[store.name], known.store === store { return known }
      open[store.name] = new
      return new
    }
  }
}

extension CouchError {
  static let databaseExists = CouchError(
    412, "file_exists", "The database could not be created, the file already exists.")
}
