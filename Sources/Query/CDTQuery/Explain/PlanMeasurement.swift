import CDTDatastore
import CDTJSON
import CDTPlan
import CDTPlatform
import CDTSQLite

/// Counts what the sources of a plan give, by running each of them to its end.
///
/// The order and the page of the query don't matter here: a run of it may end before its sources do.
private struct PlanMeasurement {
  let plan: QueryPlan
  let engine: QueryEngine
  let stop: QueryStop
  /// The counts of the run. A source in the order of the distances is measured by it, as its end may be that of all documents.
  let examined: (keys: Int, documents: Int)

  private var estimator: Estimator { Estimator(engine.indexes.catalog) }

  /// A source with its parts, and the documents that it gives.
  func measure(_ source: QueryPlan.Source) throws -> (node: PlanNode, found: NumberSet) {
    let parts = try source.parts.map(measure)
    var rows = parts.reduce(0) { $0 + ($1.node.actual?.rows ?? 0) }
    let found: NumberSet
    switch source {
    case .union: found = .union(parts.map(\.found))
    // The others limit those that are nearest.
    case .intersection(let first, _):
      found = .intersection(parts.dropFirst(first.nearest == nil ? 0 : 1).map(\.found))
    case .nearest: found = NumberSet()
    case .nothing, .scan, .ids, .index, .text:
      (rows, found) = try numbers(
        of: CandidateStatement.of(source, order: .unordered, completeUpTo: plan.completeUpTo, form: .idsOnly))
    }
    var node = PlanNode(source)
    node.parts = parts.map(\.node)
    node.estimated = estimator.estimated(of: source)
    node.actual = (rows, Double(found.count))
    if case .nearest = source { node.actual = (Double(examined.keys), Double(examined.documents)) }
    return (node, found)
  }

  /// The groups of a summary, which take the place of the plan's source.
  func measure(_ summary: SummaryCover, _ statements: [CandidateStatement]) throws -> PlanNode {
    var (rows, documents) = (0.0, 0)
    try forEachRow(of: statements) { row in
      if plan.hidesDesignDocuments, SummaryTable.isOfDesignDocuments(row.key) { return }
      rows += 1
      documents += try summary.state(row).documents
    }
    var node = PlanNode(plan.source)
    node.title = "groups of \(node.title)"
    node.estimated = (summary.groups, estimator.estimated(of: plan.source).documents)
    node.actual = (rows, Double(documents))
    return node
  }

  /// The number of rows of some statements, and the documents in them.
  func numbers(of statements: [CandidateStatement]) throws -> (rows: Double, found: NumberSet) {
    var (rows, numbers) = (0.0, NumberSet())
    try forEachRow(of: statements) { row in
      rows += 1
      _ = numbers.insert(row.number)
    }
    return (rows, numbers)
  }

  private func forEachRow(of statements: [CandidateStatement], _ body: (CandidateRow) throws -> Void) throws {
    let candidates = Candidates(statements, on: try engine.transaction.connection())
    defer { candidates.end() }
    while let row = try candidates.next() {
      try stop.check()
      try body(row)
    }
  }
}

extension Estimator {
  /// The numbers of rows and documents that a source is expected to give.
  fileprivate func estimated(of source: QueryPlan.Source) -> PlanNode.Counts {
    switch source {
    case .nothing: return (0, 0)
    case .scan(let range):
      let found = documents * range.usualPart
      return (found, found)
    case .ids(let ids): return (Double(ids.count), Double(ids.count))
    case .index(let access):
      let estimate = estimate(access)
      return (estimate.rows, min(estimate.found * access.ids.usualPart, documents))
    case .text: return (documents * Self.textPart, documents * Self.textPart)
    case .nearest(let access): return (rows(of: access.index), documents * Self.textPart)
    case .union, .intersection:
      let parts = source.parts.map(estimated)
      let rows = parts.reduce(0) { $0 + $1.rows }
      if case .union = source { return (rows, min(parts.reduce(0) { $0 + $1.documents }, documents)) }
      let share = parts.dropFirst().reduce(1) { $0 * min(1, $1.documents / documents) }
      return (rows, (parts.first?.documents ?? 0) * share)
    }
  }
}

extension QueryEngine {
  /// Explains a plan, which is run before if it is measured.
  ///
  /// - Parameter run: Runs the query, and returns the number of results.
  /// - Complexity: If measured, O(*rows of the sources*), and that of the run, and of counting the matches if the run does not tell.
  func explanation(
    of request: Query, _ query: ResolvedQuery, _ plan: QueryPlan, groups: GroupPlan? = nil, _ stop: QueryStop,
    measuring: Bool, _ run: () throws -> (results: Int, examined: (keys: Int, documents: Int))
  ) throws -> Explanation {
    guard try transaction.seesEverything else {
      return try structuralExplanation(of: request, query, groups?.groups, measuring: measuring, run)
    }
    guard measuring else { return Explanation(query, plan, groups: groups, by: self) }
    let start = ContinuousClock.now
    let (results, examined) = try run()
    let time = ContinuousClock.now - start
    let matched = try groups == nil && query.endsPage(results) ? query.skip + results : count(request)
    let measured: JSONObject = try mapping(stop) {
      let measurement = PlanMeasurement(plan: plan, engine: self, stop: stop, examined: examined)
      let source =
        if let groups, case .summary(let summary, _) = groups.source {
          try measurement.measure(summary, groups.statements)
        } else {
          try measurement.measure(plan.source).node
        }
      // Those that the indexes lack; the matcher decides about them alone.
      let unindexed = try measurement.numbers(of: plan.statements(.unindexed)).found.count
      return [
        "source": .object(source.json), "unindexed": .int(Int64(unindexed)),
        "candidates": .int(Int64(source.actual?.documents ?? 0) + Int64(unindexed)),
        "matched": .int(Int64(matched)), "results": .int(Int64(results)),
        "keys_examined": .int(Int64(examined.keys)), "docs_examined": .int(Int64(examined.documents)),
        "milliseconds": .double(time / .milliseconds(1)),
      ]
    }
    return Explanation(query, plan, groups: groups, measured: measured, by: self)
  }

  /// Explains the plan of a reader who may not see every document as that over indexes of which only the definitions are known: whether an
  /// index has arrays, or is complete, depends on documents that are not seen. So do all counts but that of the results.
  private func structuralExplanation(
    of request: Query, _ query: ResolvedQuery, _ groups: ResolvedGroups?, measuring: Bool,
    _ run: () throws -> (results: Int, examined: (keys: Int, documents: Int))
  ) throws -> Explanation {
    var measured: JSONObject?
    if measuring {
      let start = ContinuousClock.now
      let results = try run().results
      let time = (ContinuousClock.now - start) / .milliseconds(1)
      measured = [
        "matched": .int(Int64(try count(request))), "results": .int(Int64(results)),
        "milliseconds": .double(time),
      ]
    }
    let engine = withAssumedIndexes
    let groupPlan = try groups.map(engine.plan)
    let plan = try groupPlan?.plan ?? engine.plan(query, QueryStop(signal: transaction.stop))
    return Explanation(query, plan, groups: groupPlan, measured: measured, by: engine)
  }
}

extension ResolvedQuery {
  /// Whether a page with a number of results has the last one, and only those to skip come before.
  fileprivate func endsPage(_ results: Int) -> Bool {
    start == nil && (skip == 0 || results > 0) && limit.map { results < $0 } ?? true
  }
}
