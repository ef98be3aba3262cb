import CDTDatastore
import CDTJSON
import CDTTestSupport
import Testing

@testable import CDTQuery
@testable import CDTSelector

/// `skip` and `limit`: which of the matches are the results.
@Suite struct PageTests {
  private static func fill(_ store: Datastore, _ count: Int = 5) throws {
    try store.write { transaction in
      for number in 0..<count {
        try transaction.createDocument(
          from: DocumentDraft(
            id: "d\(number * 7 % count)", body: ["a": .int(Int64(number % 3)), "b": .int(Int64(number))]))
      }
    }
  }

  /// The order would depend on statistics, as an index with fewer rows than there are documents and tombstones costs less.
  @Test func `without a condition the order is that of the ids`() throws {
    try withTemporaryDatastore { store in
      try store.write { transaction in
        for number in 1...50 {
          let body: JSONObject = ["n": .int(Int64(-number))]
          let made = try transaction.createDocument(from: DocumentDraft(id: "d\(10 + number)", body: body))
          if number > 20 { try transaction.deleteDocument(from: made) }
        }
      }
      try store.ensureIndexed(["n"])
      let ids = (1...20).map { "d\(10 + $0)" }
      for limit in [nil, 1, 3, 19, 20, 21] {
        let query = try Query([:], limit: limit)
        let wanted = Array(ids.prefix(limit ?? .max))
        #expect(try store.find([:], limit: limit).map(\.id) == wanted)
        #expect(try store.read { try $0.documentIDs(query) } == wanted)
      }
    }
  }

  struct Extreme: Sendable, CustomTestStringConvertible {
    let skip, limit, results: Int
    var testDescription: String { "skip \(skip), limit \(limit)" }
  }

  /// Pages of five matches.
  static let extremes = [
    Extreme(skip: .max, limit: 0, results: 0), Extreme(skip: .max, limit: 1, results: 0),
    Extreme(skip: 1, limit: .max, results: 4), Extreme(skip: 0, limit: .max, results: 5),
    Extreme(skip: .max, limit: .max, results: 0), Extreme(skip: .max - 1, limit: 1, results: 0),
    Extreme(skip: 4, limit: .max - 3, results: 1),
  ]

  static let sorts: [[SortField]] = [[], ["a"], [.descending("b")], ["_id"], ["a", "b"]]

  @Test(arguments: extremes) func `numbers of any size are taken`(_ c: Extreme) throws {
    try withTemporaryDatastore { store in
      try Self.fill(store)
      for indexes in [[], ["a"], ["b"]] as [[SortField]] {
        if !indexes.isEmpty { try store.ensureIndexed(indexes) }
        for sort in Self.sorts {
          let query = try Query(["a": ["$gte": 0]], skip: c.skip, limit: c.limit, sort: sort)
          let context = "indexes \(indexes), sort \(sort)"
          #expect(try store.read { try $0.find(query) }.count == c.results, "\(context)")
          #expect(try store.read { try $0.find(query) }.map(\.id).count == c.results, "\(context)")
          try store.read { state in
            let engine = try QueryEngine(state)
            for plan in try engine.everyPlan(query).indices {
              let results = try engine.choosing { try $0.everyPlan()[plan] }.find(query)
              #expect(results.count == c.results, "plan \(plan), \(context)")
            }
          }
          // Neither depends on the page.
          #expect(try store.read { try $0.count(query) } == 5, "\(context)")
          #expect(try store.read { try $0.contains(query) }, "\(context)")
          #expect(try store.read { try $0.explain(query) }.json["skip"] == .int(Int64(c.skip)), "\(context)")
        }
      }
    }
  }

  @Test func `sorted pages hold every match once, though indexes are made and other processes ask`() throws {
    try withTemporaryDirectory { directory in
      let managers = try (0..<2).map { _ in try DatastoreManager(directory: directory) }
      defer { for manager in managers { try? manager.closeDatastore(named: "store") } }
      let stores = try managers.map { try $0.datastore(named: "store") }
      try Self.fill(stores[0], 40)
      for sort in [["a"], [.descending("a")], ["a", .descending("b")], ["_id"], ["c"]] as [[SortField]] {
        var found: [String] = []
        for page in 0..<9 {
          let store = stores[page % 2]
          switch page {
          case 1: try stores[0].ensureIndexed(["a", "b"], name: "i")
          case 3: try stores[1].ensureIndexed(["a", .descending("b")], name: "j")
          case 5: try stores[0].deleteIndex(named: "i")
          case 7: try stores[1].deleteIndex(named: "j")
          default: _ = try store.find(["b": .int(Int64(page))])
          }
          found += try store.find(["b": ["$gte": 0]], skip: page * 5, limit: 5, sort: sort).map(\.id)
        }
        let whole = try Query(["b": ["$gte": 0]], sort: sort).find(
          in: stores[0].read { try $0.allDocuments() })
        #expect(found == whole.map(\.id), "\(sort)")
      }
    }
  }
}
