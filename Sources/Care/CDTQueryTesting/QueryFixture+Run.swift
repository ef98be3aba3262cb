package import CDTDatastore
import CDTJSON
package import CDTQuery

/// The outcome of a case.
public struct FixtureOutcome: Sendable {
  /// The case's name.
  public let name: String
  /// The place of the case: `eq.test:12`.
  public let place: String
  /// The runs with a wrong result; empty if all were right.
  public let findings: [Finding]

  /// Whether every run returned the golden answer.
  public var hasPassed: Bool { findings.isEmpty }

  /// A run that did not return the golden answer.
  public struct Finding: Sendable, Hashable {
    /// The way in which the query was run: `in memory`, `with the index age, after updates`.
    public let way: String
    /// The difference of the golden and the actual answer: ` ` in both, `-` only golden, `+` only actual.
    public let difference: [String]
  }
}

extension QueryFixture {
  /// Runs every case in memory, without an index, and with the indexes; all runs must return the golden answer.
  ///
  /// Each index is tested alone, and then all together: first outdated by updates, with stale entries and missing
  /// documents, then complete.
  ///
  /// - Parameter directory: An existing directory for the datastores, which are deleted afterwards.
  /// - Throws: ``FixtureError`` for a case whose answer is not unique; `DatastoreError`.
  public func run(in directory: String) throws -> [FixtureOutcome] {
    let prepared = try cases.map { try PreparedCase($0, of: self) }
    var findings = prepared.map { $0.findings(inMemory: documents, textIndex) }
    try FixtureStores(self, directory: directory).forEach { way, store in
      for (number, prepared) in prepared.enumerated() {
        findings[number] += prepared.findings(in: store, way: way)
      }
    }
    return outcomes(findings)
  }

  /// The outcomes of the cases, with the findings of each.
  package func outcomes(_ findings: [[FixtureOutcome.Finding]]) -> [FixtureOutcome] {
    zip(cases, findings).map { fixtureCase, findings in
      FixtureOutcome(name: fixtureCase.name, place: "\(name):\(fixtureCase.line)", findings: findings)
    }
  }

  /// Runs every case elsewhere.
  ///
  /// - Returns: The findings of each case.
  package func findings(
    _ way: String, find: (Query) async throws -> [DocumentRevision], count: (Query) async throws -> Int
  ) async throws -> [[FixtureOutcome.Finding]] {
    var findings: [[FixtureOutcome.Finding]] = []
    for prepared in try cases.map({ try PreparedCase($0, of: self) }) {
      findings.append(await prepared.findings(way, find: find, count: count))
    }
    return findings
  }

  /// The file's text with the actual answers of the matcher as goldens.
  ///
  /// - Throws: ``FixtureError`` for a case whose answer is not unique.
  public func recorded() throws -> String {
    var lines = lines
    for fixtureCase in cases.reversed() {
      let prepared = try PreparedCase(fixtureCase, of: self)
      let answer = prepared.answer(inMemory: documents, textIndex)
      if let golden = fixtureCase.golden, prepared.comparable(golden) == prepared.comparable(answer) {
        continue
      }
      var recorded = answer.lines
      let next = fixtureCase.goldenLines.upperBound
      if fixtureCase.golden == nil, next < lines.count - 1, !lines[next].isEmpty { recorded.append("") }
      lines.replaceSubrange(fixtureCase.goldenLines, with: recorded)
    }
    return lines.joined(separator: "\n")
  }
}

/// A case with its parsed request.
private struct PreparedCase {
  let golden: FixtureAnswer?
  let request: Result<Request, QueryError>

  enum Request {
    case documents(Query)
    case groups(GroupQuery)
    case write(DesignRules.Write)

    init(parsing text: String, _ rules: JSONObject?) throws(QueryError) {
      if let rules {
        self = .write(try DesignRules.Write(parsing: text, under: rules))
        return
      }
      guard let json = try? JSONObject(parsing: text), json["group"] != nil, json["selector"] != nil else {
        self = .documents(try Query(parsing: text))
        return
      }
      self = .groups(try GroupQuery(request: json))
    }
  }

  init(_ fixtureCase: QueryFixture.Case, of fixture: QueryFixture) throws(FixtureError) {
    golden = fixtureCase.golden
    request = Result { () throws(QueryError) in try Request(parsing: fixtureCase.request, fixture.rules) }
    let query: Query
    var problem: String?
    switch request {
    case .failure, .success(.write): return
    case .success(.groups(let groups)): query = groups.query
    case .success(.documents(let documents)):
      query = documents
      if !query.isOrdered, query.skip > 0 || query.limit != nil {
        problem = "a page without an order has no definite answer; add a \"sort\""
      }
    }
    if query.useIndex != nil {
      problem = "every case runs with and without indexes; leave \"use_index\" out"
    }
    if let problem { throw FixtureError(file: fixture.name, line: fixtureCase.line, message: problem) }
  }

