package import CDTDatastore
import CDTJSON
import CDTPlatform
import CDTQuery
import CouchDB
import Synchronization

/// A datastore that the server has open, which all requests share. It stays open while a request refers to it.
///
/// The server works with all of its documents. A request has a ``Database``, which gives those that its user sees.
package final class OpenDatabase: Sendable {
  package let store: Datastore
  let writes: WriteGroup
  let rules = RuleCache()
  let compactions = Atomic(0)
  /// Part of every sequence, so that one of a database that was deleted and created again is noticed.
  let created: String
  private let current: Mutex<(settings: DatabaseSettings, read: ContinuousClock.Instant)>

  /// The maximum age of the settings, which another server may change.
  private static let settingsAge = Duration.seconds(1)

  init(_ store: Datastore) async throws {
    self.store = store
    // From now on the indexes follow the design documents that are written.
    _ = try await Datastore.useFiles { try store.indexManager() }
    writes = WriteGroup(store)
    let settings = try await DatabaseSettings.of(store)
    created = settings.created
    current = Mutex((settings, .now))
  }

  var name: String { store.name }

  var settings: DatabaseSettings { current.withLock { $0.settings } }

  /// Reads the settings again if they are old.
  func refreshSettings() async throws {
    let now = ContinuousClock.now
    guard current.withLock({ now - $0.read > Self.settingsAge }) else { return }
    let settings = try await DatabaseSettings.of(store, known: settings)
    current.withLock { if $0.read < now { $0 = (settings, now) } }
  }

  func changeSettings(_ change: @escaping @Sendable (inout DatabaseSettings) -> Void) async throws {
    let settings = try await DatabaseSettings.change(of: store, change)
    current.withLock { $0 = (settings, .now) }
  }
}

extension OpenDatabase {
  // MARK: Writing

  /// The number of revisions that are kept of each branch of a document.
  var revisionsLimit: Int { settings.revisionsLimit ?? 1_000 }

  /// The rules for what the server writes itself.
  var rulesOfServer: EnforcedRules {
    EnforcedRules(
      for: UserContext(name: nil, roles: [Identity.adminRole]), security: settings.security ?? [:],
      cache: rules)
  }

  /// The totals of the database.
  ///
  /// - Parameter sequence: The text of the last sequence; `nil` for that of an admin.
  func info(_ sequence: String? = nil) async throws -> JSONObject {
    let size = try await store.runReading { [store] _ in try store.sizeOnDisk() }
    let (count, all, last, free) = try await store.read { transaction in
      (
        try transaction.documentCount(), try transaction.allDocumentCount(), try transaction.lastSequence(),
        try transaction.freeBytes()
      )
    }
    let used = max(0, size - free)
    var info = Self.info(
      name, sequence: sequence ?? "\(last)-\(created)", created: created, count: count, deleted: all - count,
      isCompacting: isCompacting)
    info["sizes"] = ["file": .int(size), "external": .int(used), "active": .int(used)]
    info["props"] = [:]
    info["cluster"] = ["q": 1, "n": 1, "w": 1, "r": 1]
    info["disk_format_version"] = 8
    return info
  }

  /// The totals that every database has, also `_users`, whose documents are in no store.
  static func info(
    _ name: String, sequence: String = "0", created: String = "0", count: Int, deleted: Int = 0,
    isCompacting: Bool = false
  ) -> JSONObject {
    [
      "db_name": .string(name), "update_seq": .string(sequence), "purge_seq": "0",
      "instance_start_time": .string(created), "doc_count": .int(Int64(count)),
      "doc_del_count": .int(Int64(deleted)), "compact_running": .bool(isCompacting),
    ]
  }

  // MARK: Compaction

  var isCompacting: Bool { compactions.load(ordering: .relaxed) > 0 }

  /// Runs a compaction, reported by `GET /db` while it runs.
  func compacting<R>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> R
  ) async rethrows -> R {
    compactions.add(1, ordering: .relaxed)
    defer { compactions.subtract(1, ordering: .relaxed) }
    return try await body()
  }

  /// Compacts the database in short transactions, between which others write.
  func compact(listedIn tasks: ActiveTasks) async throws {
    try await tasks.run("database_compaction", on: name) { _ in
      try await compacting { _ = try await store.compact(keeping: revisionsLimit) }
    }
  }

  // MARK: Rules of reading

  /// The number of a text of reading rules, which sequences name; `nil` if the store can't be written to.
  func number(ofRules text: String) async throws -> Int? {
    if let known = settings.number(ofRules: text) { return known }
    do {
      try await changeSettings { $0.add(rules: text) }
    } catch let error as DatastoreError where error.code == .io {
      return nil
    }
    return settings.number(ofRules: text)
  }
}
