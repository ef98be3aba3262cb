import CDTJSON
import CDTRandomDocuments
import CDTTestSupport
import Testing

@testable import CDTIndex
@testable import CDTQuery
@testable import CDTSelector

@Suite struct IndexFilterTests {
  private func definition(
    _ filter: JSONObject, type: IndexType = .json, isUnique: Bool = false
  ) throws -> IndexDefinition {
    try IndexDefinition(
      fields: ["a"], IndexOptions(where: filter, text: type == .text ? .simple : nil, unique: isUnique))
  }

  @Test func `filters with the same conditions are the same`() throws {
    let first = try definition(["b": 2, "c": ["$gt": 3], "$or": [["d": 1], ["e": 1]]])
    let second = try definition(
      ["$and": [["$or": [["e": ["$eq": 1]], ["d": 1], ["d": 1]]], ["c": ["$gt": 3]], ["b": 2]]])
    #expect(first == second && first.isSame(as: second))
    #expect(try first.name.hasPrefix("a_where_") && first.name != definition(["b": 3]).name)
    #expect(try !first.isSame(as: definition([:])))
    #expect(try definition(["$and": []]).filter == nil)
    #expect(try definition([:], isUnique: true).name == "unique_a")
  }

  @Test func `the canonical form is read as it was written`() throws {
    let seed = testSeed(43)
    var random = RandomDocuments(seed: seed, scope: .everything)
    for _ in 0..<3_000 {
      guard let first = try? definition(random.chance(50) ? random.filter() : random.selector()) else {
        continue
      }
      let read = DefinitionFile.definitions(DefinitionFile.json([first]))
      guard read == [first], read[0].options.filter?.text == first.options.filter?.text else {
        Issue.record("seed \(seed): \(first.options.filter?.text ?? "")")
        return
      }
    }
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let filter: JSONObject
    var type = IndexType.json
    var isUnique = false
    let error: String
  }

  static let cases = [
    Case(
      testDescription: "operator", filter: ["a": ["$gtt": 1]],
      error: #"where.a.$gtt: unknown operator "$gtt" (did you mean "$gt"?)"#),
    Case(
      testDescription: "text", filter: ["$text": ["$search": "x"]],
      error: "where: the filter of an index can't search text; use the other operators"),
    Case(
      testDescription: "pattern", filter: ["a": ["$elemMatch": ["b": ["$regex": "x"]]]],
      error:
        "where: the filter of an index can't have a $regex, which could slow down every write; use $beginsWith or other operators"
    ),
    Case(
      testDescription: "length", filter: ["a": .string(String(repeating: "x", count: 10_000))],
      error: "where: the filter of an index has at most 10000 bytes, not 10016; shorten it"),
    Case(
      testDescription: "partial text index", filter: ["a": 1], type: .text,
      error: "where: a text index holds every document; leave out the filter"),
    Case(
      testDescription: "unique text index", filter: [:], type: .text, isUnique: true,
      error: "unique: the words of a text index can't be unique; use an index of type json"),
  ]

  @Test(arguments: cases) func `refuses`(_ c: Case) {
    let error = #expect(throws: QueryError.self) {
      try definition(c.filter, type: c.type, isUnique: c.isUnique)
    }
    #expect(error?.description == c.error)
  }
}
