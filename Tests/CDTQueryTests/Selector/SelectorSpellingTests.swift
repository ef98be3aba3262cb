import CDTJSON
import CDTQuery
import Testing

/// A clause that is written back as a selector still means the same.
@Suite struct SelectorSpellingTests {
  static let elementSelectors = [
    #"{"$gt": 1, "$lt": 9}"#,
    #"{"$ne": 1, "$not": {"$gt": 5}}"#,
    #"{"$nin": [1, 2], "$ne": 3, "$exists": false}"#,
    #"{"$not": {"$gt": 1, "$lt": 9}}"#,
    #"{"$gt": 1, "$not": {"$not": {"$gt": 5}}}"#,
    #"{"$all": [1, 2, 3], "$not": {"$size": 4}}"#,
    #"{"name": "x", "age": {"$not": {"$gt": 5}}}"#,
    #"{"$or": [{"name": "x"}, {"$not": {"age": 5}}]}"#,
  ]

  @Test(arguments: ["$elemMatch", "$allMatch", "$keyMapMatch"], elementSelectors)
  func `the selector of a clause on elements is parsed as the same clause`(
    operator name: String, of element: String
  ) throws {
    guard let selector = try? QuerySelector(parsing: #"{"a": {"\#(name)": \#(element)}}"#) else {
      #expect(name == "$keyMapMatch", "only keys have no fields")
      return
    }
    #expect(
      try QuerySelector(selector.clause.selector).clause == selector.clause, "\(selector.clause.selector)")
  }

  @Test func `an operator that is asked twice is complemented twice`() throws {
    let selector = try QuerySelector(parsing: #"{"a": {"$elemMatch": {"$all": [1, 2]}}}"#)
    #expect(
      selector.clause.selector.text == #"{"a":{"$elemMatch":{"$eq":1,"$not":{"$not":{"$eq":2}}}}}"#)
  }
}
