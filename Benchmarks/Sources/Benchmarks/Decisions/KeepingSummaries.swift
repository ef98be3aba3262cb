import CDTDatastore
import CDTJSON
import CDTQuery

/// Decision 29: what a summary costs writes, and how long its answers take.
struct KeepingSummaries {
  private let scratch: Scratch
  private let documents: Int

  /// The number of documents in a transaction, and of transactions in each store.
  private static let batch = 1_000
  private static let batches = 60
  private static let cities = 100

  init(_ scratch: Scratch, documents: Int) {
    self.scratch = scratch
    self.documents = documents
  }

  func measure() throws -> MarkdownTable {
    let manager = try DatastoreManager(directory: scratch.path)
    let stores = try ["none", "index", "summary"].map { try manager.datastore(named: $0) }
    defer { for store in stores { try? manager.closeDatastore(named: store.name) } }
    for store in stores { try fill(store) }
    try stores[1].ensureIndexed(["city", "total"])
    try stores[2].ensureIndexed(["city"], .summary(of: "total"))
    var table = MarkdownTable(
      "\(Spelling.count(documents)) documents in \(Self.cities) groups",
      columns: ["", "without", "with an index", "with a summary"])
    // The least of many in turn, as other programs load the machine.
    for size in [Self.batch, 1] {
      var least = [Double.infinity, .infinity, .infinity]
      for batch in 0..<Self.batches * (size == 1 ? 10 : 1) {
        for number in stores.indices {
          least[number] = min(least[number], try write(batch, size, to: stores[number]))
        }
      }
      let name =
        size == 1 ? "a write of its own, µs" : "a write of \(Spelling.count(size)) in a transaction, µs"
      table.append([name] + least.map(Spelling.number))
    }
    let all = try GroupQuery(by: [], [.count(), .sum("total", as: "sum")])
    let one = try GroupQuery(Query(["city": "city 17"]), by: ["city"], [.count(), .sum("total", as: "sum")])
    let each = try GroupQuery(by: ["city"], [.count(), .sum("total", as: "sum")])
    let extremes = try GroupQuery(by: ["city"], [.minimum("total", as: "min"), .maximum("total", as: "max")])
    let questions = [
      ("all", all), ("one group", one), ("each group", each), ("least and greatest of each", extremes),
    ]
    for (name, query) in questions {
      let times = try stores[1...].map { try answer(query, from: $0) }
      table.append([name + ", ms", ""] + times.map(Spelling.number))
    }
    return table
  }

  private static func body(_ number: Int, _ note: Int) -> JSONObject {
    [
      "city": .string("city \((number * 7_919 + note) % cities)"),
      "total": .double(Double((number + note) * 104_729 % 100_003) / 100), "note": .int(Int64(note)),
      "text": .string(String(repeating: "lorem ipsum ", count: 15)),
    ]
  }

  private func fill(_ store: Datastore) throws {
    for first in stride(from: 0, to: documents, by: Self.batch) {
      try store.write { transaction in
        for number in first..<min(documents, first + Self.batch) {
          try transaction.createDocument(
            from: DocumentDraft(id: "o\(10_000_000 + number)", body: Self.body(number, 0)))
        }
      }
    }
  }

  /// The processor time of a write in microseconds, that of the disk aside.
  private func write(_ batch: Int, _ size: Int, to store: Datastore) throws -> Double {
    let known = try (0..<size).map { offset in
      let number = (batch * size + offset) * 13 % documents
      return (number, try store.document(withID: "o\(10_000_000 + number)"))
    }
    let start = Clock.thread.now
    try store.write { transaction in
      for (number, document) in known {
        var revision = document
        revision.body = Self.body(number, batch + size)
        try transaction.updateDocument(from: revision)
      }
    }
    return Double(Clock.thread.now - start) / Double(size) / 1e3
  }

  /// The least processor time of an answer in milliseconds.
  private func answer(_ query: GroupQuery, from store: Datastore) throws -> Double {
    var least = Double.infinity
    for _ in 0..<20 {
      let start = Clock.thread.now
      let rows = try store.read { try $0.group(query) }
      least = min(least, Double(Clock.thread.now - start) / 1e6)
      guard !rows.isEmpty else { throw BenchError("no rows") }
    }
    return least
  }
}
