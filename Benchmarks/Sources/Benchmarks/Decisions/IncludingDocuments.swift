import CDTDatastore
import CDTJSON
import CDTQuery

/// Decision 37: 10,000 results that link one document each, with the linked documents, by `include` and by hand.
struct IncludingDocuments {
  private let scratch: Scratch

  private static let results = 10_000
  private static let rounds = 40

  init(_ scratch: Scratch) {
    self.scratch = scratch
  }

  func measure() throws -> MarkdownTable {
    let manager = try DatastoreManager(directory: scratch.path)
    let store = try manager.datastore(named: "linked")
    defer { try? manager.closeDatastore(named: "linked") }
    let text = JSONValue.string(String(repeating: "lorem ipsum ", count: 20))
    try store.write { transaction in
      for number in 0..<Self.results {
        let owner = "person-\(number * 7_919 % Self.results)"
        let order: JSONObject = ["type": "order", "owner": .string(owner), "text": text]
        try transaction.createDocument(from: DocumentDraft(id: "order-\(number)", body: order))
        let person: JSONObject = ["type": "person", "text": text]
        try transaction.createDocument(from: DocumentDraft(id: "person-\(number)", body: person))
      }
    }
    try store.ensureIndexed(["type"])
    let orders = try Query(["type": "order"])
    var including = orders
    including.include = ["owner": "owner"]
    func owners(_ orders: [DocumentRevision]) -> [String] {
      orders.compactMap { $0.body["owner"]?.stringValue }
    }
    let ways: [(String, (ReadTransaction) throws -> Int)] = [
      ("the results alone", { try $0.find(orders).count + Self.results }),
      (
        "by hand: `documents(withIDs:)`",
        {
          let found = try $0.find(orders)
          return try found.count + $0.documents(withIDs: owners(found)).count
        }
      ),
      (
        "by hand: a query with `$in`",
        {
          let found = try $0.find(orders)
          let ids = JSONValue.array(owners(found).map { .string($0) })
          return try found.count + $0.find(Query(["_id": ["$in": ids]])).count
        }
      ),
      (
        "both in one query, without their relation", { try $0.find(Query(["type": ["$exists": true]])).count }
      ),
      (
        "`include`",
        {
          let page = try $0.page(including)
          return page.documents.count + (page.included["owner"]?.count ?? 0)
        }
      ),
    ]
    // The least of many in turn, as other programs load the machine.
    var least = ways.map { _ in Double.infinity }
    for _ in 0..<Self.rounds {
      for (number, way) in ways.enumerated() {
        let start = Clock.thread.now
        guard try store.read(way.1) == 2 * Self.results else { throw BenchError("documents are missing") }
        least[number] = min(least[number], Double(Clock.thread.now - start) / 1e6)
      }
    }
    var table = MarkdownTable(
      "\(Spelling.count(Self.results)) results with one linked document each, ms",
      columns: ["", "time", "ratio"])
    for (way, time) in zip(ways, least) {
      table.append([way.0, Spelling.number(time), Spelling.number(time / least[1])])
    }
    return table
  }
}
