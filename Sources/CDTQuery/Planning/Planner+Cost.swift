/// What a plan is expected to cost, in ``Cost``'s units.
extension Planner {
  func cost(_ candidate: Candidate) -> Double {
    let hasRest = candidate.decided.count < conjuncts.count
    let order = order(for: candidate.source, isDecided: !hasRest)
    let reads = hasRest || order == .sorted || output == .documents || !candidate.source.isCovered
    var share = 1.0
    var results = candidate.found
    if hasRest, isPartial {
      for number in conjuncts.indices where !candidate.decided.contains(number) {
        results *= estimator.part(conjuncts[number], number, conditions)
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
      if reads { cost += documentsRead(candidate, order, results) * share }
      cost += unindexed(candidate.source) * Cost.scanned
    }
    switch order {
    case .sorted: cost += results * Cost.sorted
    case .columns: cost += results * Cost.sortedRow
    default: break
    }
    return cost
  }

  private func documentsRead(
    _ candidate: Candidate, _ order: QueryPlan.Order, _ results: Double
  ) -> Double {
    if case .columns = order { return (limit > 0 ? min(results, limit) : results) * Cost.document }
    return candidate.found * Cost.document
  }

  /// What a scan costs at least, whatever the selector: every document is a result.
  var leastCostOfScan: Double {
    let isStreamed = limit > 0 && order(for: .scan, isDecided: conjuncts.isEmpty).isStreamed
    let share = isStreamed ? min(1, limit / estimator.documents) : 1
    return Cost.seek + estimator.documents * share * Cost.scanned
  }

  /// How many results are wanted, or 0 for all of them.
  private var limit: Double {
    if output == .exists { return 1 }
    // Without an order the plan gives one, so every page must have the same plan.
    if query.sort.isEmpty { return query.limit > 0 || query.skip > 0 ? Cost.page : 0 }
    return query.limit > 0 ? Double(query.limit) + Double(query.skip) : 0
  }

  /// How many documents a source does not have yet.
  private func unindexed(_ source: QueryPlan.Source) -> Double {
    min(indexes.floor(of: source).map { Double(indexes.lastSequence - $0) } ?? 0, estimator.documents)
  }
}
