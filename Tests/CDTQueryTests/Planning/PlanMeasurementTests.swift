import CDTDatastore
import CDTJSON
import CDTPlatform
import CDTRandomDocuments
import Testing

@testable import CDTQuery
@testable import CDTSelector

/// What `_explain` says of a plan that has run.
@Suite struct PlanMeasurementTests {
  private static func number(_ json: JSONValue?) -> Int { json?.intValue ?? -1 }

  /// The sources with parts, and those without.
  private static func parts(of source: JSONValue) -> [JSONValue] {
    [source] + (source["parts"]?.arrayValue ?? []).flatMap(parts)
  }

  @Test func `random plans give every match, each document once, and no more than their parts`() throws {
    var random = RandomDocuments(seed: 32)
    for _ in 0..<20 {
      try withTemporaryDatastore { store in
        try store.write { transaction in
          for number in 0..<60 {
            try transaction.createDocument(from: DocumentDraft(id: "d\(number)", body: random.body()))
          }
        }
        for number in 0..<3 {
          _ = try? store.ensureIndexed(SortField.fields(random.indexFields(), at: ""), name: "i\(number)")
        }
        for _ in 0..<20 {
          let selector = random.selector()
          guard let query = try? Query(selector, limit: 5) else { continue }
          try store.read { try Self.check(query, selector, in: $0) }
        }
      }
    }
  }

  private static func measurement(of query: Query, by engine: QueryEngine) throws -> JSONValue {
    let cursor = try engine.cursor(query)
    defer { cursor.end() }
    return try cursor.explanation(measuring: true).json["measured"] ?? .null
  }

  private static func check(
    _ query: Query, _ selector: JSONObject, in transaction: ReadTransaction
  ) throws {
    let json = try measurement(of: query, by: QueryEngine(transaction))
    let matched = try transaction.count(query)
    #expect(number(json["matched"]) == matched, "\(selector)")
    #expect(number(json["results"]) == min(5, matched), "\(selector)")
    #expect(number(json["candidates"]) >= matched, "\(selector)")
    for part in parts(of: json["source"] ?? .null) {
      let (rows, documents) = (number(part["actual"]?["rows"]), number(part["actual"]?["documents"]))
      #expect(documents >= 0 && rows >= documents, "\(selector) \(part)")
      #expect(number(part["estimated"]?["rows"]) >= 0, "\(selector) \(part)")
    }
  }

  @Test func `a query is planned once, and once more to count the matches if its page is full`() throws {
    try withTemporaryDatastore { store in
      for number in 0..<5 {
        try store.createDocument(from: DocumentDraft(id: "\(number)", body: ["n": .int(Int64(number))]))
      }
      for (skip, limit, results, plans) in [(0, 9, 5, 1), (2, 9, 3, 1), (0, 2, 2, 2), (9, 9, 0, 2)] {
        try store.read { transaction in
          var (engine, planned) = (try QueryEngine(transaction), 0)
          engine.choose = {
            planned += 1
            return try $0.plan()
          }
          let query = try Query(["n": ["$gte": 0]], skip: skip, limit: limit)
          let measured = try Self.measurement(of: query, by: engine)
          #expect([measured["matched"], measured["results"]] == [5, .int(Int64(results))])
          #expect(planned == plans)
        }
      }
    }
  }

  @Test func `the numbers of unions and intersections`() {
    let lists: [[Int64]] = [[1, 2, 40_000, 70_000], [2, 3, 70_000], [2, 70_000, 1 << 40]]
    let sets = lists.map { numbers in
      var set = NumberSet()
      for number in numbers { _ = set.insert(number) }
      return set
    }
    let (all, common) = (NumberSet.union(sets), NumberSet.intersection(sets))
    #expect(all.count == 6)
    #expect([1, 2, 3, 40_000, 70_000, 1 << 40].allSatisfy { all.contains($0) })
    #expect(common.count == 2)
    #expect(common.contains(2) && common.contains(70_000))
    #expect(NumberSet.union([]).isEmpty && NumberSet.intersection([]).isEmpty)
  }
}
