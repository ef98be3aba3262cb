package import CDTDatastore
import CDTJSON
import CDTQuery
import CouchDB
import Synchronization

/// What all requests share of a datastore that the server has open.
package final class OpenDatabase: Sendable {
  let store: Datastore
  let writes: WriteGroup
  let compactions = Atomic(0)
  /// Part of every sequence, so that one of a database that was deleted and created again is noticed.
  let created: String
  private let current: Mutex<(settings: DatabaseSettings, read: ContinuousClock.Instant)>

  /// How old the settings may be, which another server may change.
  private static let settingsAge = Duration.seconds(1)

  init(_ store: Datastore) async throws {
    self.store = store
    // From now on the indexes follow the design documents that are written.
    _ = try store.indexManager()
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
  var name: String { open.name }

  package var store: Datastore { open.store }

  var created: String { open.created }

  // MARK: Settings

  var settings: DatabaseSettings { open.settings }

  func changeSettings(_ change: @escaping @Sendable (inout DatabaseSettings) -> Void) async throws {
    try await open.changeSettings(change)
  }

  // MARK: Queries

  /// Reads on the threads of queries.
  ///
  /// - Throws: `CouchError` with the status 503 if it takes until the deadline, also in the queue.
  func query<R: Sendable>(
    until deadline: ContinuousClock.Instant, _ body: @escaping @Sendable (ReadTransaction) throws -> R
  ) async throws -> R {
    do {
      return try await Datastore.withDeadline(deadline) { try await store.readForQuery(body) }
    } catch let error as DatastoreError where error.code == .timedOut {
      throw CouchError(
        503, "timeout",
        "The query took longer than the server allows; make it smaller, or create an index that serves it.")
    }
  }

  // MARK: Writing

  var writes: WriteGroup { open.writes }

  /// The number of revisions that are kept of each branch of a document.
  var revisionsLimit: Int { settings.revisionsLimit ?? 1_000 }

  /// Runs a write of a document, together with those of other requests.
  ///
  /// - Parameter body: Returns the id of the new revision.
  func save(
    _ id: String, _ body: @escaping @Sendable (WriteTransaction) throws -> RevisionID
  ) async throws -> RevisionID {
    let limit = revisionsLimit
    let revision = try await writes.write { transaction in
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

  // MARK: Compaction

  var isCompacting: Bool { open.compactions.load(ordering: .relaxed) > 0 }

  /// Runs a compaction, which the database's info mentions meanwhile.
  func compacting<R>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> R
  ) async rethrows -> R {
    open.compactions.add(1, ordering: .relaxed)
    defer { open.compactions.subtract(1, ordering: .relaxed) }
    return try await body()
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
    if text == "0" || text.isEmpty { return 0 }
    let parts = text.split(separator: "-", maxSplits: 1)
    guard parts.count == 2, let sequence = Int64(parts[0]), sequence >= 0 else {
      throw CouchError.badRequest("Malformed sequence supplied in 'since' parameter.")
    }
    return parts[1] == created ? sequence : 0
  }
}
