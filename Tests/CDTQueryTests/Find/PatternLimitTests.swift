import CDTDatastore
import CDTJSON
import CDTTestSupport
import Testing

@testable import CDTQuery
@testable import CDTSelector

/// Patterns of `$regex` that would take for ever.
@Suite struct PatternLimitTests {
  @Test(.timeLimit(.usual), arguments: ["^(a|aa)+$", "^(a+)+$", "(x+x+)+y|^(a|a?)+$"])
  func `a pattern that needs too much work fails the query`(_ pattern: String) throws {
    try expectLimit(of: pattern, on: String(repeating: "a", count: 60) + "b")
  }

  @Test(
    .timeLimit(.usual),
    arguments: [
      #"(\w+)\s+\1"#, "(?=a*[^a])", "a*a*[^a]", #"(?<=a)a*a*\d"#, "^(?:a(?=a*c)|a)*$", #"\Ga*a*\d"#,
    ])
  func `a pattern that needs too much work in a long string fails the query`(_ pattern: String) throws {
    try expectLimit(of: pattern, on: String(repeating: "a", count: 1_000_000))
  }

  @Test(.timeLimit(.usual))
  func `a pattern that needs much work in each of many strings fails the query`() throws {
    let text = JSONValue.string(String(repeating: "a", count: 8_000))
    let documents = try (0..<2_000).map { number in
      try Self.document("doc\(number)", ["texts": .array(Array(repeating: text, count: 10))])
    }
    let query = try Query(["texts": ["$regex": "a*a*[^a]"]])
    let error = #expect(throws: QueryError.self) { try query.find(in: documents) }
    #expect(error?.code == .matchLimit)
  }

