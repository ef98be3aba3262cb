import CDTCSQLite
import CDTDatastore
import CDTJSON
import CDTQuery
import CDTTestSupport
import FoundationEssentials
import Glibc
import Synchronization

/// The memory of threads that query one datastore at once.
struct MemoryUse {
  private static let threads = 12

  private let store: Datastore
  private let failures = Failures()
  /// Of the process, in bytes, before anything was asked.
  private let before: Int

  final class Failures: Sendable {
    let all = Mutex<[String]>([])
  }

  init(in directory: String, budget: Int) throws {
    var options = DatastoreOptions()
    options.memoryBudget = budget
    options.durability = .normal
    let manager = try DatastoreManager(directory: directory, options: options)
    store = try manager.existingDatastore(named: "store")
    try store.ensureIndexed(["n"])
    try store.ensureIndexed(["kind", "n"])
    before = Self.resident("VmRSS")
    sqlite3_memory_highwater(1)
    try measure()
    try manager.closeDatastore(named: "store")
  }

  /// The most that SQLite had, and that the process grew by.
  var report: JSONObject {
    [
      "sqlite": .int(sqlite3_memory_highwater(0)), "grown": .int(Int64(Self.resident("VmHWM") - before)),
      "failures": .array(failures.all.withLock(\.self).map { .string($0) }),
    ]
  }

  private func measure() throws {
    // One reader alone comes to have nearly all of the budget, and keeps it while the others come.
    let held = try store.results(for: Query([:], sort: ["n"]))
    while let document = try held.next(), document.body["n"] != .int(6_000) {}
    let (store, failures) = (store, failures)
    onThreads(Self.threads) { thread in
      do {
        try Self.ask(store, thread)
      } catch {
        failures.all.withLock { $0.append("\(error)") }
      }
    }
    held.close()
  }

  /// Each thread passes over all of the store, by the index, sorted, and document by document; one writes, and one builds
  /// an index.
  private static func ask(_ store: Datastore, _ thread: Int) throws {
    switch thread {
    case 0:
      try store.ensureIndexed(["text", "n"])
    case 1:
      for number in 0..<300 { try store.updateDocument(withID: "d\(number)") { $0.body["more"] = 1 } }
    default:
      let sorts: [[SortField]] = [["n"], [.descending("n")], [], ["text"], ["kind"]]
      let sort = sorts[thread % 5]
      let index = sort == ["kind"] ? "kind_n" : nil
      var count = 0
      try store.results(for: Query(["n": ["$gte": 0]], sort: sort, useIndex: index)).forEachJSON { _ in
        count += 1
      }
      if count != 12_000 { throw Wrong(count: count) }
    }
  }

  private struct Wrong: Error {
    let count: Int
  }

  /// A line of what the system says of the process, in bytes.
  private static func resident(_ name: String) -> Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") } ?? ""
    return (Int(String(line.filter(\.isNumber))) ?? 0) * 1_024
  }
}
