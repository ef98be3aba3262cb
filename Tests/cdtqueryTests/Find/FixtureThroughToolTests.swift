import CDTImport
import CDTJSON
import CDTQuery
import CDTQueryTesting
import FoundationEssentials
import Testing

/// The project's golden files once more, as a user of the command line meets them: imported, indexed, and asked by
/// `find --batch`.
@Suite struct FixtureThroughToolTests {
  private static let directory = "\(Built.package)/QueryFixtures"

  /// Those of queries: the cases of rules are writes.
  static let files = ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? [])
    .filter { $0.hasSuffix(".test") && $0 != "rules.test" }.sorted()

  @Test(arguments: files) func `the tool gives the golden answers`(file: String) throws {
    let text = try String(contentsOfFile: "\(Self.directory)/\(file)", encoding: .utf8)
    let fixture = try QueryFixture(parsing: text, name: file)
    let documents = fixture.documents.map { $0.json.text + "\n" }.joined()
    let workspace = try Workspace(documents)
    try ask(fixture, in: workspace, only: fixture.indexes.filter { $0.type == .text })
    if fixture.indexes.contains(where: { $0.type == .json }) {
      try ask(fixture, in: workspace, only: fixture.indexes)
    }
  }

  private func ask(_ fixture: QueryFixture, in workspace: Workspace, only indexes: [IndexDefinition]) throws {
    for index in indexes {
      let fields = index.fields.map { $0.isDescending ? "\($0.path):desc" : $0.path }
      let options =
        index.options.tokenizer.map { ["--tokenize", $0.rawValue] }
        ?? index.options.vectorLength.map { ["--vector", "\($0)"] } ?? []
      let result = try workspace.run(
        Built.cdtquery,
        ["index", "create", "--type", index.type.rawValue] + options + ["--", "people/contacts"] + fields)
      #expect(result.status == 0, "\(result.errors)")
    }
    // `find` answers with documents; groups have a command of their own.
    let cases = fixture.cases.filter { !Self.isForGroups($0) }
    let requests = cases.map { $0.request.split(separator: "\n").joined(separator: " ") + "\n" }.joined()
    let result = try workspace.run("find", "people/contacts", "--batch", "-", input: requests)
    try #require(result.lines.count == cases.count, "\(result.errors)")
    for (fixtureCase, line) in zip(cases, result.lines) {
      let answer = try JSONObject(parsing: line)
      let golden = try #require(fixtureCase.golden)
      let found = Self.answer(answer, like: golden)
      let isSorted = Self.isSorted(fixtureCase)
      #expect(
        (isSorted ? found : found.inAnyOrder).items == (isSorted ? golden : golden.inAnyOrder).items,
        "\(fixtureCase.name)")
    }
  }

  @Test(arguments: files) func `a file of the documents gives the golden answers`(file: String) throws {
    let text = try String(contentsOfFile: "\(Self.directory)/\(file)", encoding: .utf8)
    let fixture = try QueryFixture(parsing: text, name: file)
    let space = try Workspace()
    try space.write(fixture.documents.map { $0.json.text + "\n" }.joined(), to: "documents.jsonl")
    for fixtureCase in fixture.cases where !Self.isForGroups(fixtureCase) {
      let golden = try #require(fixtureCase.golden)
      var found: FixtureAnswer
      do {
        let query = try Query(parsing: fixtureCase.request)
        var documents: [JSONValue] = []
        try FileQuery(query, ImportReader([space.path("documents.jsonl")])).forEachJSON {
          documents.append(try JSONValue(parsing: Array($0)))
        }
        found = Self.answer(["docs": .array(documents)], like: golden)
        if query.skip == 0, query.limit == nil {
          let count = try FileQuery(query, ImportReader([space.path("documents.jsonl")])).count()
          #expect(count == documents.count, "\(fixtureCase.name)")
        }
      } catch let error as QueryError {
        // A file has neither a text index nor revisions, and no bookmarks.
        if error.path == "_rev" || error.path == "bookmark"
          || error.message.contains("which a file does not have")
        {
          continue
        }
        found = .error("\(error)")
      }
      let isSorted = Self.isSorted(fixtureCase)
      #expect(
        (isSorted ? found : found.inAnyOrder).items == (isSorted ? golden : golden.inAnyOrder).items,
        "\(fixtureCase.name)")
    }
  }

  private static func isForGroups(_ fixtureCase: QueryFixture.Case) -> Bool {
    (try? JSONObject(parsing: fixtureCase.request))?["group"] != nil
  }

  private static func isSorted(_ fixtureCase: QueryFixture.Case) -> Bool {
    (try? JSONObject(parsing: fixtureCase.request))?["sort"]?.arrayValue?.isEmpty == false
  }

  /// What the tool printed, in the form of the golden.
  private static func answer(_ answer: JSONObject, like golden: FixtureAnswer) -> FixtureAnswer {
    guard let documents = answer["docs"]?.arrayValue else {
      let path = answer["path"]?.stringValue ?? ""
      let reason = answer["reason"]?.stringValue ?? ""
      return .error(path.isEmpty ? reason : "\(path): \(reason)")
    }
    if case .documents = golden {
      return .documents(
        documents.compactMap(\.objectValue).map { document in
          var document = document
          document["_rev"] = nil
          return document
        })
    }
    return .ids(documents.compactMap { $0["_id"]?.stringValue })
  }

  @Test func `an id that begins with a quotation mark and a combining character is recorded to be read`()
    throws
  {
    let space = try Workspace()
    let document = "{\"_id\":\"\\\"\u{301}x\",\"a\":1}"
    try space.write("== documents\n\(document)\n\n== one\n{\"a\":1}\n----\n", to: "q.test")
    let recorded = try space.run("test", "q.test", "--record")
    #expect(recorded.status == 1, "\(recorded.errors)")
    let tested = try space.run("test", "q.test")
    #expect(tested.status == 0, "\(tested.errors)")
  }
}
