import CDTDatastore
import CDTTestSupport
import Dispatch
import Foundation

/// Runs `body` with a manager and an empty datastore in a directory of its own, removed afterwards.
func withListenedStore<R>(
  isolation: isolated (any Actor)? = #isolation, _ body: (DatastoreManager, Datastore) async throws -> R
) async throws -> R {
  let directory = try temporaryDirectory()
  defer { removeDirectory(directory) }
  var options = DatastoreOptions()
  options.durability = .normal
  options.busyTimeout = .seconds(60)
  let manager = try DatastoreManager(directory: directory, options: options)
  defer { manager.close() }
  return try await body(manager, try manager.datastore(named: "store"))
}

/// What a listener has heard.
struct Heard: Sendable {
  var changes: [Change] = []
  var lastSequence: Int64 = 0

  mutating func append(_ more: Changes) {
    changes += more.documents
    lastSequence = more.lastSequence
  }

  /// Whether no change came twice, or after a later one.
  var isRising: Bool { zip(changes, changes.dropFirst()).allSatisfy { $0.sequence < $1.sequence } }

  /// What is known of the documents in the end, as asking once would tell.
  var newest: [Change] {
    var newest: [String: Change] = [:]
    for change in changes { newest[change.id] = change }
    return newest.values.sorted { $0.sequence < $1.sequence }
  }

  func contains(_ id: String) -> Bool { changes.contains { $0.id == id } }
}

extension Datastore {
  /// Listens until a document of an id has come.
  func heard(
    since sequence: Int64 = 0, until id: String, isolation: isolated (any Actor)? = #isolation,
    afterEach body: @Sendable () async -> Void = {}
  ) async throws -> Heard {
    var heard = Heard(lastSequence: sequence)
    for try await changes in liveChanges(since: sequence) {
      heard.append(changes)
      if changes.documents.contains(where: { $0.id == id }) { break }
      await body()
    }
    return heard
  }
}
