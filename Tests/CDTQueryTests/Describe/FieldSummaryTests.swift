import CDTDatastore
import CDTJSON
import CDTQuery
import Testing

/// The fields of documents, as `describe` prints them.
@Suite struct FieldSummaryTests {
  private static func summary(of documents: [JSONObject], indexed: Set<String> = []) -> FieldSummary {
    var scan = FieldScan()
    for document in documents { Array(document.text.utf8).withUnsafeBytes { scan.add($0) } }
    return scan.summary(indexed: indexed)
  }

  /// An object with many members.
  private static func object(of count: Int, named prefix: String) -> JSONObject {
    var object = JSONObject()
    for number in 0..<count { object["\(prefix)\(number)"] = 1 }
    return object
  }

  @Test func `fields have their types, numbers and first values`() throws {
    let summary = Self.summary(of: [
      ["_id": "a", "n": 1, "tags": ["x", ["y"], "x"], "pet": ["kind": "cat", "a.b": nil]],
      ["n": 1.0, "tags": [], "$x": true],
      ["n": "1", "pet": ["kind": "dog"], "many": [["k": 1], ["k": 2], 3]], [:],
    ])
    #expect(summary.documents == 4)
    #expect(summary.omittedFields == 0)
    let expected: [(path: String, documents: Int, types: [String: Int], distinct: Int, examples: JSONValue)] =
      [
        ("n", 3, ["number": 2, "string": 1], 2, [1, "1"]),
        ("tags", 2, ["array": 2], 0, []),
        ("tags[]", 1, ["string": 2, "array": 1], 1, ["x"]),
        ("tags[][]", 1, ["string": 1], 1, ["y"]),
        ("pet", 2, ["object": 2], 0, []),
        ("pet.kind", 2, ["string": 2], 2, ["cat", "dog"]),
        ("pet.a\\.b", 1, ["null": 1], 1, [nil]),
        ("\\$x", 1, ["boolean": 1], 1, [true]),
        ("many", 1, ["array": 1], 0, []),
        ("many[]", 1, ["object": 2, "number": 1], 1, [3]),
        ("many[].k", 1, ["number": 2], 2, [1, 2]),
      ]
    #expect(summary.fields.map(\.path) == expected.map(\.path))
    for (field, expected) in zip(summary.fields, expected) {
      #expect(field.documents == expected.documents, "\(field.path)")
      #expect(field.types == expected.types, "\(field.path)")
      #expect(field.distinct == expected.distinct && field.isDistinctExact, "\(field.path)")
      #expect(JSONValue.array(field.examples) == expected.examples, "\(field.path)")
    }
  }

  @Test func `values of every type are counted exactly, up to a hundred different ones`() throws {
    for isSampling in [true, false] {
      var scan = FieldScan(isSampling: isSampling)
      for number in 0..<12_000 {
        let state = ["paid", "open", "sent", "lost", "new"][number % 7 % 5]
        let count = number % 2 == 0 ? "1" : "1.0"
        let text =
          #"{"state":"\#(state)","flag":\#(number % 3 == 0),"one":\#(count),"tags":["\#(state)",null],"n":\#(number % 101)}"#
        Array(text.utf8).withUnsafeBytes { scan.add($0) }
      }
      let fields = scan.summary(indexed: nil).fields
      func counts(_ path: String) -> [Int]? {
        fields.first { $0.path == path }?.counts?.map(\.count)
      }
      let states = [3_429, 3_429, 1_714, 1_714, 1_714]
      #expect(counts("state") == states)
      #expect(counts("tags[]") == [12_000] + states)
      #expect(counts("flag") == [8_000, 4_000])
      #expect(counts("one") == [12_000])
      #expect(counts("n") == nil)
      #expect(fields.filter { $0.sample != nil }.map(\.path) == (isSampling ? ["n"] : []))
    }
  }

  @Test(arguments: [1, 200, 201, 10_000, 100_000])
  func `a sample is of all values, also of those that come in turns`(_ count: Int) throws {
    var scan = FieldScan(isSampling: true)
    for number in 0..<count {
      // 300 values, which come in turns of four.
      let turn = number % 4 * 1_000 + number % 150
      let text = "{\"n\":\(number),\"turn\":[\(turn)],\"few\":\(number % 4)}"
      Array(text.utf8).withUnsafeBytes { scan.add($0) }
    }
    let fields = scan.summary(indexed: nil).fields
    // The few values are counted.
    let few = try #require(fields.last?.counts)
    #expect(few.map(\.count) == (0..<min(4, count)).map { (count + 3 - $0) / 4 })
    #expect(fields.last?.sample == nil)
    guard count > 100 else {
      #expect(fields.first?.counts?.count == count && fields.first?.sample == nil)
      return
    }
    let numbers = try #require(fields.first?.sample).compactMap(\.intValue)
    #expect(Set(numbers).count == numbers.count)
    guard count > 200 else {
      #expect(numbers.count == count)
      return
    }
    #expect((90...200).contains(numbers.count))
    let usual = (numbers.count / 8)...(numbers.count / 2)
    let sample = fields.first { $0.path == "turn[]" }?.sample ?? []
    let turns = sample.compactMap(\.intValue).map { $0 / 1_000 }
    for part in 0..<4 {
      let (low, high) = (part * count / 4, (part + 1) * count / 4)
      #expect(usual.contains(numbers.filter { low <= $0 && $0 < high }.count), "the values from \(low)")
      #expect(usual.contains(turns.filter { $0 == part }.count), "the turn \(part)")
    }
  }

