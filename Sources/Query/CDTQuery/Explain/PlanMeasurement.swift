import CDTDatastore
package import CDTJSON
import CDTPlatform

/// Estimated and actual row counts of the sources of a plan, found by running each of them to its end.
///
/// ```
/// any of: …                              expected 120 rows, 120 documents; met 131, 129
/// ├ index "age": age in a range          expected 100 rows, 100 documents; met 110, 110
/// └ index "city": city at one value      expected 20 rows, 20 documents; met 21, 21
/// ```
///
/// The order and the page of the query don't matter here: a run of it may end before its sources do.
struct PlanMeasurement {
  private let planner: Planner
  private let plan: QueryPlan
  private let transaction: ReadTransaction
  private let stop: QueryStop

  init(_ planner: Planner, _ plan: QueryPlan, in transaction: ReadTransaction, _ stop: QueryStop) {
    self.planner = planner
    self.plan = plan
    self.transaction = transaction
    self.stop = stop
  }

  /// The source of the plan, with its parts, and the number of documents that it gives.
  func source() throws -> (json: JSONObject, documents: Int) {
    let part = try measure(plan.source)
    return (part.json, part.numbers.count)
  }

  /// A summary in place of the source: its rows are groups.
  func source(of summary: SummaryCover, _ statements: [CandidateStatement]) throws -> (
    json: JSONObject, documents: Int
  ) {
    let candidates = Candidates(statements, on: try transaction.connection())
    defer { candidates.end() }
    var (rows, documents) = (0, 0)
    while let row = try candidates.next() {
      try stop.check()
      rows += 1
      documents += try summary.state(row).documents
    }
    let json: JSONObject = [
      "source": .string("groups of \(plan.source.text)"),
      "index": plan.source.driver.map { JSONValue.string($0.index.definition.name) } ?? .null,
      "expected": Self.counts(summary.groups, planner.expected(of: plan.source).documents),
      "met": Self.counts(Double(rows), Double(documents)),
    ]
    return (json, documents)
  }

  /// The number of documents that the indexes of the plan lack, which the matcher decides alone.
  func unindexed() throws -> Int {
    try numbers(of: plan.statements(.unindexed)).numbers.count
  }

  private typealias Part = (json: JSONObject, rows: Double, met: Int, numbers: NumberSet)

  private func measure(_ source: QueryPlan.Source) throws -> Part {
    switch source {
    case .union(let branches): try whole(source, of: branches.map(measure), combined: NumberSet.union)
    case .intersection(let first, let others):
      try whole(source, of: ([first] + others).map(measure), combined: NumberSet.intersection)
    case .nothing, .scan, .ids, .index, .text: try leaf(source)
    }
  }

  private func leaf(_ source: QueryPlan.Source) throws -> Part {
    let expected = planner.expected(of: source)
    let (rows, numbers) = try numbers(
      of: CandidateStatement.of(source, order: .unordered, floor: plan.floor, form: .idsOnly))
    let name = source.indexes.first.map { JSONValue.string($0.definition.name) } ?? .null
    let json: JSONObject = [
      "source": .string(source.text), "index": name,
      "expected": Self.counts(expected.rows, expected.documents),
      "met": Self.counts(Double(rows), Double(numbers.count)),
    ]
    return (json, expected.rows, rows, numbers)
  }

  private func whole(
    _ source: QueryPlan.Source, of parts: [Part], combined: ([NumberSet]) -> NumberSet
  ) -> Part {
    let (expected, met) = (parts.reduce(0) { $0 + $1.rows }, parts.reduce(0) { $0 + $1.met })
    let numbers = combined(parts.map(\.numbers))
    let json: JSONObject = [
      "source": source.isUnion ? "any of" : "all of", "index": nil,
      "expected": Self.counts(expected, planner.expected(of: source).documents),
      "met": Self.counts(Double(met), Double(numbers.count)), "parts": .array(parts.map { .object($0.json) }),
    ]
    return (json, expected, met, numbers)
  }

  private static func counts(_ rows: Double, _ documents: Double) -> JSONValue {
    ["rows": .int(Int64(rows.rounded())), "documents": .int(Int64(documents.rounded()))]
  }

