import CDTDatastore
import CDTJSON
import CDTQuery

/// Decision 28: an index of one document in a hundred, beside one of all, and what it costs writes that it does not hold.
struct PartialIndexes {
  private let scratch: Scratch
  private let documents: Int

  private static let name = "urgent"
  private static let filter: JSONObject = ["state": "open"]
  /// The number of documents in a transaction, and of transactions that are timed in each round.
  private static let batch = 1_000
  private static let batches = 10
  private static let rounds = 5

  init(_ scratch: Scratch, documents: Int) {
    self.scratch = scratch
    self.documents = documents
  }

  func measure() throws -> MarkdownTable {
    let manager = try DatastoreManager(directory: scratch.path)
    defer { manager.close() }
    let store = try manager.datastore(named: "partial")
    try fill(store)
    var table = MarkdownTable(
      "\(Spelling.count(documents)) documents, of which 1 % match the filter",
      columns: ["", "whole", "partial", ""])
    try store.ensureIndexed(["due", "title"], name: "all")
    try store.ensureIndexed(["due", "title"], name: Self.name, where: Self.filter)
    let bytes = try store.listIndexes().map(\.bytes)
    table.append(
      [
        "bytes", Spelling.count(bytes[0]), Spelling.count(bytes[1]),
        "\(Spelling.number(Double(bytes[1]) / Double(bytes[0]) * 100)) %",
      ])
    // With it and without it in turn, as other programs load the machine.
    var (with, without): ([Double], [Double]) = ([], [])
    for _ in 0..<Self.rounds {
      with.append(try writes(store))
      try store.deleteIndex(named: Self.name)
      without.append(try writes(store))
      try store.ensureIndexed(["due", "title"], name: Self.name, where: Self.filter)
    }
    let (both, one) = (with.sorted()[Self.rounds / 2], without.sorted()[Self.rounds / 2])
    table.append(
      [
        "a write that it does not hold, µs", Spelling.number(one), Spelling.number(both),
        Spelling.number(both - one),
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
  private func writes(_ store: Datastore) throws -> Double {
    var taken: Int64 = 0
    for batch in 0..<Self.batches {
      let revisions = try (0..<Self.batch).map { offset in
        let number = (batch * Self.batch + offset) % (documents / 100) * 100 + 1 + batch % 99
        return (number, try store.document(withID: "t\(1_000_000 + number)"))
      }
      let start = Clock.thread.now
      try store.write { transaction in
        for var (number, revision) in revisions {
          revision.body = Self.body(number, batch + 1)
          revision.body["due"] = .int(start % 100_003 + Int64(number))
          try transaction.updateDocument(from: revision)
        }
      }
      taken += Clock.thread.now - start
    }
    return Double(taken) / Double(Self.batches * Self.batch) / 1e3
  }
}