  /// An answer for comparison: without an order if the request has no sort. Groups always have one.
  func comparable(_ answer: FixtureAnswer) -> FixtureAnswer {
    if case .success(.documents(let query)) = request, !query.isOrdered {
      answer.inAnyOrder
    } else {
      answer
    }
  }

  func answer(inMemory documents: [DocumentRevision], _ textIndex: IndexDefinition?) -> FixtureAnswer {
    switch request {
    case .success(.documents(let query)):
      FixtureAnswer(of: query) { try query.find(in: documents, textIndex: textIndex) }
    case .success(.groups(let query)):
      FixtureAnswer(groups: {
        let groups = try StreamedGroups(query)
        for document in try Query(query.query.selector).find(in: documents, textIndex: textIndex) {
          try document.json.utf8Text.withUnsafeBytes { try groups.add($0) }
        }
        return try groups.finish()
      })
    case .success(.write(let write)): FixtureAnswer(ofWrite: { try write.violation() })
    case .failure(let error): .error(error.description)
    }
  }

  func findings(inMemory documents: [DocumentRevision], _ textIndex: IndexDefinition?) -> [FixtureOutcome
    .Finding]
  {
    let answer = comparable(answer(inMemory: documents, textIndex))
    guard let golden else {
      return [.init(way: "no golden answer; --record writes it", difference: answer.items.map { "+\($0)" })]
    }
    return Self.findings("in memory", expected: comparable(golden), given: answer)
  }

  func findings(in store: Datastore, way: String) -> [FixtureOutcome.Finding] {
    guard let golden else { return [] }
    if case .success(.groups(let query)) = request {
      let rows = FixtureAnswer(groups: { try store.read { try $0.group(query) } })
      return Self.findings(way, expected: golden, given: rows)
    }
    guard case .success(.documents(let query)) = request else { return [] }
    let answer = comparable(FixtureAnswer(of: query) { try store.read { try $0.find(query) } })
    var findings = Self.findings(way, expected: comparable(golden), given: answer)
    if findings.isEmpty, case .ids = answer {
      findings += shortcuts(query, in: store, way: way, answer: answer)
    }
    return findings
  }

  func findings(
    _ way: String, find: (Query) async throws -> [DocumentRevision], count: (Query) async throws -> Int
  ) async -> [FixtureOutcome.Finding] {
    guard case .success(.documents(let query)) = request, let golden else { return [] }
    // Elsewhere there are no bookmarks.
    if query.bookmark != nil || query.isBackward { return [] }
    do {
      let found = try await find(query)
      var whole = query
      (whole.skip, whole.limit, whole.bookmark) = (0, nil, nil)
      let (all, counted) = (try await find(whole).count, try await count(query))
      return Self.findings(
        way, expected: comparable(golden), given: comparable(FixtureAnswer(of: query) { found }))
        + Self.findings("\(way), count", expected: String(all)) { String(counted) }
    } catch {
      return Self.findings(way, expected: comparable(golden), given: .error(String(describing: error)))
    }
  }

  /// Ids, count and existence use other statements, which read no documents.
  private func shortcuts(
    _ query: Query, in store: Datastore, way: String, answer: FixtureAnswer
  ) -> [FixtureOutcome.Finding] {
    let ids = FixtureAnswer(ids: { try store.read { try $0.documentIDs(query) } })
    var whole = query
    (whole.skip, whole.limit, whole.bookmark) = (0, nil, nil)
    let all = FixtureAnswer(of: whole) { try store.read { try $0.find(whole) } }.items
    let count = all == ["none"] ? 0 : all.count
    return Self.findings("\(way), ids alone", expected: answer, given: comparable(ids))
      + Self.findings("\(way), count", expected: String(count)) {
        String(try store.read { try $0.count(query) })
      }
      + Self.findings("\(way), exists", expected: String(count > 0)) {
        String(try store.read { try $0.contains(query) })
      }
  }

  private static func findings(
    _ way: String, expected: String, given: () throws -> String
  ) -> [FixtureOutcome.Finding] {
    let given = Result(catching: given).map { [$0] }
    let lines = (try? given.get()) ?? ["error: \(given)"]
    return lines == [expected]
      ? [] : [.init(way: way, difference: LineDifference.lines(from: [expected], to: lines))]
  }

  private static func findings(
    _ way: String, expected: FixtureAnswer, given: FixtureAnswer
  ) -> [FixtureOutcome.Finding] {
    if expected == given { return [] }
    return [.init(way: way, difference: LineDifference.lines(from: expected.items, to: given.items))]
  }
}
