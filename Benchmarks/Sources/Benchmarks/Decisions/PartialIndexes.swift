import CDTDatastore
import CDTJSON
import CDTQuery

/// Decision 28: an index of one document in a hundred, beside one of all, and what it costs writes that it does not hold.
struct PartialIndexes {
  private let scratch: Scratch
  private let documents: Int

  private static let name = "urgent"
  private static let filter: JSONObject = ["state": "open"]
  /// The number of documents in a transaction, and of transactions in each store.
  private static let batch = 1_000
  private static let batches = 60

  init(_ scratch: Scratch, documents: Int) {
    self.scratch = scratch
    self.documents = documents
  }

  func measure() throws -> MarkdownTable {
    let manager = try DatastoreManager(directory: scratch.path)
    let stores = try ["without", "with"].map { try manager.datastore(named: $0) }
    defer { for store in stores { try? manager.closeDatastore(named: store.name) } }
    for store in stores {
      try fill(store)
      try store.ensureIndexed(["due", "title"], name: "all")
    }
    try stores[1].ensureIndexed(["due", "title"], .where(Self.filter), name: Self.name)
    let bytes = try stores[1].listIndexes().map(\.bytes)
    var table = MarkdownTable(
      "\(Spelling.count(documents)) documents, of which 1 % match the filter",
      columns: ["", "whole", "partial"])
    table.append(
      [
        "bytes", Spelling.count(bytes[0]),
        "\(Spelling.count(bytes[1])), \(Spelling.number(Double(bytes[1]) / Double(bytes[0]) * 100)) %",
      ])
    // The least of many in turn, as other programs load the machine.
    var least = [Double.infinity, .infinity]
    for batch in 0..<Self.batches {
      for offset in 0..<2 {
        let number = (batch + offset) % 2
        least[number] = min(least[number], try write(batch, to: stores[number]))
      }
    }
    table.append(
      [
        "a write that the partial index does not hold, µs", Spelling.number(least[0]),
        "\(Spelling.number(least[1] - least[0])) more",
      ])
    return table
  }

  private static func body(_ number: Int, _ note: Int) -> JSONObject {
    [
      "due": .int(Int64(number * 7_919 % 100_003)), "title": .string("Title of the task number \(number)"),
      "state": number % 100 == 0 ? "open" : "done", "note": .int(Int64(note)),
      "text": .string(String(repeating: "lorem ipsum ", count: 15)),
    ]
  }

  private func fill(_ store: Datastore) throws {
    for first in stride(from: 0, to: documents, by: Self.batch) {
      try store.write { transaction in
        for number in first..<min(documents, first + Self.batch) {
          try transaction.createDocument(
            from: DocumentDraft(id: "t\(1_000_000 + number)", body: Self.body(number, 0)))
        }
      }
    }
  }

  /// The processor time of a write in microseconds, that of the disk aside.
  private func write(_ batch: Int, to store: Datastore) throws -> Double {
    let known = try (0..<Self.batch).map { offset in
      let number = (batch * Self.batch + offset) % (documents / 100) * 100 + 1 + batch % 99
      return (number, try store.document(withID: "t\(1_000_000 + number)"))
    }
    let start = Clock.thread.now
    try store.write { transaction in
      for (number, document) in known {
        var revision = document
        revision.body = Self.body(number, batch + 1)
        revision.body["due"] = .int(Int64((number + batch) * 104_729 % 100_003))
        try transaction.updateDocument(from: revision)
      }
    }
    return Double(Clock.thread.now - start) / Double(Self.batch) / 1e3
  }
}
