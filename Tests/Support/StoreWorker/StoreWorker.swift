import CDTDatastore
import CDTJSON
import CDTQuery
import CDTTestSupport

/// One of the threads, of several processes, that do everything to a store at once.
///
/// What it writes can be checked afterwards: counters that all workers raise, accounts between which money moves,
/// documents of its own, documents that all change, revisions that conflict, and a count of what it did.
struct StoreWorker {
  static let counters = 4
  static let accounts = 20
  static let sharedDocuments = 30
  static let conflictedDocuments = 20

  let number: Int
  let shared: SharedStore
  let directory: String
  var random = SystemRandomNumberGenerator()
  /// The number of times that each counter was raised.
  var raised = [Int64](repeating: 0, count: counters)
  /// The documents of its own that are there.
  var own: [(id: String, group: Int64)] = []
  var created: Int64 = 0
  /// The revisions that it inserted beside others, each after the id of its document.
  var rivals: [[String]] = []
  /// The body of its local document.
  var local: JSONObject?
  /// The sequence up to which it has read the changes.
  var lastSequence: Int64 = 0
  var operations: [String: Int64] = [:]
  var failures: [String] = []

  /// Runs workers on so many threads, and listens to the changes meanwhile.
  ///
  /// - Returns: The operations that were done, and the results that should not have been seen.
  static func run(_ threads: Int, process: Int, in directory: String, for duration: Duration) async throws
    -> JSONObject
  {
    let shared = try SharedStore("shared", in: directory, process: process)
    try index(shared.open())
    let listener = Task { await StoreListener.listen(to: shared) }
    let reader = Task { await StoreListener.read(shared) }
    let workers = Gathered<StoreWorker>()
    await onThreads(threads) { thread in
      var worker = StoreWorker(number: process * threads + thread, shared: shared, directory: directory)
      let end = ContinuousClock.now + duration
      while ContinuousClock.now < end, worker.failures.count < 5 { worker.step() }
      workers.append(worker)
    }
    listener.cancel()
    reader.cancel()
    let asynchronous = [await listener.value, await reader.value]
    try shared.close()
    return report(workers.all, asynchronous)
  }

  private static func index(_ store: Datastore) throws {
    try store.ensureIndexed(["group", "worker"], name: "by_group")
    try store.ensureIndexed(["balance"], name: "by_balance")
    try store.ensureIndexed(["tags"], name: "by_tag")
    try store.ensureIndexed(["note"], .text, name: "words")
  }

  private init(number: Int, shared: SharedStore, directory: String) {
    (self.number, self.shared, self.directory) = (number, shared, directory)
  }

  private static func report(_ workers: [StoreWorker], _ asynchronous: [StoreListener]) -> JSONObject {
    var operations: [String: Int64] = [:]
    for counts in workers.map(\.operations) + asynchronous.map(\.operations) {
      operations.merge(counts, uniquingKeysWith: +)
    }
    let failures = workers.flatMap { worker in worker.failures.map { "worker \(worker.number): \($0)" } }
    return [
      "raised": .array((0..<counters).map { counter in .int(workers.reduce(0) { $0 + $1.raised[counter] }) }),
      "own": .array(workers.flatMap(\.own).map { .string($0.id) }),
      "rivals": .array(workers.flatMap(\.rivals).map { .array($0.map { .string($0) }) }),
      "operations": .object(
        JSONObject(operations.sorted { $0.key < $1.key }.map { ($0.key, .int($0.value)) })),
      "failures": .array((failures + asynchronous.flatMap(\.failures)).map { .string($0) }),
    ]
  }

  /// One operation. That the store is busy or closed is documented, and nothing has then happened; whatever else is thrown is a
  /// failure.
  private mutating func step() {
    let kinds = Int.random(in: 0..<25, using: &random) == 0 ? Self.rare : Self.frequent
    guard let work = kinds.randomElement(using: &random) else { return }
    do {
      try work.run(&self, shared.open())
      operations[work.name, default: 0] += 1
    } catch let error as DatastoreError where error.isOfSharing {
      operations[error.code.description, default: 0] += 1
    } catch {
      failures.append("\(work.name): \(error)")
    }
  }

  private typealias Work = (name: String, run: @Sendable (inout StoreWorker, Datastore) throws -> Void)

  private static let frequent: [Work] = [
    ("raise", { try $0.raise($1) }), ("raise read", { try $0.raiseWhatWasRead($1) }),
    ("transfer", { try $0.transfer($1) }), ("create", { try $0.create($1) }),
    ("batch", { try $0.createSeveral($1) }), ("delete", { try $0.delete($1) }),
    ("change shared", { try $0.changeShared($1) }),
    ("local", { try $0.changeLocal($1) }), ("attach", { try $0.attach($1) }),
    ("read attachment", { try $0.readAttachment($1) }), ("rival", { try $0.insertRival($1) }),
    ("resolve", { try $0.resolve($1) }), ("passing", { worker, _ in try worker.usePassing() }),
    ("sum", { try $0.sum($1) }), ("query", { try $0.query($1) }), ("query own", { try $0.queryOwn($1) }),
    ("count", { try $0.count($1) }), ("changes", { try $0.readChanges($1) }),
  ]

  private static let rare: [Work] = [
    ("import", { try $0.importSeveral($1) }),
    ("rebuild", { try $1.rebuildIndexes(named: ["by_group", "words"].randomElement(using: &$0.random)) }),
    ("create index", { try $0.createIndex($1) }),
    ("delete index", { try $0.deleteIndex($1) }), ("update indexes", { try $0.updateIndexes($1) }),
    ("list indexes", { _ = try $1.listIndexes() }), ("compact", { try $1.compact() }),
    ("check", { try $0.check($1) }), ("close", { worker, _ in try worker.shared.close() }),
    ("delete passing", { worker, _ in try worker.deletePassing() }),
  ]

  /// Does what others may have made impossible, which an error of one of these codes says.
  mutating func allowing(
    _ codes: DatastoreError.Code..., body: (inout StoreWorker) throws -> Void
  ) throws {
    do {
      try body(&self)
    } catch let error as DatastoreError where codes.contains(error.code) {
      operations["refused", default: 0] += 1
    }
  }
}
