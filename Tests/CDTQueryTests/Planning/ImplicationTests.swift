import CDTJSON
import CDTRandomDocuments
import CDTTestSupport
import Testing

@testable import CDTPlan
@testable import CDTQuery
@testable import CDTSelector

@Suite struct ImplicationTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let selector, filter: String
    var testDescription: String { "\(selector) and \(filter)" }

    init(_ selector: String, _ filter: String) { (self.selector, self.filter) = (selector, filter) }

    var holds: Bool {
      get throws {
        try Implication.holds(
          QuerySelector(parsing: selector).clause, QuerySelector(parsing: filter).clause)
      }
    }
  }

  static let implied = [
    Case(#"{"a": 1}"#, "{}"),
    Case(#"{"$or": []}"#, #"{"a": 1}"#),
    Case(#"{"a": 1, "b": 2}"#, #"{"a": 1.0}"#),
    Case(#"{"a": 1, "b": 2, "c": 3}"#, #"{"c": 3, "a": 1}"#),
    Case(#"{"a": 1}"#, #"{"a": {"$in": [2, 1]}}"#),
    Case(#"{"a": {"$in": [1, 2]}}"#, #"{"a": {"$in": [3, 2, 1]}}"#),
    Case(#"{"a": {"$in": [1, 2]}}"#, #"{"a": {"$lt": 3}}"#),
    Case(#"{"a": "x"}"#, #"{"a": {"$gt": 5}}"#),
    Case(#"{"a": {"$gt": 5}}"#, #"{"a": {"$gt": 5}}"#),
    Case(#"{"a": {"$gt": 5}}"#, #"{"a": {"$gte": 5}}"#),
    Case(#"{"a": {"$gte": 6, "$lt": 9}}"#, #"{"a": {"$gt": 5, "$lte": 9}}"#),
    Case(#"{"a": {"$lt": 9}}"#, #"{"a": {"$lt": "a"}}"#),
    Case(#"{"a": {"$gt": "b"}}"#, #"{"a": {"$gt": 5}}"#),
    Case(#"{"a": {"$lt": true}}"#, #"{"a": {"$in": [false, 1]}}"#),
    Case(#"{"a": {"$gt": 5}}"#, #"{"a": {"$exists": true}}"#),
    Case(#"{"a": {"$gt": 5}}"#, #"{"a": {"$gt": null}}"#),
    Case(#"{"a": {"$regex": "x"}}"#, #"{"a": {"$exists": true}}"#),
    Case(#"{"a": {"$size": 2}}"#, #"{"a": {"$type": "array"}}"#),
    Case(#"{"a": {"$elemMatch": {"b": 1}}}"#, #"{"a": {"$exists": true}}"#),
    Case(#"{"a": {"$beginsWith": "abc"}}"#, #"{"a": {"$beginsWith": "ab"}}"#),
    Case(#"{"a": {"$beginsWith": "abc"}}"#, #"{"a": {"$gte": "abc", "$lt": "abd"}}"#),
    Case(#"{"a": {"$beginsWith": "a"}}"#, #"{"a": {"$gt": 1000}}"#),
    Case(#"{"a": 4}"#, #"{"a": {"$mod": [2, 0]}}"#),
    Case(#"{"a": {"$nin": ["done", "gone"]}}"#, #"{"a": {"$ne": "done"}}"#),
    Case(#"{"a": {"$exists": false}}"#, #"{"a": {"$ne": "done"}}"#),
    Case(#"{"a": {"$not": {"$lt": 5}}}"#, #"{"a": {"$not": {"$lt": 3}}}"#),
    Case(#"{"$or": [{"a": 1}, {"a": 2, "b": 3}]}"#, #"{"a": {"$lte": 2}}"#),
    Case(#"{"a": 1}"#, #"{"$or": [{"b": 2}, {"a": {"$lt": 2}}]}"#),
    Case(#"{"$or": [{"a": 1}, {"b": 2}]}"#, #"{"$or": [{"b": {"$gt": 1}}, {"a": {"$exists": true}}]}"#),
    Case(#"{"$nor": [{"a": 1}, {"b": 2}]}"#, #"{"b": {"$ne": 2}}"#),
    Case(#"{"b": {"$ne": 2}, "a": {"$ne": 1}}"#, #"{"$nor": [{"a": 1}, {"b": 2}]}"#),
    Case(#"{"_id": {"$gte": "task:", "$lt": "task;"}}"#, #"{"_id": {"$gt": "t"}}"#),
  ]

  @Test(arguments: implied) func `is shown`(_ c: Case) throws { #expect(try c.holds) }

  /// A filter compares bytes, so it follows from a condition with a collation only where that makes no difference.
  static let collated: [(Case, Bool)] = [
    (Case(#"{"a": "b"}"#, #"{"a": "b"}"#), false),
    (Case(#"{"a": {"$elemMatch": {"n": "b"}}}"#, #"{"a": {"$elemMatch": {"n": "b"}}}"#), false),
    (Case(#"{"a": {"$not": {"$lt": "b"}}}"#, #"{"a": {"$not": {"$lt": "b"}}}"#), false),
    (Case(#"{"a": {"$ne": "b"}}"#, #"{"a": {"$ne": "B"}}"#), true),
    (Case(#"{"a": "b"}"#, #"{"a": {"$exists": true}}"#), true),
    (Case(#"{"a": "b"}"#, #"{"a": {"$gt": null}}"#), true),
    (Case(#"{"a": {"$in": ["b", null]}}"#, #"{"a": {"$gt": null}}"#), false),
    (Case(#"{"a": 5, "b": "c"}"#, #"{"a": {"$gt": 4}}"#), true),
  ]

  @Test(arguments: collated) func `conditions with a collation imply less`(_ c: Case, holds: Bool) throws {
    let (selector, filter) = (try QuerySelector(parsing: c.selector), try QuerySelector(parsing: c.filter))
    #expect(Implication.holds(selector.clause.collated(by: .nocase), filter.clause) == holds)
  }

  static let notImplied = [
    Case("{}", #"{"a": 1}"#),
    Case(#"{"b": 1}"#, #"{"a": 1}"#),
    Case(#"{"a": 1}"#, #"{"$or": []}"#),
    Case(#"{"a": 1}"#, #"{"a": "1"}"#),
    Case(#"{"a": {"$gte": 5}}"#, #"{"a": {"$gt": 5}}"#),
    Case(#"{"a": {"$gt": 5}}"#, #"{"a": {"$lt": "a"}}"#),
    Case(#"{"a": {"$gt": 5}}"#, #"{"a": {"$type": "number"}}"#),
    Case(#"{"a": {"$in": [1, 5]}}"#, #"{"a": {"$lt": 5}}"#),
    // An array can have another element.
    Case(#"{"a": "open"}"#, #"{"a": {"$ne": "done"}}"#),
    Case(#"{"a": {"$gt": 5}}"#, #"{"a": {"$not": {"$lt": 5}}}"#),
    Case(#"{"a": 1}"#, #"{"a": {"$type": "number"}}"#),
    Case(#"{"a": [1]}"#, #"{"a": 1}"#),
    Case(#"{"a": {"$eq": null}}"#, #"{"a": {"$gt": null}}"#),
    // Equal as a double, with another remainder.
    Case(#"{"a": 18446744073709551616}"#, #"{"a": {"$mod": [2, 0]}}"#),
    Case(#"{"a": {"$beginsWith": "ab"}}"#, #"{"a": {"$gt": "ab"}}"#),
    Case(#"{"a": {"$beginsWith": "ab"}}"#, #"{"a": {"$lt": "abz"}}"#),
    Case(#"{"$or": [{"a": 1}, {"b": 1}]}"#, #"{"a": 1}"#),
    // Strings are equal by their bytes.
    Case("{\"a\": {\"$beginsWith\": \"\u{e9}\"}}", "{\"a\": {\"$beginsWith\": \"e\u{301}\"}}"),
    Case(#"{"a.b": 1}"#, #"{"a": {"$exists": true}}"#),
  ]

  @Test(arguments: notImplied) func `is not shown`(_ c: Case) throws { #expect(try !c.holds) }

  @Test(arguments: [true, false])
  func `documents that match a selector match each filter that it implies`(hasArrays: Bool) throws {
    let seed = testSeed(hasArrays ? 41 : 42)
    var random = RandomDocuments(seed: seed, scope: .everything)
    random.hasArrays = hasArrays
    var shown = 0
    for _ in 0..<120 {
      let documents = (0..<60).map { _ in random.body() }
      let filters = (0..<8).map { _ in random.filter() }
      let selectors = (0..<12).map { _ in
        random.chance(50) ? random.narrowed(.object(random.selector())).objectValue ?? [:] : random.filter()
      }
      let parsed = (filters + selectors).compactMap { json in
        let collation = random.collation()
        return (try? QuerySelector(json)).map { selector in
          QuerySelector(clause: collation.map(selector.clause.collated) ?? selector.clause)
        }
      }
      let matches = parsed.map { selector in
        documents.indices.filter {
          (try? selector.matches(documents[$0], id: "doc-\($0)", revision: "1-a")) ?? false
        }
      }
      for (number, selector) in parsed.enumerated() {
        for (other, filter) in parsed.enumerated() where other != number {
          guard Implication.holds(selector.clause, filter.clause) else { continue }
          shown += 1
          let counterexample = Set(matches[number]).subtracting(matches[other]).first
          if let counterexample {
            Issue.record(
              "seed \(seed): \(documents[counterexample].text) matches \(selector.clause.selector.text), not \(filter.clause.selector.text)"
            )
            return
          }
        }
      }
    }
    #expect(shown > 1_000)
  }

  @Test func `clauses within clauses do not take forever`() throws {
    func nested(_ depth: Int) -> JSONObject {
      depth == 0
        ? ["a": 1]
        : [
          "$or": [
            ["$and": [.object(nested(depth - 1)), ["b": 1]]],
            ["$and": [["c": 1], .object(nested(depth - 1))]],
          ]
        ]
    }
    let clause = try QuerySelector(nested(10)).clause
    let other = try QuerySelector(["$and": [.object(nested(10)), ["d": ["$exists": true]]]]).clause
    #expect(!Implication.holds(clause, other))
  }
}
