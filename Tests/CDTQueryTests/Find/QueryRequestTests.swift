import CDTJSON
import CDTQuery
import Testing

@Suite struct QueryRequestTests {
  static let refused: [(request: String, error: String)] = [
    (#"{"fields": ["a"]}"#, "selector: a request needs a selector; {} selects every document"),
    (#"{"limit": 3}"#, "selector: a request needs a selector; {} selects every document"),
    (
      #"{"selector": true}"#,
      #"selector: a selector is an object such as {"age": {"$gt": 18}}, not a boolean"#
    ),
    (#"{"selector": {}, "limit": -1}"#, #"limit: "limit" must be a whole number, 0 or more, not -1"#),
    (
      #"{"selector": {}, "limit": 1.50}"#,
      #"limit: "limit" must be a whole number, 0 or more, not 1.50"#
    ),
    (#"{"selector": {}, "skip": 1.5}"#, #"skip: "skip" must be a whole number, 0 or more, not 1.5"#),
    (
      #"{"selector": {}, "sort": "name"}"#,
      #"sort: "sort" must be an array of fields, ["name", {"age": "desc"}], not a string"#
    ),
    (
      #"{"selector": {}, "sort": [{"a": "asc", "b": "asc"}]}"#,
      #"sort[0]: a sort clause names one field and its direction, {"age": "desc"}, not 2 fields; write one clause per field"#
    ),
    (
      #"{"selector": {}, "sort": ["a", {"b": "up"}]}"#,
      #"sort[1]: the direction of "b" must be "asc" or "desc", not "up""#
    ),
    (
      #"{"selector": {}, "sort": [1]}"#,
      #"sort[0]: a sort clause must be a field path or an object such as {"age": "desc"}, not a number"#
    ),
    (
      #"{"selector": {}, "fields": ["a", 1]}"#,
      #"fields[1]: a field path must be a string, not a number"#
    ),
    (
      #"{"selector": {}, "fields": ["a", "b."]}"#,
      #"fields[1]: the path "b." has an empty segment; name every segment; write "\." for a dot in a name"#
    ),
    (
      #"{"selector": {}, "use_index": ["x"]}"#,
      #"use_index: "use_index" must be the name of one index, not an array"#
    ),
  ]

  @Test(arguments: refused) func `a malformed request is refused`(_ c: (request: String, error: String)) {
    let error = #expect(throws: QueryError.self) { try Query(parsing: c.request) }
    #expect(error?.description == c.error)
  }

  @Test func `null stands for an absent key, and 5.0 is a whole number, as is every other spelling of it`()
    throws
  {
    let query = try Query(
      parsing:
        #"{"selector": {}, "sort": null, "fields": null, "skip": 5.0, "limit": null, "use_index": null}"#)
    #expect(query.skip == 5)
    #expect(query.limit == nil)
    #expect(try Query(parsing: #"{"selector": {}, "skip": 5.00, "limit": 1e1}"#).limit == 10)
    #expect(query.useIndex == nil)
  }

  @Test func `an object with a key that no request has is a selector`() throws {
    #expect(try Query(parsing: #"{"limit": 3, "x": 1}"#).selector.matches(["limit": 3, "x": 1]))
    #expect(try Query(parsing: "{}").selector.matches(["limit": 3]))
  }

  @Test func `an index that is not there is refused`() throws {
    try withTemporaryDatastore { store in
      let query = try Query(parsing: #"{"selector": {}, "use_index": "nope"}"#)
      let uses: [() throws -> Any] = [
        { try store.read { try $0.find(query) } }, { try store.read { try $0.count(query) } },
        { try store.read { try $0.contains(query) } },
        { try store.read { try $0.explain(query) } },
      ]
      for indexes in ["none", #""by_a""#] {
        for use in uses {
          let error = #expect(throws: QueryError.self) { try use() }
          #expect(error?.code == .unknownIndex)
          #expect(error?.description == #"use_index: there is no index "nope"; there are \#(indexes)"#)
        }
        try store.ensureIndexed(["a"], name: "by_a")
      }
    }
  }
}