  @Test(arguments: [1, 499, 500, 501, 2_000, 20_000, 100_000])
  func `distinct values are counted exactly while they are few, then estimated`(_ count: Int) throws {
    var scan = FieldScan()
    for round in 0..<2 {
      for number in 0..<count {
        Array("{\"a\":\"v\(number)\",\"r\":\(round)}".utf8).withUnsafeBytes { scan.add($0) }
      }
    }
    let field = try #require(scan.summary(indexed: nil).fields.first)
    #expect(field.isDistinctExact == (count <= 500))
    if count <= 500 {
      #expect(field.distinct == count)
    } else {
      // Five standard errors, of a result that is always the same.
      #expect(abs(field.distinct - count) < count * 115 / 1_000, "\(field.distinct)")
    }
  }

  @Test func `fields beyond the limits are counted, and take no memory`() throws {
    let many = Self.summary(of: (0..<3).map { Self.object(of: 10_000, named: "f\($0)-") })
    #expect(many.fields.count == FieldSummary.maximumFields)
    #expect((27_000...31_000).contains(many.omittedFields), "\(many.omittedFields)")
    let nested = Self.summary(of: [["map": .object(Self.object(of: 300, named: "k")), "last": 1]])
    #expect(nested.fields.count == FieldSummary.maximumFieldsOfObject + 2)
    #expect(nested.fields.last?.path == "last")
    #expect(nested.omittedFields == 100)
    let long = String(repeating: "n", count: 1_000_000)
    let named = Self.summary(of: [[long: 1, "a": .string(long)]])
    #expect(named.fields.map(\.path) == ["a"])
    #expect(named.omittedFields == 1)
    #expect(named.fields.first?.examples == [.string(String(repeating: "n", count: 60) + "…")])
    var deep: JSONValue = 1
    for _ in 0..<400 { deep = [deep] }
    #expect(Self.summary(of: [["a": deep]]).fields.count <= FieldSummary.maximumFields)
  }

  @Test func `damaged text ends`() {
    for text in [
      "", "{", "{\"a", "{\"a\"", "{\"a\":", "{\"a\":[", "{\"a\":[1,", "{\"a\":{\"b\":}", "[[[", "{\"a\":x,,",
      "{\"a\":[,,]",
    ] {
      var scan = FieldScan()
      Array(text.utf8).withUnsafeBytes { scan.add($0) }
      #expect(scan.summary(indexed: nil).documents == 1)
    }
  }

  @Test func `an index is proposed for a field of which a value finds few documents`() throws {
    let documents: [JSONObject] = (0..<1_000).map { number in
      var document: JSONObject = [
        "key": .int(Int64(number)), "status": .string(number % 2 == 0 ? "open" : "done"),
        "group": .int(Int64(number % 50)),
        "tags": [.string("t\(number % 100)")],
      ]
      if number % 3 == 0 { document["rare"] = .int(Int64(number)) }
      return document
    }
    let summary = Self.summary(of: documents)
    #expect(summary.proposedIndexes.map(\.field) == ["key", "tags", "group"])
    #expect(
      summary.proposedIndexes.map(\.reason) == [
        "a value finds a single document on average; without an index, all are read",
        "a value finds about 10 of 1000 documents on average; without an index, all are read",
        "a value finds about 20 of 1000 documents on average; without an index, all are read",
      ])
    #expect(Self.summary(of: documents, indexed: ["key", "group"]).proposedIndexes.map(\.field) == ["tags"])
    #expect(Self.summary(of: Array(documents.dropLast())).proposedIndexes.isEmpty)
  }

  @Test func `a datastore is summarized with its indexes`() throws {
    try withTemporaryDatastore { store in
      try store.write { transaction in
        for number in 0..<1_000 {
          try transaction.createDocument(
            from: DocumentDraft(id: "d\(number)", body: ["a": .int(Int64(number)), "b": .int(Int64(number))]))
        }
      }
      try store.ensureIndexed(["a"])
      let summary = try store.summarizeFields()
      #expect(summary.fields.map(\.path) == ["a", "b"])
      #expect(summary.proposedIndexes.map(\.field) == ["b"])
    }
  }
}

/// The sample of `cdtquery sample`.
@Suite struct RandomSampleTests {
  @Test func `each element has the same chance`() {
    var counts = [Int](repeating: 0, count: 20)
    for seed in 0..<10_000 {
      var sample = RandomSample<Int>(of: 5, seed: UInt64(seed))
      for element in 0..<20 { sample.add { element } }
      let elements = sample.elements
      #expect(elements.count == 5 && elements == elements.sorted())
      for element in elements { counts[element] += 1 }
    }
    // 2,500 are expected, with a standard deviation of 43.
    #expect(counts.allSatisfy { abs($0 - 2_500) < 220 }, "\(counts)")
  }

  @Test func `a short sequence is its own sample`() {
    var sample = RandomSample<Int>(of: 5, seed: 1)
    for element in 0..<3 { sample.add { element } }
    #expect(sample.elements == [0, 1, 2])
  }
}
