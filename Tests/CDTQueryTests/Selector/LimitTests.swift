import CDTDatastore
import CDTJSON
import CDTTestSupport
import Foundation
import Testing

@testable import CDTIndex
@testable import CDTQuery
@testable import CDTSelector

/// The limits of `docs/limits.md` that a selector can exceed: the greatest that is allowed, and the next.
@Suite struct LimitTests {
  private func selector(negations: Int) -> JSONObject {
    (0..<negations).reduce(["a": 1]) { inner, _ in ["$not": .object(inner)] }
  }

  private func code(_ selector: JSONObject) -> QueryError.Code? {
    do throws(QueryError) {
      _ = try QuerySelector(selector)
      return nil
    } catch {
      return error.code
    }
  }

  @Test func `the depth of a selector`() {
    #expect(code(selector(negations: QuerySelector.maximumDepth - 1)) == nil)
    #expect(code(selector(negations: QuerySelector.maximumDepth)) == .tooDeep)
  }

  @Test func `the depth of a value in a selector`() {
    // The selector and $eq are two levels.
    func nested(_ depth: Int) -> JSONValue { (0..<depth).reduce(1) { inner, _ in .array([inner]) } }
    #expect(code(["a": ["$eq": nested(510)]]) == nil)
    #expect(code(["a": ["$eq": nested(511)]]) == .tooDeep)
  }

  @Test func `the number of clauses`() {
    // The selector itself is one.
    func wide(_ count: Int) -> JSONObject { JSONObject((0..<count).map { ("f\($0)", 1) }) }
    #expect(code(wide(QuerySelector.maximumClauses - 1)) == nil)
    #expect(code(wide(QuerySelector.maximumClauses)) == .tooLarge)
  }

  @Test func `the words of a text search, the depth of its parentheses and the distance of NEAR`() {
    func search(_ text: String) -> JSONObject { ["$text": ["$search": .string(text)]] }
    func words(_ count: Int) -> String { (0..<count).map { "w\($0)" }.joined(separator: " ") }
    func nested(_ depth: Int) -> String {
      String(repeating: "(", count: depth) + "a" + String(repeating: ")", count: depth)
    }
    #expect(code(search(words(TextSearch.maximumTerms))) == nil)
    #expect(code(search(words(TextSearch.maximumTerms + 1))) == .textSearch)
    #expect(code(search(nested(TextSearch.maximumDepth))) == nil)
    #expect(code(search(nested(TextSearch.maximumDepth + 1))) == .textSearch)
    #expect(code(search("a NEAR/1000000 b")) == nil)
    #expect(code(search("a NEAR/1000001 b")) == .textSearch)
  }

  @Test func `the numbers of a vector and the corners of a polygon`() {
    func vector(_ count: Int) -> JSONObject {
      ["a": ["$near": ["$vector": .array(Array(repeating: 1, count: count))]]]
    }
    func polygon(_ corners: Int) -> JSONObject {
      ["a": ["$geoWithin": ["$polygon": .array((0..<corners).map { [0, .int(Int64($0 % 90))] })]]]
    }
    #expect(code(vector(Distance.maximumLength)) == nil)
    #expect(code(vector(Distance.maximumLength + 1)) == .invalidArgument)
    #expect(code(polygon(GeoRegion.maximumCorners)) == nil)
    #expect(code(polygon(GeoRegion.maximumCorners + 1)) == .tooLarge)
  }

  @Test func `the page has the limits of the code`() throws {
    let page = try Repository.page("limits.md")
    for row in [
      "depth of a document | \(JSONParsingOptions().maximumDepth) |",
      "depth of a selector, without the values in it | \(QuerySelector.maximumDepth) |",
      "depth of a selector, with the values in it | \(JSONParsingOptions().maximumDepth) |",
      "clauses of a selector, without members of `$in` | \(Self.spelled(QuerySelector.maximumClauses)) |",
      "segments of a path | \(FieldPath.maximumSegments) |",
      "fields of a sort | \(Query.maximumSortFields) |",
      "fields of an index | \(IndexDefinition.maximumFields) |",
      "numbers of a `$vector` | \(Self.spelled(Distance.maximumLength)) |",
      "corners of a `$polygon` | \(Self.spelled(GeoRegion.maximumCorners)) |",
      "| \(Self.spelled(TextSearch.maximumTerms)), \(TextSearch.maximumDepth), 1,000,000 |",
      "length of a regular expression | \(Self.spelled(RegularExpression.maximumLength)) bytes |",
      "| \(Self.spelled(MatchBudget.maximumSteps)); in a string of more than",
      "bytes, \(Self.spelled(MatchBudget.maximumWork)) divided by its length |",
    ] {
      #expect(page.contains(row), "\(row)")
    }
  }

  @Test(arguments: ["limits.md", "reliability.md", "../SECURITY.md"])
  func `a page that names tests names some that exist`(_ name: String) throws {
    let page = try Repository.page(name)
    let suites = page.matches(of: /`(\w+Tests)`/).map { String($0.1) }
    #expect(suites.count > 10)
    let files = try FileManager.default.subpathsOfDirectory(
      atPath: Repository.root.appending(path: "Tests").path)
    for suite in suites { #expect(files.contains { $0.hasSuffix("/\(suite).swift") }, "\(suite)") }
  }

  /// 10000 as 10,000.
  private static func spelled(_ number: Int) -> String {
    number < 1_000
      ? "\(number)" : spelled(number / 1_000) + "," + String("\(number % 1_000 + 1_000)".dropFirst())
  }

  @Test func `the segments of a path`() {
    func path(_ count: Int) -> String { Array(repeating: "a", count: count).joined(separator: ".") }
    #expect(code([path(100): 1]) == nil)
    #expect(code([path(101): 1]) == .invalidPath)
  }
}