  /// The number of rows of some statements, and the documents in them.
  private func numbers(of statements: [CandidateStatement]) throws -> (rows: Int, numbers: NumberSet) {
    var (rows, numbers) = (0, NumberSet())
    let candidates = Candidates(statements, on: try transaction.connection())
    defer { candidates.end() }
    while let row = try candidates.next() {
      try stop.check()
      rows += 1
      _ = numbers.insert(CandidateRow(row).number)
    }
    return (rows, numbers)
  }
}

extension Planner {
  /// The numbers of rows and documents that a source is expected to give.
  fileprivate func expected(of source: QueryPlan.Source) -> (rows: Double, documents: Double) {
    switch source {
    case .nothing: return (0, 0)
    case .scan: return (scan.rows, scan.found)
    case .ids(let ids): return (Double(ids.count), Double(ids.count))
    case .index(let access):
      let estimate = estimator.estimate(access)
      return (estimate.rows, min(estimate.found * access.ids.usualPart, estimator.documents))
    case .text:
      let found = estimator.documents * Estimator.textPart
      return (found, found)
    case .union(let branches):
      let parts = branches.map(expected)
      return (
        parts.reduce(0) { $0 + $1.rows }, min(parts.reduce(0) { $0 + $1.documents }, estimator.documents)
      )
    case .intersection(let first, let others):
      let parts = ([first] + others).map(expected)
      let share = parts.dropFirst().reduce(1) { $0 * min(1, $1.documents / estimator.documents) }
      return (parts.reduce(0) { $0 + $1.rows }, expected(of: first).documents * share)
    }
  }
}

extension QueryPlan.Source {
  fileprivate var isUnion: Bool {
    if case .union = self { true } else { false }
  }
}

extension QueryEngine {
  /// Runs the sources of a query's plan to their ends, and the query itself, and returns what was expected and met.
  ///
  /// - Complexity: O(*rows of the sources*), and that of counting the results and of one page of them.
  package func measurement(of query: Query) throws -> JSONObject {
    let (resolved, start) = (try ResolvedQuery(query), ContinuousClock.now)
    let stop = QueryStop(timeLimit: query.timeLimit, signal: transaction.stop)
    let plan = try plan(resolved, stop)
    let cursor = Cursor(self, resolved, plan: plan, stop: stop)
    defer { cursor.end() }
    var results = 0
    while try cursor.nextDocument() != nil { results += 1 }
    let (time, examined) = (ContinuousClock.now - start, cursor.examined)
    return try measurement(
      resolved, plan, stop, matched: count(query), results: results, time, examined)
  }

  /// The same of a query for groups. Its `results` are groups.
  package func measurement(of query: GroupQuery) throws -> JSONObject {
    let (groups, start) = (try ResolvedGroups(query), ContinuousClock.now)
    let stop = QueryStop(timeLimit: query.query.timeLimit, signal: transaction.stop)
    let plan = try plan(groups)
    let (rows, examined) = try run(plan)
    let time = ContinuousClock.now - start
    return try measurement(
      groups.documents, plan.plan, stop, groups: plan, matched: count(query.query), results: rows.count,
      time, examined)
  }

  private func measurement(
    _ query: ResolvedQuery, _ plan: QueryPlan, _ stop: QueryStop,
    groups: GroupPlan? = nil, matched: Int, results: Int, _ time: Duration,
    _ examined: (keys: Int, documents: Int)
  ) throws -> JSONObject {
    try mapping(stop) {
      let planner = try planner(query, groups == nil ? .documents : .groups)
      let measured = PlanMeasurement(planner, plan, in: transaction, stop)
      let (source, found) =
        if let groups, case .summary(let summary, _) = groups.source {
          try measured.source(of: summary, groups.statements)
        } else {
          try measured.source()
        }
      let unindexed = try measured.unindexed()
      let wished = PlanDescription(query, plan, groups: groups?.groups, catalog: indexes.catalog).wishedIndex
      return [
        "source": .object(source), "unindexed": .int(Int64(unindexed)),
        "candidates": .int(Int64(found + unindexed)), "matched": .int(Int64(matched)),
        "results": .int(Int64(results)), "keys_examined": .int(Int64(examined.keys)),
        "docs_examined": .int(Int64(examined.documents)), "milliseconds": .double(time / .milliseconds(1)),
        "wished": wished?.json ?? .null,
      ]
    }
  }
}
