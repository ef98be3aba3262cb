package import CDTJSON
import CDTPlatform
import Synchronization

/// The long operations that requests have started.
package final class ActiveTasks: Sendable {
  private struct Entry: Sendable {
    let type: String
    let database: String
    let start: Date
    var updated: Date
    /// How many changes are processed, and how many there are; `nil` if the operation does not count them.
    var progress: (done: Int, total: Int)?
  }

  private let entries = Mutex<[String: Entry]>([:])

  package init() {}

  /// Reports how many changes an operation has processed, and how many there are.
  package typealias Report = @Sendable (_ done: Int, _ total: Int) -> Void

  /// Runs an operation and lists it meanwhile.
  package func run<R>(
    _ type: String, on database: String, isolation: isolated (any Actor)? = #isolation,
    _ body: (_ report: @escaping Report) async throws -> R
  ) async rethrows -> R {
    let (id, start) = (RandomID.uuid(), Date.now)
    entries.withLock { $0[id] = Entry(type: type, database: database, start: start, updated: start) }
    defer { _ = entries.withLock { $0.removeValue(forKey: id) } }
    return try await body { done, total in
      self.entries.withLock { entries in
        entries[id]?.progress = (done, total)
        entries[id]?.updated = .now
      }
    }
  }

  package var json: [JSONValue] {
    entries.withLock { entries in
      entries.sorted { $0.value.start < $1.value.start }.map { id, entry in
        var task: JSONObject = [
          "type": .string(entry.type), "database": .string(entry.database), "pid": .string(id),
          "started_on": .int(Int64(entry.start.timeIntervalSince1970)),
          "updated_on": .int(Int64(entry.updated.timeIntervalSince1970)),
        ]
        if let (done, total) = entry.progress {
          task["changes_done"] = .int(Int64(done))
          task["total_changes"] = .int(Int64(total))
          task["progress"] = .int(Int64(total > 0 ? Double(done) / Double(total) * 100 : 100))
        }
        return .object(task)
      }
    }
  }
}
