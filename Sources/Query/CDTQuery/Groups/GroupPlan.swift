import CDTPlan

/// The plan of a query for groups: a plan of its documents, and what the groups are made of.
struct GroupPlan: Sendable {
  enum Source: Sendable {
    /// The documents of the plan.
    case documents
    /// The rows of the plan's index; with an order, each group comes after another. Without one, there may be documents that the
    /// index lacks: they can be in any group.
    case rows(GroupCover, order: [OrderTerm]?)
    /// The groups of a summary.
    case summary(SummaryCover, order: [OrderTerm])
  }

  let groups: ResolvedGroups
  let plan: QueryPlan
  var source = Source.documents

  /// The order of the rows or groups in which each group comes after another, if there is one.
  var order: [OrderTerm]? {
    switch source {
    case .documents: nil
    case .rows(_, let order): order
    case .summary(_, let order): order
    }
  }

  /// The statements that read the index, or the documents.
  var statements: [CandidateStatement] {
    switch source {
    case .documents: plan.statements(.groups)
    case .rows: rows + plan.statements(.unindexed)
    case .summary(let summary, _): [summary.statement]
    }
  }

  /// The statements that read the index.
  var rows: [CandidateStatement] {
    let keys = order.flatMap { plan.source.driver?.keyOrder($0) } ?? KeyOrder()
    return CandidateStatement.of(
      plan.source, order: order.map { .index($0) } ?? .unordered, keys: keys, completeUpTo: plan.completeUpTo,
      form: .idsOnly)
  }
}

extension Planner {
  /// The plan with the lowest cost.
  ///
  /// - Parameter choose: Chooses a plan that reads documents.
  func groupPlan(_ groups: ResolvedGroups, _ choose: (Planner) throws -> QueryPlan) throws -> GroupPlan {
    let best = coveringPlans(groups).filter { _, plan in
      query.useIndex.map { plan.plan.source.driver?.index.definition.name.hasSameBytes(as: $0) == true }
        ?? true
    }.min { $0.cost < $1.cost }
    if let best, query.useIndex != nil || best.cost <= leastCost { return best.plan }
    return GroupPlan(groups: groups, plan: try choose(self))
  }

  /// The plans that need an index alone.
  func coveringPlans(_ groups: ResolvedGroups) -> [(cost: Double, plan: GroupPlan)] {
    // Groups count documents that are hidden.
    if !indexes.hidden.isEmpty { return [] }
    if case .never = query.selector.clause { return [] }
    guard documentIDs(in: conjuncts) == nil else { return [] }
    return catalog.ordered.flatMap { entry -> [(Double, GroupPlan)] in
      guard holdsEveryMatch(entry, of: conjuncts) else { return [] }
      let candidate = candidate(entry, for: conditions, of: conjuncts)
      guard candidate.decided.count == conjuncts.count, let access = candidate.source.driver else {
        return []
      }
      return [summaryPlan(candidate, access, groups), coveringPlan(candidate, access, groups)].compactMap(
        \.self)
    }
  }

  private func coveringPlan(
    _ candidate: Candidate, _ access: IndexAccess, _ groups: ResolvedGroups
  ) -> (Double, GroupPlan)? {
    // Of an array, a condition leaves the rows of some elements.
    guard let cover = GroupCover(groups, access.index), !access.index.isMultiple || conjuncts.isEmpty else {
      return nil
    }
    let plan = plan(candidate, because: "it has every field of the groups")
    let order = plan.hasUnindexed ? nil : cover.terms(of: groups, access)
    // Without an order, the group of each row is looked up.
    let row = order == nil ? 2 * Cost.row : Cost.row
    return (
      candidate.seeks * Cost.seek + candidate.rows * row,
      GroupPlan(groups: groups, plan: plan, source: .rows(cover, order: order))
    )
  }

  /// - Returns: `nil` if the summary lacks documents or what is asked for, or its groups are in another order.
  private func summaryPlan(
    _ candidate: Candidate, _ access: IndexAccess, _ groups: ResolvedGroups
  ) -> (Double, GroupPlan)? {
    let plan = plan(candidate, because: "it has the groups")
    guard !plan.hasUnindexed, let summary = SummaryCover(groups, access),
      let order = summary.fields.terms(of: groups, access)
    else { return nil }
    let group = Cost.row + 2 * Double(groups.extremes.count) * Cost.seek
    return (
      candidate.seeks * Cost.seek + min(summary.groups, candidate.rows) * group,
      GroupPlan(groups: groups, plan: plan, source: .summary(summary, order: order))
    )
  }
}
