import JSON
import SQLite
import TestSupport
import Testing

@testable import CDTQuery

/// Of the documents that are not in the indexes yet, those are found that hold what a selector asks for.
@Suite struct TailValuesTests {
  private static func values(_ selector: JSONObject) throws -> RequiredValues {
    try #require(RequiredValues(of: try Selector(selector).clause))
  }

  private func withTable(_ body: (DocumentsTable, TailValues) throws -> Void) throws {
    try withTemporaryDirectory { directory in
      let table = try DocumentsTable(directory)
      defer { table.close() }
      try body(table, TailValues())
    }
  }

  /// Begins a snapshot and asks in it.
  private static func ask(
    _ tail: TailValues, _ table: DocumentsTable, _ selector: JSONObject, above floor: Int64,
    lowest: Int64? = nil
  ) throws -> [Int64]? {
    let (written, newest) = try table.begin()
    tail.begin(written)
    return try tail.candidates(
      for: values(selector), above: floor, lowest: lowest ?? floor, upTo: newest, on: table.reader)
  }

  static let found: [(selector: JSONObject, body: String)] = [
    (["a": "x"], #"{"a":"x"}"#),
    (["a": "x"], #"{"b":1,"a":["y",{"z":"q"},"x"]}"#),
    (["a.b": "é\"\\ \n"], #"{"a":{"b":"é\"\\ \n"}}"#),
    (["a": "12345678"], #"{"a":"12345678"}"#),
    (["a": ""], #"{"a":""}"#),
    (["a": 5], #"{"a":5.0}"#),
    (["a": 5.0], #"{"a":5}"#),
    (["a": 0], #"{"a":-0.0}"#),
    (["a": -2.5], #"{"a":[-25e-1]}"#),
    (["a": 9_007_199_254_740_993], #"{"a":9007199254740993}"#),
    (["a": ["$in": ["u", 7]]], #"{"a":7}"#),
    (["$or": [["a": "x"], ["b": ["$in": [3, 4]]]]], #"{"b":4}"#),
    (["a": ["$elemMatch": ["b": "x", "c": ["$gt": 1]]]], #"{"a":[{"b":"x","c":2}]}"#),
    (["a": ["$elemMatch": ["$eq": "x"]]], #"{"a":["x"]}"#),
    (["a": ["$gt": 1], "b": "x"], #"{"a":2,"b":"x"}"#),
  ]

  @Test(arguments: found.indices) func `a document that holds the value is found`(number: Int) throws {
    let (selector, body) = Self.found[number]
    try withTable { table, tail in
      try table.put(1, body: #"{"other":"value","x":1}"#)
      try table.put(2, body: body)
      #expect(try Self.ask(tail, table, selector, above: 0) == [2])
    }
  }

  @Test func `selectors that ask for no value are left to the matcher`() throws {
    let selectors: [JSONObject] = [
      [:], ["a": ["$gt": 1]], ["a": nil], ["a": true], ["a": ["$ne": "x"]], ["a": ["$exists": true]],
      ["_id": "x"],
      ["$or": [["a": "x"], ["b": ["$lt": 3]]]], ["a": ["$in": ["x", nil]]], ["a": ["$not": ["$eq": "x"]]],
      ["a": ["$eq": ["b": "x"]]], ["$nor": [["a": "x"]]],
    ]
    for selector in selectors {
      #expect(RequiredValues(of: try Selector(selector).clause) == nil, "\(selector)")
    }
  }

  @Test func `a member's name is no value`() throws {
    try withTable { table, tail in
      try table.put(1, body: #"{"x":"y"}"#)
      #expect(try Self.ask(tail, table, ["a": "x"], above: 0) == [])
    }
  }

  @Test func `a document with very many values, or a number beyond all, may hold anything`() throws {
    try withTable { table, tail in
      let many = (0..<1_000).map(String.init).joined(separator: ",")
      try table.put(1, body: #"{"a":[\#(many)]}"#)
      try table.put(2, body: #"{"a":[1,2,3]}"#)
      #expect(try Self.ask(tail, table, ["a": "x"], above: 0) == [1])
      #expect(try Self.ask(tail, table, ["a": 3], above: 0) == [1, 2])
    }
  }

  @Test func `a tail of which a good part may match is gone through`() throws {
    try withTable { table, tail in
      for number in 1...100 { try table.put(Int64(number), body: #"{"a":\#(number % 3)}"#) }
      #expect(try Self.ask(tail, table, ["a": 1], above: 0) == nil)
      #expect(try Self.ask(tail, table, ["a": 4], above: 0) == [])
    }
  }

  @Test func `very many unread documents are read for the third query that asks`() throws {
    try withTable { table, tail in
      for number in 1...200 { try table.put(Int64(number), body: #"{"a":\#(number)}"#) }
      #expect(try Self.ask(tail, table, ["a": 7], above: 0) == nil)
      #expect(try Self.ask(tail, table, ["a": 7], above: 0) == nil)
      #expect(try Self.ask(tail, table, ["a": 7], above: 0) == [7])
      try table.put(7, body: #"{"a":7}"#)
      #expect(try Self.ask(tail, table, ["a": 7], above: 0) == [201])
    }
  }

  @Test func `what was known is forgotten with the history`() throws {
    try withTable { table, tail in
      try table.put(1, body: #"{"a":1}"#)
      #expect(try Self.ask(tail, table, ["a": 2], above: 0) == [])
      try table.writer.execute(
        #"UPDATE documents SET body = '{"a":2}'; UPDATE sessions SET token = 'another'"#)
      #expect(try Self.ask(tail, table, ["a": 2], above: 0) == [1])
    }
  }

  /// Writes, indexes that catch up and one that is behind the others, other connections; against each document's text.
  @Test func `what is found is what a look at every document finds`() throws {
    var random = SeededGenerator(seed: 3)
    try withTable { table, tail in
      var bodies: [Int64: (sequence: Int64, values: Set<Int>)] = [:]
      var (lowest, floor): (Int64, Int64) = (0, 0)
      var timesFound = 0
      for _ in 0..<1_500 {
        for _ in 0..<Int.random(in: 0..<4, using: &random) {
          let number = Int64.random(in: 0..<60, using: &random)
          let values = Set(
            (0..<Int.random(in: 0..<5, using: &random)).map { _ in Int.random(in: 0..<20, using: &random) })
          let isDeleted = Int.random(in: 0..<10, using: &random) == 0
          let spelled = values.map { $0 % 2 == 0 ? "\($0)" : "\"\($0)\"" }.joined(separator: ",")
          try table.put(number, body: #"{"a":[\#(spelled)]}"#, isDeleted: isDeleted)
          bodies[number] = isDeleted ? nil : (table.lastSequence, values)
        }
        switch Int.random(in: 0..<40, using: &random) {
        case 0: (lowest, floor) = (floor, table.lastSequence)
        case 1: (lowest, floor) = (table.lastSequence, table.lastSequence)
        case 2: try table.changeConnection()
        default: break
        }
        let wanted = Int.random(in: 0..<20, using: &random)
        let selector: JSONObject = ["a": wanted % 2 == 0 ? .int(Int64(wanted)) : .string("\(wanted)")]
        guard let found = try Self.ask(tail, table, selector, above: floor, lowest: lowest) else { continue }
        let expected = bodies.values.filter { $0.sequence > floor && $0.values.contains(wanted) }.map(
          \.sequence)
        #expect(found == expected.sorted())
        timesFound += found.isEmpty ? 0 : 1
      }
      #expect(timesFound > 300)
    }
  }
}
