import CDTDatastore
import CDTJSON
import CDTTestSupport
import Testing

@testable import CDTQuery

/// Conditions on later fields of an index, over which a query seeks from one value of the fields before to the next.
@Suite struct KeyFilterTests {
  @Test(arguments: [["a", "b"], ["-a", "b"], ["a", "-b"], ["-a", "-b"], ["c", "a", "b"]])
  func `a query that skips keys gives the matcher's answer`(fields: [String]) throws {
    try withTemporaryDatastore { store in
      let seed = UInt64.random(in: 0..<1_000_000)
      var random = SeededGenerator(seed: seed)
      let values: [JSONValue] = [1, 2, "x", "xy", .null, [], [1, 2], ["k": 1], true]
      try store.write { transaction in
        for number in 0..<1_500 {
          var body: JSONObject = ["c": .int(Int64.random(in: 0...2, using: &random))]
          body["a"] = values.randomElement(using: &random)
          switch Int.random(in: 0..<12, using: &random) {
          case 0: break
          case 1: body["b"] = values.randomElement(using: &random)
          default: body["b"] = .int(Int64.random(in: -300...300, using: &random))
          }
          try transaction.createDocument(from: DocumentDraft(id: "d\(number)", body: body))
        }
      }
      let sorts = fields.map {
        $0.hasPrefix("-") ? SortField.descending(String($0.dropFirst())) : .ascending($0)
      }
      try store.ensureIndexed(sorts, name: "i")
      let documents = try store.find([:])
      for round in 0..<60 {
        let low = Int64.random(in: -310...300, using: &random)
        let conditions: [JSONObject] = [
          ["b": ["$gte": .int(low), "$lt": .int(low + 20)]], ["b": ["$gt": .int(low)]],
          ["b": ["$lte": .int(low)]],
          ["b": ["$in": [.int(low), .int(low + 7), .int(low + 90)]]], ["b": ["$beginsWith": "x"]],
          ["b": ["$gte": .int(low), "$lt": .int(low + 20)], "a": ["$gte": 1]],
        ]
        guard let selector = conditions.randomElement(using: &random) else { return }
        let reversed = sorts.map { SortField($0.path, $0.direction == .ascending ? .descending : .ascending) }
        guard let sort = [[], sorts, reversed].randomElement(using: &random) else { return }
        let query = try Query(selector, sort: sort, useIndex: "i")
        let expected = try query.find(in: documents, textIndex: nil).map(\.id)
        let found = try store.read { try $0.find(query) }.map(\.id)
        let isSame =
          sort.isEmpty ? Set(found) == Set(expected) && found.count == expected.count : found == expected
        #expect(isSame, "seed \(seed), round \(round): \(selector.text) \(sort)")
        #expect(try store.read { try $0.count(query) } == expected.count, "seed \(seed), round \(round)")
      }
    }
  }
}
