import CDTDatastore
import JSON
import SQLite
import TestSupport
import Testing

@testable import CDTQuery

/// What the planner leaves out to be quick, it may leave out.
@Suite struct PlannerTests {
  @Test func `numbers of conjuncts are a set, however large they are`() {
    for seed in UInt64(1)...300 {
      var random = SeededGenerator(seed: seed)
      let bound = [10, 64, 65, 130, 300].randomElement(using: &random) ?? 10
      func drawn() -> Set<Int> {
        Set((0..<Int.random(in: 0...12, using: &random)).map { _ in .random(in: 0..<bound, using: &random) })
      }
      func made(_ numbers: Set<Int>) -> ConjunctSet {
        var set = ConjunctSet()
        for number in numbers { set.insert(number) }
        return set
      }
      func members(_ set: ConjunctSet) -> Set<Int> { Set((0..<400).filter(set.contains)) }
      let (left, right) = (drawn(), drawn())
      var common = made(left)
      common.formIntersection(made(right))
      #expect(members(made(left)) == left && made(left).count == left.count, "seed \(seed)")
      #expect(members(made(left).union(made(right))) == left.union(right), "seed \(seed)")
      #expect(common == made(left.intersection(right)), "seed \(seed)")
      #expect(made(left).isSubset(of: made(right)) == left.isSubset(of: right), "seed \(seed)")
      #expect(common.isSubset(of: made(left)), "seed \(seed)")
      #expect(members(ConjunctSet(upTo: bound)) == Set(0..<bound), "seed \(seed)")
    }
  }

  @Test func `an index decides conjuncts beyond the sixty-fourth, and the matcher the others`() throws {
    try withTemporaryDatastore { store in
      let names = (0..<70).map { "f\($0)" }
      try store.ensureIndexed(["f69", "f1"])
      try store.write { transaction in
        for wrong in [nil, 0, 1, 63, 64, 65, 68, 69] as [Int?] {
          var body = JSONObject()
          for (number, name) in names.enumerated() { body[name] = number == wrong ? 2 : 1 }
          try transaction.createDocument(
            from: DocumentRevision(id: wrong.map { "wrong \($0)" } ?? "right", body: body))
        }
      }
      try store.updateAllIndexes()
      let selector = JSONObject(names.map { ($0, 1) })
      let query = try Query(selector)
      let engine = try QueryEngine(store)
      for way in try engine.everyPlan(query).indices {
        let found = try engine.find(query) { try $0.everyPlan()[way] }.documentIDs
        #expect(found == ["right"], "way \(way)")
      }
    }
  }

  @Test func `a scan never costs less than what rules it out unseen`() throws {
    try withTemporaryDatastore { store in
      var random = RandomDocuments(seed: 7)
      for number in 0..<4 { _ = try? store.ensureIndexed(random.indexFields(), name: "i\(number)") }
      try store.write { transaction in
        for number in 0..<300 {
          try transaction.createDocument(from: DocumentRevision(id: "d\(number)", body: random.body()))
        }
      }
      try store.updateAllIndexes()
      let indexes = try QuerySnapshot(of: store, store.indexManager()).indexes
      var planned = 0
      for _ in 0..<2_000 {
        let request = random.request()
        guard let query = try? Query(request: request) else { continue }
        for output in QueryOutput.allCases {
          guard
            let planner = try? Planner(query, indexes, output: output, store: "store")
          else { continue }
          planned += 1
          #expect(planner.leastCostOfScan <= planner.cost(planner.scan), "\(request.text), \(output)")
        }
      }
      #expect(planned > 1_000)
    }
  }
}
