import CDTJSON
import CDTQuery
import CDTQueryTesting
import CDTRandomDocuments
import CDTTestSupport
import Testing

/// What fails is made small before it is shown.
@Suite struct ShrinkerTests {
  /// A matcher that forgets documents whose `a` is a number where a sort and `$gt` are asked for.
  private static let forgetful: ReferenceAnswers = { query, documents, textIndex in
    let asksForGreater = query.selector.clause.selector.text.contains("\"$gt\":")
    return try query.find(in: documents, textIndex: textIndex).filter {
      !asksForGreater || query.sort.isEmpty || $0.body["a"].flatMap(JSONNumber.init) == nil
    }
  }

  @Test func `a wrong matcher is found out, by one document and one clause`() throws {
    var report: FailureReport?
    for seed in UInt64(1)...40 where report == nil {
      report = try Fuzz.round(seed: seed, steps: 120, against: Self.forgetful)
    }
    let found = try #require(report)
    #expect(found.history.steps.map(\.name) == [.put, .find], "\(found)")
    #expect(found.history.text.utf8.count < 150, "\(found)")
    let disagreement = try #require(try found.history.run(against: Self.forgetful))
    #expect(disagreement.error is Disagreement)
    let right = try found.history.run()
    #expect(right == nil)

    let fixture = try QueryFixture(parsing: found.fixture(), name: "found.test")
    #expect(fixture.documents.count == 1 && fixture.cases.count == 1)
    let outcomes = try withTemporaryDirectory { try fixture.run(in: $0) }
    #expect(outcomes.allSatisfy { $0.hasPassed }, "only the injected matcher was wrong")
    let kept = try History(parsing: found.text.components(after: "Histories/:"))
    #expect(kept.text == found.history.text)
  }

  @Test func `steps that matter stay, each as small as it can be`() throws {
    var random = RandomDocuments(seed: 7, scope: .everything)
    var history = History(random.beginning() + (0..<200).map { _ in random.step() })
    history.steps.insert(Step(.put, ["_id": "x", "a": ["deep": [1, ["wanted", 2]]], "b": 2]), at: 20)
    history.steps.insert(Step(.compact), at: 60)
    var shrinker = Shrinker { candidate in
      let put = candidate.steps.firstIndex { $0.name == .put && $0.argument.text.contains("wanted") }
      let compacted = candidate.steps.lastIndex { $0.name == .compact }
      guard let put, let compacted else { return false }
      return put < compacted
    }
    let shrunk = shrinker.shrink(history)
    #expect(shrunk.text == "{\"put\":\"wanted\"}\n{\"compact\":null}")
  }

  @Test func `a history is read as it is written`() throws {
    var random = RandomDocuments(seed: testSeed(50), scope: .everything)
    let history = History(random.beginning() + (0..<300).map { _ in random.step() })
    let again = try History(parsing: "# A comment.\n\n\(history.text)\n")
    #expect(again.text == history.text)
    #expect(throws: History.NotAStep.self) { try History(parsing: "{\"put\":1,\"find\":2}") }
  }
}

extension String {
  /// What follows on the first occurrence of a text.
  fileprivate func components(after text: String) -> String {
    firstRange(of: text).map { String(self[$0.upperBound...]) } ?? ""
  }
}
