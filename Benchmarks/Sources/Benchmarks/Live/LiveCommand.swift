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
      A write replaces a document; so that the disk does not hide what it costs, it is not synced. The time to the observer \
      begins when the write returns, and is 0 if the observer was sooner. Then a document is written that concerns nobody, \
      with the observers and when they have gone.
      """)

  @Option(help: "How many documents.")
  var documents = 100_000
  @Option(help: "How many observers there are in each round.")
  var observers = [1, 10_000, 100_000]
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
      var options = DatastoreOptions()
      options.durability = .normal
      let manager = try DatastoreManager(directory: scratch.path, options: options)
      defer { try? manager.closeDatastore(named: "live") }
      let store = try manager.datastore(named: "live")
      try fill(store)
      for count in observers { report.rows.append(try measure(count, store)) }
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

  /// - Parameter version: A number that differs for each version of the document.
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
        // It was cancelled.
        arrivals.noteFirst()
      }
    }
    for _ in 0..<count { arrivals.waitForFirst() }
    let started = Clock.monotonic.now - start

    var version = 0
    func replace(_ number: Int) throws {
      version += 1
      let body = Self.body(number, version + count * writes)
      try store.updateDocument(withID: Self.id(number)) { $0.body = body }
    }
    var latencies: [Int64] = []
    for write in 0..<writes {
      try replace(write &* 7_919 % count)
      let committed = Clock.monotonic.now
      latencies.append(max(0, arrivals.wait() - committed))
    }
    func other() throws -> LiveReport.Writes {
      var latencies = Latencies()
      for _ in 0..<writes { try latencies.measure { try replace(Self.other) } }
      return LiveReport.Writes(latencies)
    }
    let observed = try other()
    for task in tasks { task.cancel() }
    for _ in tasks { arrivals.waitForFirst() }
    return LiveReport.Row(
      observers: count, start: Int(started), arrival: Percentiles(latencies), observed: observed,
      alone: try other())
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
