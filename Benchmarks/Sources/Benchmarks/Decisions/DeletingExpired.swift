import CDTDatastore
import CDTJSON
import CDTQuery

/// Decision 30: how long writes take while documents that have expired are deleted, and what the rule costs reads and writes.
struct DeletingExpired {
  private let scratch: Scratch

  private static let documents = 50_000
  private static let batch = 1_000

  init(_ scratch: Scratch) {
    self.scratch = scratch
  }

  func measure() throws -> MarkdownTable {
    let manager = try DatastoreManager(directory: scratch.path)
    let stores = try ["plain", "expiring", "old"].map { try manager.datastore(named: $0) }
    defer { for store in stores { try? manager.closeDatastore(named: store.name) } }
    for (store, date) in zip(stores, [4e9, 4e9, 0]) { try fill(store, date: date) }
    try stores[1].ensureIndexed(["at"], .expiring(after: .seconds(1)))
    var table = MarkdownTable(
      "\(Spelling.count(Self.documents)) documents",
      columns: ["", "median", "99 %", "longest"])
    for (name, store) in zip(["no rule", "a rule, nothing expired"], stores) {
      append("a read of a document, \(name)", try (0..<20_000).map { try read($0, in: store) }, to: &table)
      append("a write, \(name)", try (0..<2_000).map { try write($0, to: store) }, to: &table)
    }
    for (count, hidden) in [(1, 1), (999, 1_000)] {
      try hide(count, before: hidden, in: stores[1])
      append(
        "a read of a document, \(Spelling.count(hidden)) left out",
        try (0..<2_000).map { try read($0, in: stores[1]) }, to: &table)
    }
    let first = try stores[2].read { try $0.lastSequence() }
    try stores[2].ensureIndexed(["at"], .expiring(after: .seconds(1)))
    var times: [Double] = []
    let start = Clock.monotonic.now
    while try stores[2].read({ try $0.lastSequence() }) < first + Int64(Self.documents + times.count) {
      times.append(try write(times.count, to: stores[2]))
    }
    let rate = Double(Self.documents) / (Double(Clock.monotonic.now - start) / 1e9)
    append("a write beside the deletion of all, \(Spelling.count(Int(rate))) a second", times, to: &table)
    return table
  }

  private func append(_ name: String, _ times: [Double], to table: inout MarkdownTable) {
    let sorted = times.sorted()
    guard let longest = sorted.last else { return }
    let figures = [sorted[sorted.count / 2], sorted[sorted.count * 99 / 100], longest]
    table.append([name] + figures.map { Spelling.time(Int($0)) })
  }

  private func fill(_ store: Datastore, date: Double) throws {
    for first in stride(from: 0, to: Self.documents, by: Self.batch) {
      try store.write { transaction in
        for number in first..<first + Self.batch {
          let body: JSONObject = [
            "at": .double(date), "n": .int(Int64(number)),
            "text": .string(String(repeating: "lorem ipsum ", count: 15)),
          ]
          try transaction.createDocument(from: DocumentDraft(id: "d\(number)", body: body))
        }
      }
    }
  }

  /// Adds documents that have expired and can't be deleted: their revisions are of the highest generation.
  private func hide(_ count: Int, before end: Int, in store: Datastore) throws {
    try store.write { transaction in
      for number in end - count..<end {
        guard let revision = RevisionID("\(Int.max - 1)-f") else { continue }
        try transaction.forceInsert(DocumentRevision(id: "h\(number)", revisionID: revision, body: [:]))
        try transaction.updateDocument(withID: "h\(number)") { $0.body["at"] = 0 }
      }
    }
    try store.updateIndexes()
  }

  private func read(_ number: Int, in store: Datastore) throws -> Double {
    let start = Clock.monotonic.now
    _ = try store.document(withID: "d\(number * 7_919 % Self.documents)")
    return Double(Clock.monotonic.now - start)
  }

  private func write(_ number: Int, to store: Datastore) throws -> Double {
    let start = Clock.monotonic.now
    try store.createDocument(from: DocumentDraft(id: "w\(number)", body: ["n": .int(Int64(number))]))
    return Double(Clock.monotonic.now - start)
  }
}
