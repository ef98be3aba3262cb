import CDTDatastore
import CouchDB

/// Compacts the databases that are open when more than half of their bytes are of no use: free pages, and the bodies of revisions
/// that compaction removes.
struct SelfCompaction: Sendable {
  let state: ServerState
  /// The time between two looks at the databases.
  let interval: Duration

  /// Smaller databases are left alone.
  private static let minimumSize: Int64 = 1 << 20

  /// A state of a database that was looked at. To look reads all revisions, so it is done again after a tenth more changes.
  private struct Look {
    let created: String
    let sequence: Int64
  }

  /// Runs until the task is cancelled.
  func run() async {
    var looks: [String: Look] = [:]
    while (try? await Task.sleep(for: interval)) != nil {
      for name in state.databases.openNames.sorted() {
        guard let database = state.databases.openDatabase(named: name), !database.isCompacting else {
          continue
        }
        do {
          looks[name] = try await look(at: database, since: looks[name])
        } catch is CancellationError {
          return
        } catch let error as DatastoreError where error.code == .closed {
          looks[name] = nil
        } catch {
          state.logger.error("compaction failed", metadata: ["database": "\(name)", "error": "\(error)"])
        }
      }
    }
  }

  private func look(at database: OpenDatabase, since last: Look?) async throws -> Look? {
    guard !database.store.access.isReadOnly else { return last }
    let sequence = try await database.store.read { try $0.lastSequence() }
    if let last, last.created == database.created, sequence < last.sequence + max(100, last.sequence / 10) {
      return last
    }
    let usage = try await Datastore.withDeadline(.now + state.configuration.limits.queryTime) {
      try await database.store.readForQuery { try $0.usage() }
    }
    if usage.size >= Self.minimumSize, usage.useless > usage.size / 2 {
      try await database.compact(listedIn: state.tasks)
      state.logger.info("compacted", metadata: ["database": "\(database.name)"])
    }
    return Look(created: database.created, sequence: sequence)
  }
}
