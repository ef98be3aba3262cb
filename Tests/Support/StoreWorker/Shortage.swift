import CDTCSQLite
import CDTDatastore
import CDTJSON
import CDTQuery
import Glibc

/// Asks everything of a datastore while the process is short of something, and notes what comes out.
///
/// The store has documents `d0` to `d299`, whose `a` is the number's remainder by 7, and an index on `a`.
struct Shortage {
  /// Errors of types that a user of the package can't name.
  private var untyped: Set<String> = []
  /// The messages of typed errors.
  private var messages: Set<String> = []
  /// Answers that are not right.
  private var wrong: Set<String> = []
  private var refused: Int64 = 0
  private var answered: Int64 = 0

  var report: JSONObject {
    [
      "untyped": Self.list(untyped), "messages": Self.list(messages), "wrong": Self.list(wrong),
      "refused": .int(refused), "answered": .int(answered),
    ]
  }

  private static func list(_ texts: Set<String>) -> JSONValue { .array(texts.sorted().map { .string($0) }) }

  private typealias Question = (name: String, answer: String, ask: @Sendable (Datastore) throws -> String)

  /// Each question with its right answer.
  private static let questions: [Question] = [
    ("find", "43", { "\(try $0.find(["a": 3]).count)" }),
    ("sorted", "300", { "\(try $0.find([:], sort: [.descending("b")]).count)" }),
    ("ids", "43", { "\(try $0.find(["a": 3]).map(\.id).count)" }),
    ("count", "43", { "\(try $0.count(["a": 3]))" }),
    ("exists", "true", { "\(try $0.read { try $0.contains(Query(["a": 3])) })" }),
    ("explain", "false", { "\(try $0.read { try $0.explain(Query(["a": 3])) }.description.isEmpty)" }),
    ("list", "1", { "\(try $0.listIndexes().count { $0.name == "by_a" })" }),
    ("ensure", "by_a", { try $0.ensureIndexed(["a"], name: "by_a") }),
    ("rebuild", "()", { "\(try $0.rebuildIndexes(named: "by_a"))" }),
    ("check", "[]", { "\(try $0.checkIndexes())" }),
    ("update", "d0", { try $0.updateDocument(withID: "d0") { $0.body["n"] = 1 }.id }),
    (
      "create and drop", "2",
      { store in
        try store.ensureIndexed(["b"], name: "by_b")
        let count = try store.listIndexes().count
        try store.deleteIndex(named: "by_b")
        return "\(count)"
      }
    ),
  ]

  private mutating func ask(_ store: Datastore) {
    for (name, answer, ask) in Self.questions {
      guard let given = attempt(name, { try ask(store) }) else { continue }
      if given != answer { wrong.insert("\(name): \(given), not \(answer)") }
    }
  }

  /// Opens the store, asks everything and closes it.
  private mutating func askAnew(_ directory: String) {
    guard let manager = attempt("manager", { try DatastoreManager(directory: directory) }) else { return }
    if let store = attempt("open", { try manager.existingDatastore(named: "store") }) { ask(store) }
    try? manager.closeDatastore(named: "store")
  }

  private mutating func attempt<R>(_ name: String, _ body: () throws -> R) -> R? {
    do {
      let result = try body()
      answered += 1
      return result
    } catch let error as DatastoreError {
      messages.insert("\(name): \(error.code): \(error.message)")
    } catch let error as QueryError {
      messages.insert("\(name): \(error.code): \(error.message)")
    } catch {
      untyped.insert("\(name): \(type(of: error)): \(error)")
    }
    refused += 1
    return nil
  }

  // MARK: What is short

  static func ofDescriptors(in directory: String) -> Shortage {
    var shortage = Shortage()
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    let all = limit
    for count in 3..<28 {
      limit.rlim_cur = rlim_t(count)
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      shortage.askAnew(directory)
    }
    limit = all
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    shortage.askAnew(directory)
    return shortage
  }

  static func ofHeap(in directory: String) -> Shortage {
    var shortage = Shortage()
    for kibibytes in stride(from: 0, to: 900, by: 12) {
      // 0 would be no limit.
      sqlite3_hard_heap_limit64(sqlite3_memory_used() + Int64(kibibytes) * 1_024 + 1)
      shortage.askAnew(directory)
    }
    sqlite3_hard_heap_limit64(0)
    shortage.askAnew(directory)
    return shortage
  }
}