  @Test(.timeLimit(.usual))
  func `a filter has one limit for all revisions, until it is renewed`() throws {
    let text = JSONValue.string(String(repeating: "a", count: 4_000) + String(repeating: "b", count: 1_000))
    let revision = DocumentRevision(
      id: "doc", revisionID: try #require(RevisionID("1-a")),
      body: ["text": text])
    let filter = try SelectorFilter(QuerySelector(["text": ["$regex": "a*a*[cd]"]]))
    let error = #expect(throws: QueryError.self) {
      for _ in 0..<2_000 { _ = try filter.matches(revision) }
    }
    #expect(error?.code == .matchLimit)
    #expect(throws: QueryError.self) { try filter.matches(revision) }
    #expect(try !filter.renewed.matches(revision))
  }

  @Test(.timeLimit(.usual))
  func `plain text is found in linear time`() throws {
    let text = JSONValue.string(String(repeating: "ab", count: 500_000))
    let pattern = JSONValue.string(String(repeating: "ab", count: 10_000) + "bb")
    let query = try Query(["text": ["$regex": pattern]])
    for _ in 0..<10 {
      #expect(try query.find(in: [Self.document("doc", ["text": text])]).isEmpty)
    }
    #expect(try QuerySelector(["text": ["$regex": "baba"]]).matches(["text": text]))
  }

  @Test func `a match that needs too much memory is given up`() throws {
    let expression = try RegularExpression(pattern: "^(?:(a)|b)*c")
    let outcome = Array(repeating: UInt8(ascii: "a"), count: 1_000_000).withUnsafeBytes {
      expression.engine.firstMatch(in: $0, at: 0...0, steps: 1_000_000_000)
    }
    #expect(outcome == .failed)
  }

  @Test func `the error names the pattern, the document and a remedy`() throws {
    let error = try expectLimit(of: "^(a|aa)+$", on: String(repeating: "a", count: 60) + "b")
    #expect(
      error?.description
        == """
        $regex: the pattern "^(a|aa)+$" exceeded the match limit on document "doc"; rewrite it so that no two \
        repetitions can match the same text, or begin it with "^"
        """)
  }

  @Test func `a pattern that is too long is refused`() throws {
    let longest = String(repeating: "a", count: RegularExpression.maximumLength)
    _ = try QuerySelector(["a": ["$regex": .string(longest)]])
    let error = #expect(throws: QueryError.self) {
      try QuerySelector(["a": ["$regex": .string(longest + "a")]])
    }
    #expect(error?.code == .invalidRegex)
    #expect(error?.description == "a.$regex: the pattern is longer than 32000 bytes; use a shorter one")
  }

  // MARK: Stopping

  /// Needs about ten seconds.
  private static let slow: JSONObject = ["text": ["$regex": "(?=a*[^a])"]]

  @Test(.timeLimit(.usual))
  func `the time limit of a query stops a match`() throws {
    try withSlowText { store in
      var query = try Query(Self.slow)
      query.timeLimit = .milliseconds(50)
      let error = #expect(throws: QueryError.self) { try store.read { try $0.find(query) } }
      #expect(error?.code == .timedOut)
      #expect(throws: QueryError.self) { try store.read { try $0.count(query) } }
    }
  }

  @Test(.timeLimit(.usual))
  func `cancelling a task stops a match`() async throws {
    try await withTemporaryDatastore { store in
      try await Self.saveSlowText(in: store)
      let task = Task { try await store.find(Self.slow) }
      cancelSoon(task)
      await #expect(throws: CancellationError.self) { try await task.value }
    }
  }

  private func withSlowText(_ body: (Datastore) throws -> Void) throws {
    try withTemporaryDatastore { store in
      try store.createDocument(from: DocumentDraft(id: "doc", body: Self.slowBody))
      try body(store)
    }
  }

  private static func saveSlowText(in store: Datastore) async throws {
    try await store.createDocument(from: DocumentDraft(id: "doc", body: slowBody))
  }

  private static var slowBody: JSONObject {
    // Many strings, each well below the limit.
    ["text": .array(Array(repeating: .string(String(repeating: "a", count: 20_000)), count: 100))]
  }

  // MARK: Answers

  /// Patterns of which some match in a few places of the random strings.
  static let patterns = [
    #"\bz[a-c]+y\b"#, "^x", "x$", "(?m)^x", "(?m)x$", "(?s)a.*é.*z", "(a|b)+é{2}", #"(\w)\1\1\1"#, "(?<=é)zz",
    "(?<!a)zzz",
    #"\n\n"#, ".{20}zz", "(?i)ZÉ", "", "^$", "(?=zz)(?!zza)", #"\z"#, #"z\z"#, #"\Gx"#, "z(*COMMIT)z|y",
    "^(?:[abé\n]|z)*x",
    "[^a-z]{3}", #"é(?:a|b)*?z+y"#, #"\Az|xx"#, ".*x", "(?s).*xx",
  ]

  @Test(arguments: patterns)
  func `a long string matches as one that is searched in one call`(_ pattern: String) throws {
    let expression = try RegularExpression(pattern: pattern)
    var random = SeededGenerator(seed: 1)
    for round in 0..<40 {
      let letters: [Character] = Array(round % 2 == 0 ? "aaabbb\ncé" : "abcé\n")
      var characters = (0..<6_000).map { _ in letters.randomElement(using: &random) ?? "a" }
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        let planted = Array(["zzz", "xx", "zaby", "é"].randomElement(using: &random) ?? "")
        let place = Int.random(in: 0...characters.count - planted.count, using: &random)
        characters.replaceSubrange(place..<place + planted.count, with: planted)
      }
      let text = String(characters)
      let expected = Array(text.utf8).withUnsafeBytes { expression.matchesInOneCall($0) }
      let found = try Array(text.utf8).withUnsafeBytes { try expression.matches($0) }
      #expect(found == expected, "round \(round)")
    }
  }

  // MARK: Helpers

  private static func document(_ id: String, _ body: JSONObject) throws -> DocumentRevision {
    DocumentRevision(id: id, revisionID: try #require(RevisionID("1-a")), body: body)
  }

  @discardableResult
  private func expectLimit(of pattern: String, on text: String) throws -> QueryError? {
    let query = try Query(["text": ["$regex": .string(pattern)]])
    let document = try Self.document("doc", ["text": .string(text)])
    let error = #expect(throws: QueryError.self) { try query.find(in: [document]) }
    #expect(error?.code == .matchLimit)
    #expect(error?.path == "$regex")
    return error
  }
}

extension RegularExpression {
  /// Whether it matches, for a pattern that needs few steps.
  fileprivate func matchesInOneCall(_ subject: UnsafeRawBufferPointer) -> Bool {
    engine.firstMatch(in: subject, at: 0...subject.count, steps: 10_000_000) == .match
  }
}
