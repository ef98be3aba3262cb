import CDTDatastore
import CDTJSON
import CDTRandomDocuments
import CDTSQLite
import CDTTestSupport
import Testing

@testable import CDTPlan
@testable import CDTQuery
@testable import CDTSelector

/// What the planner leaves out to be quick, it may leave out.
@Suite struct PlannerTests {
  @Test func `conjuncts from the sixty-fifth on are in no set`() {
    var (left, right) = (ConjunctSet(upTo: 70), ConjunctSet(63))
    #expect(left.count == 64 && left.contains(63) && !left.contains(64) && !left.contains(1_000))
    right.insert(64)
    #expect(right == ConjunctSet(63) && right.isSubset(of: left) && !left.isSubset(of: right))
    left.formIntersection(ConjunctSet(3).union(right))
    #expect(left == ConjunctSet(3).union(ConjunctSet(63)))
  }

  @Test func `an index answers conjuncts beyond the sixty-fourth, and the matcher the others`() throws {
    try withTemporaryDatastore { store in
      let names = (0..<70).map { "f\($0)" }
      try store.ensureIndexed(["f69", "f1"])
      try store.write { transaction in
        for wrong in [nil, 0, 1, 63, 64, 65, 68, 69] as [Int?] {
          var body = JSONObject()
          for (number, name) in names.enumerated() { body[name] = number == wrong ? 2 : 1 }
          try transaction.createDocument(
            from: DocumentDraft(id: wrong.map { "wrong \($0)" } ?? "right", body: body))
        }
      }
      try store.updateIndexes()
      let selector = JSONObject(names.map { ($0, 1) })
      let query = try Query(selector)
      try store.read { state in
        let engine = try QueryEngine(state)
        for way in try engine.everyPlan(query).indices {
          let found = try engine.choosing { try $0.everyPlan()[way] }.find(query)
          #expect(found.map(\.id) == ["right"], "way \(way)")
        }
      }
    }
  }

  @Test func `a scan never costs less than what rules it out unseen`() throws {
    try withTemporaryDatastore { store in
      var random = RandomDocuments(seed: 7)
      for number in 0..<4 {
        _ = try? store.ensureIndexed(SortField.fields(random.indexFields(), at: ""), name: "i\(number)")
      }
      try store.write { transaction in
        for number in 0..<300 {
          try transaction.createDocument(from: DocumentDraft(id: "d\(number)", body: random.body()))
        }
      }
      try store.updateIndexes()
      let indexes = try store.read { try QueryEngine($0).indexes }
      var planned = 0
      for _ in 0..<2_000 {
        let request = random.request()
        guard let query = try? ResolvedQuery(Query(request: request)) else { continue }
        for output in QueryOutput.allCases {
          guard
            let planner = try? Planner(query, indexes, output: output)
          else { continue }
          planned += 1
          #expect(planner.leastCostOfScan <= planner.cost(planner.scan), "\(request.text), \(output)")
        }
      }
      #expect(planned > 1_000)
    }
  }
}
