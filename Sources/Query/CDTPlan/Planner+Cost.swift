/// The estimated cost of a plan, in ``Cost``'s units.
extension Planner {
  func cost(_ candidate: Candidate) -> Double {
    let hasRest = candidate.decided.count < conjuncts.count
    let order = order(for: candidate.source)
    let isSortedByRows = order == .sorted && sort(for: candidate.source).isByID && !hasRest
    let reads =
      hasRest || !isSortedByRows && (order == .sorted || output.readsDocuments || !candidate.source.isCovered)
    var share = 1.0
    var results = candidate.found
    if hasRest, output != .count {
      for number in conjuncts.indices where !candidate.decided.contains(number) {
        results *= estimator.part(conjuncts[number])
      }
    }
    if let wanted, order.isStreamed, !isGuess(candidate, hasRest) {
      share = min(1, wanted / max(results, 0.001))
    }
    var cost = candidate.seeks * Cost.seek
    switch candidate.source {
    case .scan:
      // In the order of ids, each document is looked up.
      if case .id = order {
        cost += candidate.rows * share * Cost.document
      } else {
        cost += candidate.rows * share * Cost.scanned
      }
    case .nearest, .intersection(.nearest, _):
      let found = candidate.found * share + Cost.undecided
      // A row of an index of vectors has several of them.
      cost +=
        candidate.source.nearest?.near.condition.place != nil
        ? found * (Cost.row + Cost.document)
        : candidate.rows * Cost.row / 10 + min(candidate.rows, found) * Cost.document
      cost += unindexed(candidate.source) * Cost.scanned
    default:
      cost += candidate.rows * share * Cost.row
      if reads { cost += candidate.found * share * Cost.document }
      cost += unindexed(candidate.source) * Cost.scanned
    }
    cost += distances(candidate, share: share)
    if order == .sorted {
      cost += results * Cost.sorted
      if output == .documents { cost += min(results, wanted ?? results) * Cost.document }
    }
    if case .structure(let seen) = basis, candidate.decided.hasMember(below: seen) { cost /= 2 }
    return cost
  }

  /// The cost of computing distances of vectors.
  ///
  /// - Parameter share: The share of the candidates that the limit needs.
  private func distances(_ candidate: Candidate, share: Double) -> Double {
    guard case .vector(let vector, _)? = query.near?.condition.distance else { return 0 }
    let length = Double(vector.count)
    guard candidate.source.nearest != nil else {
      return candidate.found * share * length * Cost.component
    }
    let found = min(candidate.rows, candidate.found * share + Cost.undecided)
    return (candidate.rows * Cost.code + found * Cost.component) * length
  }

  /// Whether it is unknown how much of a scan a limit needs.
  private func isGuess(_ candidate: Candidate, _ hasRest: Bool) -> Bool {
    guard case .structure = basis, case .scan = candidate.source else { return false }
    return hasRest
  }

  /// The minimum cost of a scan for any selector, if every document is a result and the scan ends at the last one wanted.
  var leastCostOfScan: Double {
    let rows = scan.rows
    return Cost.seek + min(rows, wanted ?? rows) * Cost.scanned
  }

  /// The number of first matches needed, or `nil` for all.
  var wanted: Double? {
    if output == .exists { return 1 }
    return query.limit.map { Double($0) + Double(query.skip) }
  }

  /// The number of documents that a source lacks.
  private func unindexed(_ source: QueryPlan.Source) -> Double {
    min(indexes.completeUpTo(of: source).map { Double(indexes.lastSequence - $0) } ?? 0, estimator.documents)
  }
}
