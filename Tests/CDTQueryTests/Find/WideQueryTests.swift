import CDTDatastore
import CDTJSON
import CDTQuery
import CDTTestSupport
import Testing

/// Queries and documents with very many fields. Quadratic time would exceed the time limits.
@Suite struct WideQueryTests {
  private static func names(_ count: Int) -> [String] { (0..<count).map { "f\($0)" } }

  private static func body(_ count: Int) -> JSONObject {
    JSONObject(names(count).enumerated().map { ($1, .int(Int64($0))) })
  }

  @Test(.timeLimit(.usual))
  func `a result can have a hundred thousand fields`() throws {
    try withTemporaryDatastore { store in
      let body = Self.body(100_000)
      try store.createDocument(from: DocumentDraft(id: "wide", body: body))
      let names = Array(Self.names(100_000).reversed())
      #expect(try store.find([:], fields: names).first?.body == body)
    }
  }

  @Test(.timeLimit(.usual))
  func `a result can have a hundred thousand elements`() throws {
    try withTemporaryDatastore { store in
      let body: JSONObject = ["a": .array((0..<100_000).map { ["b": .int($0)] })]
      try store.createDocument(from: DocumentDraft(id: "long", body: body))
      let paths = (0..<100_000).map { "a.\($0)" }
      #expect(try store.find([:], fields: paths).first?.body == body)
    }
  }

  @Test func `a selector of many fields tests each of them`() throws {
    let wide = Self.body(100)
    let selector = try QuerySelector(wide)
    #expect(try selector.matches(wide))
    #expect(try selector.matches(JSONObject(wide.reversed().map { ($0.key, $0.value) })))
    for name in ["f0", "f50", "f99"] {
      var other = wide
      other[name] = -1
      #expect(try !selector.matches(other))
      other[name] = nil
      #expect(try !selector.matches(other))
    }
  }

  @Test(.timeLimit(.usual))
  func `thousands of alternatives are planned in linear time`() throws {
    try withTemporaryDatastore { store in
      for number in 0..<20 {
        try store.createDocument(
          from: DocumentDraft(id: "d\(number)", body: ["a": .int(Int64(number)), "b": 1]))
      }
      try store.ensureIndexed(["a"])
      try store.ensureIndexed(["b"])
      let alternatives: [JSONValue] = (0..<1_900).map { _ in ["$or": [["a": 7], ["b": 2]]] }
      #expect(try store.read { try $0.documentIDs(Query(["$and": .array(alternatives)])) } == ["d7"])
    }
  }

  @Test func `a sort has at most 32 fields`() throws {
    try withTemporaryDatastore { store in
      try store.createDocument(from: DocumentDraft(id: "wide", body: Self.body(40)))
      let names = Self.names(5_000)
      let most = names.prefix(Query.maximumSortFields).map { SortField($0) }
      #expect(try store.find([:], sort: most).count == 1)
      let error = #expect(throws: QueryError.self) { try store.find([:], sort: names.map { SortField($0) }) }
      #expect(error?.code == .tooLarge)
      #expect(error?.description == "sort: a sort has at most 32 fields, not 5000; keep the first ones")
    }
  }

  @Test(.timeLimit(.usual))
  func `an index has at most 32 fields`() throws {
    try withTemporaryDatastore { store in
      let names = Self.names(10_000).map { SortField($0) }
      try store.ensureIndexed(Array(names.prefix(IndexDefinition.maximumFields)))
      let error = #expect(throws: QueryError.self) { try store.ensureIndexed(names) }
      #expect(error?.code == .invalidIndex)
      #expect(
        error?.description
          == "fields: an index has at most 32 fields, not 10000; keep the most selective")
    }
  }
}
