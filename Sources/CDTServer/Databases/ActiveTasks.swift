import CDTJSON
import FoundationEssentials
import Synchronization

/// The long operations that requests have started.
final class ActiveTasks: Sendable {
  private struct Entry: Sendable {
    let type: String
    let database: String
    let start: Date
  }

  private let entries = Mutex<[UUID: Entry]>([:])

  /// Runs an operation and lists it meanwhile.
  func run<R>(
    _ type: String, on database: String, isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> R
  ) async rethrows -> R {
    let id = UUID()
    entries.withLock { $0[id] = Entry(type: type, database: database, start: .now) }
    defer { _ = entries.withLock { $0.removeValue(forKey: id) } }
    return try await body()
  }

  var json: [JSONValue] {
    entries.withLock { entries in
      entries.sorted { $0.value.start < $1.value.start }.map { id, entry in
        let start = Int64(entry.start.timeIntervalSince1970)
        return [
          "type": .string(entry.type), "database": .string(entry.database), "pid": .string(id.uuidString),
          "started_on": .int(start), "updated_on": .int(Int64(Date.now.timeIntervalSince1970)),
        ]
      }
    }
  }
}
