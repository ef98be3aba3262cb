import CDTDatastore
import CDTJSON
import CDTQuery

/// Decision 2: pages of 100 documents by bookmark, at the beginning and far behind it.
struct ReadingPages {
  private let scratch: Scratch
  private let documents: Int

  private static let size = 100
  private static let rounds = 40
  /// The number of documents in a transaction.
  private static let batch = 10_000

  init(_ scratch: Scratch, documents: Int) {
    self.scratch = scratch
    self.documents = documents
  }

  func measure() throws -> MarkdownTable {
    let manager = try DatastoreManager(directory: scratch.path)
    let store = try manager.datastore(named: "pages")
    defer { try? manager.closeDatastore(named: "pages") }
    for first in stride(from: 0, to: documents, by: Self.batch) {
      try store.write { transaction in
        for number in first..<min(documents, first + Self.batch) {
          let body: JSONObject = [
            "n": .int(Int64(number * 7_919 % 1_000_003)), "group": .int(Int64(number % 10)),
            "text": .string(String(repeating: "lorem ipsum ", count: 15)),
          ]
          try transaction.createDocument(from: DocumentDraft(id: "t\(10_000_000 + number)", body: body))
        }
      }
    }
    for field in ["n", "group"] { try store.ensureIndexed([.ascending(field)]) }
    let last = documents / Self.size
    var table = MarkdownTable(
      "pages of \(Self.size) in \(Spelling.count(documents)) documents, µs",
      columns: ["", "first", "number \(Spelling.count(last))", "ratio", "the one before, backwards", "ratio"])
    for (name, sort) in [
      ("n", SortField("n")), ("n, descending", .descending("n")), ("group", "group"), ("_id", "_id"),
    ]
      as [(String, SortField)]
    {
      table.append([name] + (try pages(of: sort, number: last, in: store)))
    }
    return table
  }

  private func pages(of sort: SortField, number: Int, in store: Datastore) throws -> [String] {
    let first = try Query([:], limit: Self.size, sort: [sort])
    var later = first
    later.skip = (number - 1) * Self.size - 1
    later.limit = 1
    let place = try store.results(for: later)
    _ = try place.documents()
    (later.skip, later.limit, later.bookmark) = (0, Self.size, try place.bookmark())
    var before = later
    before.isBackward = true
    // The least of many in turn, as other programs load the machine.
    var least = [Double.infinity, .infinity, .infinity]
    for _ in 0..<Self.rounds {
      for (number, query) in [first, later, before].enumerated() {
        let start = Clock.thread.now
        guard try store.read({ try $0.find(query) }).count == Self.size else {
          throw BenchError("a page is short")
        }
        least[number] = min(least[number], Double(Clock.thread.now - start) / 1e3)
      }
    }
    return [
      Spelling.number(least[0]), Spelling.number(least[1]), Spelling.number(least[1] / least[0]),
      Spelling.number(least[2]), Spelling.number(least[2] / least[0]),
    ]
  }
}
