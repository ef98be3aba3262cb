/// What a plan is expected to cost, in ``Cost``'s units.
extension Planner {
  func cost(_ candidate: Candidate) -> Double {
    let hasRest = candidate.decided.count < conjuncts.count
    let order = order(for: candidate.source)
    let reads = hasRest || order == .sorted || output == .documents || !candidate.source.isCovered
    var share = 1.0
    var results = candidate.found
    if hasRest, isPartial {
      for number in conjuncts.indices where !candidate.decided.contains(number) {
        results *= estimator.part(conjuncts[number])
      }
    }
    if limit > 0, order.isStreamed { share = min(1, limit / max(results, 0.001)) }
    var cost = candidate.seeks * Cost.seek
    switch candidate.source {
    case .scan:
      // In the order of ids each document is looked up.
      if case .id = order {
        cost += candidate.rows * share * Cost.document
      } else {
        cost += candidate.rows * share * Cost.scanned
      }
    default:
      cost += candidate.rows * share * Cost.row
      if reads { cost += candidate.found * share * Cost.document }
      cost += unindexed(candidate.source) * Cost.scanned
    }
    if order == .sorted { cost += results * Cost.sorted }
    return cost
  }

  /// What a scan costs at least, whatever the selector: every document is a result.
  var leastCostOfScan: Double {
    let isStreamed = limit > 0 && order(for: .scan).isStreamed
    let share = isStreamed ? min(1, limit / estimator.documents) : 1
    return Cost.seek + estimator.documents * share * Cost.scanned
  }

  /// How many results are wanted, or 0 for all of them.
  private var limit: Double {
    if output == .exists { return 1 }
    return query.limit > 0 ? Double(query.limit) + Double(query.skip) : 0
  }

  /// How many documents a source does not have yet.
  private func unindexed(_ source: QueryPlan.Source) -> Double {
    min(indexes.floor(of: source).map { Double(indexes.lastSequence - $0) } ?? 0, estimator.documents)
  }
}
