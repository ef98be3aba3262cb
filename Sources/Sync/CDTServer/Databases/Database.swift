package import CDTDatastore
import CDTJSON
import CDTPlatform
import CDTQuery
import CouchDB
import Synchronization

/// A datastore that the server has open, which all requests share. It stays open while a request refers to it.
package final class Database: Sendable {
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
    let settings = try await DatabaseSettings.of(store)
    current.withLock { if $0.read < now { $0 = (settings, now) } }
  }

  func changeSettings(_ change: @escaping @Sendable (inout DatabaseSettings) -> Void) async throws {
    let settings = try await DatabaseSettings.change(of: store, change)
    current.withLock { $0 = (settings, .now) }
  }
}

extension Database {
  // MARK: Queries

  /// Reads on the threads of queries.
  ///
  /// - Throws: `CouchError.slowQuery` if it takes until the deadline, also in the queue.
  func query<R: Sendable>(
    until deadline: ContinuousClock.Instant, _ body: @escaping @Sendable (ReadTransaction) throws -> R
  ) async throws -> R {
    try await Self.inTime(deadline) { try await store.readForQuery(body) }
  }

  /// Brings the indexes up to date.
  ///
  /// - Throws: `CouchError.slowQuery` if it takes until the deadline, also in the queue. Completed work is kept.
  func updateIndexes(until deadline: ContinuousClock.Instant) async throws {
    try await Self.inTime(deadline) { try await store.updateIndexes() }
  }

  /// The indexes with their sizes and the distribution of their values.
  ///
  /// - Throws: `CouchError.slowStatistics` if it takes until the deadline, also in the queue.
  func measureIndexes(until deadline: ContinuousClock.Instant) async throws -> [IndexInfo] {
    try await Self.inTime(deadline, else: .slowStatistics) { try await store.measureIndexes() }
  }

  private static func inTime<R: Sendable>(
    _ deadline: ContinuousClock.Instant, else failure: CouchError = .slowQuery,
    _ body: @Sendable () async throws -> R
  ) async throws -> R {
    do {
      return try await Datastore.withDeadline(deadline, operation: body)
    } catch let error as DatastoreError where error.code == .timedOut {
      throw failure
    }
  }

  // MARK: Writing

  /// The number of revisions that are kept of each branch of a document.
  var revisionsLimit: Int { settings.revisionsLimit ?? 1_000 }

  /// Runs a write of a document, together with those of other requests.
  ///
  /// - Parameters:
  ///   - rules: Those of the user who writes.
  ///   - body: Returns the id of the new revision.
  func save(
    _ id: String, under rules: some DocumentRules,
    _ body: @escaping @Sendable (WriteTransaction) throws -> RevisionID
  ) async throws -> RevisionID {
    let limit = revisionsLimit
    let revision = try await writes.write(under: rules) { transaction in
      let revision = try body(transaction)
      try transaction.stem(id, to: limit, after: [revision])
      return revision
    }
    await noteWrites(of: [id])
    return revision
  }

  /// Lets the indexes follow design documents that were written, so that the next request finds them.
  func noteWrites(of ids: [String]) async {
    // If that fails now, the datastore tries again in the background.
    if ids.contains(where: DocumentID.isDesign) { _ = try? await store.indexDefinitions() }
  }

  /// The rules for what the server writes itself.
  var rulesOfServer: EnforcedRules {
    EnforcedRules(
      for: UserContext(name: nil, roles: [Identity.adminRole]), security: settings.security ?? [:],
      cache: rules)
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

  // MARK: Sequences

  /// The text of a sequence.
  func text(of sequence: Int64) -> String { "\(sequence)-\(created)" }

  /// The sequence in a text: 0, or one that this database has given; 0 for one of another database.
  func sequence(_ text: String) throws(CouchError) -> Int64 {
    // Clients send it as JSON, too.
    let text =
      text.utf8.count > 1 && text.hasPrefix("\"") && text.hasSuffix("\"")
      ? String(text.dropFirst().dropLast()) : text
    if text == "0" { return 0 }
    let parts = text.split(separator: "-", maxSplits: 1)
    guard parts.count == 2, let sequence = Int64(parts[0]), sequence >= 0 else {
      throw CouchError.badRequest("Malformed sequence supplied in 'since' parameter.")
    }
    return parts[1] == created ? sequence : 0
  }
}

extension CouchError {
  static let slowQuery = CouchError(
    503, "timeout",
    "The query took longer than the server allows; make it smaller, or create an index that serves it.")

  static let slowStatistics = CouchError(
    503, "timeout",
    "Measuring the indexes took longer than the server allows; list them without `statistics`.")
}

/// The settings that the server stores with a database: a local document whose id no client can use.
struct DatabaseSettings: Sendable {
  /// The time at which the server first saw the database, in microseconds since 1970.
  var created: String
  /// The object that clients set at `_security`; `nil` if none did.
  var security: JSONObject?
  /// The number that clients set at `_revs_limit`; `nil` if none did.
  var revisionsLimit: Int?

  private static let id = DatabaseIdentity.id

  /// Whether the id of a local document is not for clients.
  static func isReserved(_ id: String) -> Bool { id.utf8.first == 1 }

  /// The settings of a datastore, saved when they are read for the first time.
  static func of(_ store: Datastore) async throws -> DatabaseSettings {
    if let known = try await store.readDocuments({ try $0.localDocument(withID: id) }) {
      return DatabaseSettings(known)
    }
    do {
      return try await change(of: store) { _ in }
    } catch let error as DatastoreError where error.code == .io {
      // A store that can only be read has other settings in each run.
      return DatabaseSettings()
    }
  }

  /// Changes the settings in a transaction, as another server may change them, too.
  static func change(
    of store: Datastore, _ change: @escaping @Sendable (inout DatabaseSettings) -> Void
  ) async throws -> DatabaseSettings {
    try await store.write { transaction in
      var settings =
        try transaction.localDocument(withID: id).map { DatabaseSettings($0) } ?? DatabaseSettings()
      change(&settings)
      try transaction.setLocalDocument(settings.json, withID: id)
      return settings
    }
  }

  private init() {
    created = DatabaseIdentity.now()
  }

  private init(_ json: JSONObject) {
    self.init()
    if case .string(let text)? = json[DatabaseIdentity.created] { created = text }
    if case .object(let object)? = json["security"] { security = object }
    if let limit = json["revisionsLimit"]?.intValue { revisionsLimit = limit }
  }

  private var json: JSONObject {
    var json: JSONObject = [DatabaseIdentity.created: .string(created)]
    if let security { json["security"] = .object(security) }
    if let revisionsLimit { json["revisionsLimit"] = .int(Int64(revisionsLimit)) }
    return json
  }
}
