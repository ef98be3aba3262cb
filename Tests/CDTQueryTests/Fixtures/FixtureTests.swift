import CDTJSON
import CDTQueryTesting
import CDTTestSupport
import FoundationEssentials
import Testing

@testable import CDTQuery
@testable import CDTSelector

/// The golden files of the project, and the runner that holds the engine against them.
@Suite struct FixtureTests {
  static let directory = Repository.root.appending(path: "QueryFixtures").path

  static let files = ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? [])
    .filter { $0.hasSuffix(".test") }.sorted()

  @Test(arguments: files) func `every way of running a query gives the golden answer`(file: String) throws {
    let text = try String(contentsOfFile: "\(Self.directory)/\(file)", encoding: .utf8)
    let fixture = try QueryFixture(parsing: text, name: file)
    let outcomes = try withTemporaryDirectory { try fixture.run(in: $0) }
    #expect(!outcomes.isEmpty)
    for outcome in outcomes {
      for finding in outcome.findings {
        Issue.record(
          "\(outcome.place) \(outcome.name), \(finding.way): \(finding.difference.joined(separator: " | "))")
      }
    }
  }

  @Test func `each operator has a file`() {
    // The options of a pattern are in the pattern's file.
    for name in OperatorNames.all where name != "$options" {
      #expect(Self.files.contains("\(name.dropFirst()).test"), "\(name)")
    }
  }

  // MARK: The runner

  private static let text = """
    # Three documents.
    == documents
    {"_id": "a", "x": 1}
    {"_id": "b", "x": 2}
    {"_id": "none", "x": [1, 3]}

    == indexes
    x:desc
    ["x", "y"]

    == ones
    {"x": 1}
    ----
    a "none"

    == in order
    {"selector": {}, "sort": [{"x": "desc"}],
     "fields": ["x"]}
    ----
    {"_id": "none", "x": [1, 3]}
    {"_id": "b", "x": 2}
    {"_id": "a", "x": 1}

    # Nothing is 7.
    == nothing
    {"x": 7}
    ----
    none

    == refused
    {"x": {"$gtt": 1}}
    ----
    error: x.$gtt: unknown operator "$gtt" (did you mean "$gt"?)

    """

  private func run(_ text: String) throws -> [FixtureOutcome] {
    let fixture = try QueryFixture(parsing: text, name: "f.test")
    return try withTemporaryDirectory { try fixture.run(in: $0) }
  }

  @Test func `right goldens pass`() throws {
    let outcomes = try run(Self.text)
    #expect(outcomes.map(\.name) == ["ones", "in order", "nothing", "refused"])
    #expect(outcomes.map(\.place) == ["f.test:11", "f.test:16", "f.test:25", "f.test:30"])
    #expect(outcomes.allSatisfy { $0.hasPassed })
    #expect(try QueryFixture(parsing: Self.text, name: "").recorded() == Self.text)
  }

  static let wrong = [
    ("a \"none\"\n", "a b\n"), ("a \"none\"\n", "a\n"), ("a \"none\"\n", "a \"none\" b\n"),
    ("a \"none\"\n", "none\n"),
    ("a \"none\"\n", "\n"), ("a \"none\"\n", "error: x\n"),
    ("\"x\": 2}\n{\"_id\": \"a\"", "\"x\": 3}\n{\"_id\": \"a\""),
    (
      "{\"_id\": \"b\", \"x\": 2}\n{\"_id\": \"a\", \"x\": 1}\n\n#",
      "{\"_id\": \"a\", \"x\": 1}\n{\"_id\": \"b\", \"x\": 2}\n\n#"
    ),
    ("----\nnone", "----\na"), ("(did you mean", "(you may mean"),
  ]

  @Test(arguments: wrong) func `a wrong golden fails, and recording mends it`(right: String, wrong: String)
    throws
  {
    let text = Self.text.replacing(right, with: wrong, maxReplacements: 1)
    #expect(text != Self.text)
    let outcomes = try run(text)
    #expect(outcomes.filter { !$0.hasPassed }.count == 1)
    let recorded = try QueryFixture(parsing: text, name: "f.test").recorded()
    let mended = try run(recorded)
    #expect(mended.allSatisfy { $0.hasPassed })
    #expect(recorded.contains("# Nothing is 7."))
  }

  @Test func `a difference shows every way that gave another answer`() throws {
    let failed = try #require(
      try run(Self.text.replacing("a \"none\"\n", with: "a b\n")).first { !$0.hasPassed })
    #expect(
      failed.findings.map(\.way) == [
        "in memory", "without an index", "with the index x:desc, after updates",
        "with the index x:desc", "with the index x y, after updates", "with the index x y",
        "with every index, after updates", "with every index",
      ])
    for finding in failed.findings { #expect(finding.difference == [" a", "-b", "+\"none\""]) }
  }

  static let refusals = [
    (
      "x",
      "f.test:1: the line is outside any section; start one with \"== documents\", \"== indexes\" or \"== a case's name\""
    ),
    ("== ", "f.test:1: the heading has no name; add one"),
    ("== documents\n{\"_id\": 1}", "f.test:2: the document has no _id; write it as in {\"_id\": \"a\", …}"),
    ("== documents\n{\"_id\": \"a\"}\n\n{\"_id\": \"a\"}", "f.test:4: the document \"a\" is already above"),
    ("== documents\n[]", "f.test:2: not a document: line 1, column 1: expected an object, in braces"),
    ("== indexes\nx x", "f.test:2: not an index: fields[1]: the field \"x\" is named twice; name it once"),
    (
      "== indexes\n[\"x\"",
      "f.test:2: not an index: line 1, column 5: the text ends inside a value; check that it is complete"
    ),
    ("# a\n== c\n{}", "f.test:2: the case needs a line \"----\" between its query and its answer"),
    (
      "== c\n{}\n----\n{\"x\"}",
      "f.test:4: not an answer: line 1, column 5: expected a colon after the member name"
    ),
    (
      "== c\n{\"selector\": {}, \"limit\": 1}\n----\na",
      "f.test:1: a page without an order has no definite answer; add a \"sort\""
    ),
    (
      "== c\n{\"selector\": {}, \"use_index\": \"i\"}\n----\na",
      "f.test:1: every case runs with and without indexes; leave \"use_index\" out"
    ),
  ]

  @Test(arguments: refusals) func `text other than a fixture is refused with its line`(
    text: String, message: String
  ) {
    let error = #expect(throws: FixtureError.self) { try run(text) }
    #expect(error?.description == message)
  }

  @Test func `odd ids are quoted when they are recorded`() throws {
    let ids = [
      "none", "error:", "with space", "\"quoted\"", "{brace", "#hash", "==", "----", "é", "a\nb", "a\\b",
    ]
    let documents = ids.map { id in JSONObject([("_id", .string(id))]).text }
    let text = "== documents\n\(documents.joined(separator: "\n"))\n== all\n{}\n----\n"
    let recorded = try QueryFixture(parsing: text, name: "f.test").recorded()
    let outcome = try #require(try run(recorded).first)
    #expect(outcome.hasPassed, "\(recorded)")
    for id in ids {
      let text = "== documents\n\(JSONObject([("_id", .string(id))]).text)\n== all\n{}\n----\n"
      let recorded = try QueryFixture(parsing: text, name: "f.test").recorded()
      let alone = try run(recorded)
      #expect(alone.first?.hasPassed == true, "\(recorded)")
    }
  }
}
