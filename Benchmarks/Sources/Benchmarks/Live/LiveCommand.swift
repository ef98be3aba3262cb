import ArgumentParser
import CDTDatastore
import CDTQuery
import Dispatch
import Synchronization

struct LiveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "live",
    abstract: "Measure how soon live queries have what was written, and what they cost the writer.",
    discussion: """
      Each document concerns one observer. The observers are of an equality, of $in, and of a range, on two indexed fields. \
      Writes are durable and replace single documents. First, nobody observes; then one query; then many.
      """)

  @Option(help: "How many documents.")
  var documents = 100_000
  @Option(help: "How many observers there are in each round.")
  var observers = [10_000, 100_000]
  @Option(help: "How many writes are measured in each round.")
  var writes = 5_000
  @OptionGroup var options: MeasuringOptions

  func validate() throws {
    guard documents >= 100, writes >= 100, observers.allSatisfy({ $0 > 0 && $0 <= documents }) else {
      throw ValidationError(
        "--documents and --writes must be at least 100, --observers at most as many as documents")
    }
  }

  func run() throws {
    try options.report { scratch, machine in
      var report = LiveReport(machine: machine, documents: documents, writes: writes)
      let manager = try DatastoreManager(directory: scratch.path)
      defer { try? manager.closeDatastore(named: "live") }
      let store = try manager.datastore(named: "live")
      try fill(store)
      for count in [0, 1] + observers { report.rows.append(try measure(count, store)) }
      return report
    }
  }

  private func fill(_ store: Datastore) throws {
    try store.ensureIndexed(["slot"])
    try store.ensureIndexed(["rank"])
    try store.createDocument(
      from: DocumentDraft(id: Self.id(Self.other), body: Self.body(Self.other, 0)))
    for start in stride(from: 0, to: documents, by: 1_000) {
      try store.write { transaction in
        for number in start..<min(start + 1_000, documents) {
          try transaction.createDocument(from: DocumentDraft(id: Self.id(number), body: Self.body(number, 0)))
        }
      }
    }
  }

  private static func id(_ number: Int) -> String { "doc-\(number)" }

  /// The document that concerns nobody.
  private static let other = -1_000_000

  /// - Parameter version: Makes the document another one.
  private static func body(_ slot: Int, _ version: Int) -> JSONObject {
    [
      "slot": .int(Int64(slot)), "rank": .int(Int64(slot)), "version": .int(Int64(version)),
      "comment": .string(String(repeating: "words ", count: 40)),
    ]
  }

  private static func query(_ number: Int) throws -> Query {
    let slot = JSONValue.int(Int64(number))
    switch number % 3 {
    case 0: return try Query(["slot": slot])
    case 1: return try Query(["slot": ["$in": [slot, .int(Int64(-number))]]])
    default: return try Query(["rank": ["$gte": slot, "$lt": .int(Int64(number + 1))]])
    }
  }

  private func measure(_ count: Int, _ store: Datastore) throws -> LiveReport.Row {
    let arrivals = Arrivals()
    let start = Clock.monotonic.now
    let tasks = try (0..<count).map { number in
      let query = try Self.query(number)
      return Task {
        for try await update in store.live(query) {
          if update.difference.updates.isEmpty { arrivals.noteFirst() } else { arrivals.note() }
        }
      }
    }
    for _ in 0..<count { arrivals.waitForFirst() }
    let started = Clock.monotonic.now - start
    defer { for task in tasks { task.cancel() } }

    func replace(_ number: Int, _ body: JSONObject) throws {
      try store.updateDocument(withID: Self.id(number)) { $0.body = body }
    }
    var writing = Latencies()
    for version in 0..<writes {
      let body = Self.body(Self.other, version + 1 + count * writes)
      try writing.measure { try replace(Self.other, body) }
    }

    var latencies: [Int64] = []
    for version in 0..<(count == 0 ? 0 : writes) {
      let number = version &* 7_919 % count
      try replace(number, Self.body(number, version + 1 + count * writes))
      let committed = Clock.monotonic.now
      // It may arrive before the writer goes on.
      latencies.append(max(0, arrivals.wait() - committed))
    }
    return LiveReport.Row(
      observers: count, start: Int(started), arrival: latencies.isEmpty ? nil : Percentiles(latencies),
      writeWall: Percentiles(writing.walls), writeProcessor: Percentiles(writing.processors))
  }
}

/// The times at which observers have got something.
private final class Arrivals: Sendable {
  private let first = DispatchSemaphore(value: 0)
  private let arrived = DispatchSemaphore(value: 0)
  private let last = Atomic<Int64>(0)

  func noteFirst() { first.signal() }

  func waitForFirst() { first.wait() }

  func note() {
    last.store(Clock.monotonic.now, ordering: .relaxed)
    arrived.signal()
  }

  /// Waits for the next arrival.
  ///
  /// - Returns: Its time.
  func wait() -> Int64 {
    arrived.wait()
    return last.load(ordering: .relaxed)
  }
}
