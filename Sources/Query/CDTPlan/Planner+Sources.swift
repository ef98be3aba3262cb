import CDTJSON

/// The possible sources of a plan.
extension Planner {
  package var scan: Candidate {
    let found = estimator.documents * ids.range.usualPart
    return Candidate(source: .scan(ids.range), decided: ids.decided, rows: found, found: found)
  }

  /// The sources of single indexes and unions of them. What can't be a source has a place, too, so that the places depend on the
  /// selector and the definitions of the indexes alone.
  func sources(_ search: Candidate?) -> [Candidate?] {
    var sources: [Candidate?] = []
    for entry in catalog.ordered where mayHelp(entry) {
      sources.append(candidate(entry, for: conditions, of: conjuncts))
      if entry.definition.type == .place { sources.append(nearest(entry)) }
    }
    for entry in catalog.vectors { sources.append(nearest(entry)) }
    if let search { sources.append(search) }
    // Later conjuncts can't be decided. Each union considers the others, so the number of both is limited.
    for case (let number, .or(let branches)) in conjuncts.prefix(ConjunctSet.capacity).enumerated() {
      sources.append(union(branches, number))
    }
    return sources
  }

  /// Whether the selector or the sort uses a field of the index. Any index can list all documents that it holds.
  private func mayHelp(_ entry: IndexCatalog.Entry) -> Bool {
    guard holdsEveryMatch(entry, of: conjuncts) else { return false }
    if conjuncts.isEmpty || entry.definition.filter != nil { return true }
    return entry.definition.fields.contains { field in
      conditions.contains { $0.path == field.fieldPath && $0.access.isUsable(by: entry.definition.collation) }
        || query.sort.fields.contains { $0.path == field.fieldPath && $0.distance == nil }
    }
  }

  private func nearestVectors(_ entry: IndexCatalog.Entry, _ near: NearField) -> Candidate? {
    guard entry.definition.probe(near) != nil, holdsEveryMatch(entry, of: conjuncts) else { return nil }
    var decided = ConjunctSet()
    decide(conjuncts, byFilterOf: entry, &decided)
    for (number, clause) in conjuncts.prefix(ConjunctSet.capacity).enumerated() {
      if case .field(_, .near) = clause { decided.insert(number) }
    }
    let rows = estimator.rows(of: entry)
    return Candidate(
      source: .nearest(NearestAccess(index: entry, near: near)), decided: decided, rows: rows, found: rows)
  }

  /// An index of vectors or places as a source in the order of the distances; `nil` if it can't give it, or the query has another order.
  func nearest(_ entry: IndexCatalog.Entry) -> Candidate? {
    guard !output.isUnordered, query.sort.isNearestFirst, let near = query.near else { return nil }
    return switch entry.definition.type {
    case .vector: nearestVectors(entry, near)
    case .place: nearestPlaces(entry, near)
    case .json, .text: nil
    }
  }

  /// The text index as a source for a conjunction, if that has a search.
  func search(in conjuncts: [Clause]) -> Candidate? {
    guard let number = conjuncts.firstIndex(where: \.isText), let entry = readableTextIndex,
      let query = text?.fullTextQuery
    else { return nil }
    let access = TextAccess(index: entry, match: query.text, isExact: query.isExact)
    let found = estimator.documents * Estimator.textPart
    return Candidate(
      source: .text(access), decided: access.isExact ? ConjunctSet(number) : ConjunctSet(), rows: found,
      found: found)
  }

  /// The documents whose ids the conjunction specifies, if any.
  package func documentIDs(in conjuncts: [Clause]) -> Candidate? {
    for (number, clause) in conjuncts.enumerated() {
      guard case .field(let path, let predicate) = clause, path.documentField == .id else { continue }
      let ids: [String]
      switch predicate {
      case .equal(.string(let id)): ids = [id]
      case .among(let members): ids = members.compactMap(\.stringValue)
      default: continue
      }
      let count = Double(ids.count)
      return Candidate(source: .ids(ids), decided: ConjunctSet(number), rows: 0, seeks: count, found: count)
    }
    return nil
  }

  /// Whether an index holds every document that a conjunction matches: a partial one must be implied by it. One by
  /// which documents expire has only times.
  package func holdsEveryMatch(_ entry: IndexCatalog.Entry, of conjuncts: [Clause]) -> Bool {
    guard entry.definition.options.expireAfter == nil else { return false }
    return entry.definition.filter.map { Implication.holds(.all(conjuncts), $0.clause) } ?? true
  }

  /// An index, which holds every match, as a source for a conjunction.
  package func candidate(
    _ entry: IndexCatalog.Entry, for conditions: [FieldCondition], of conjuncts: [Clause]
  ) -> Candidate {
    let (access, found) = IndexAccess.of(entry, for: conditions)
    var decided = found
    decide(conjuncts, byFilterOf: entry, &decided)
    let estimate = estimator.estimate(access)
    return Candidate(
      source: .index(access), decided: decided, rows: estimate.rows, seeks: access.seeks,
      found: estimate.found * access.ids.usualPart)
  }

  /// An index of places, which holds every match; `nil` if a field before the place has no condition with one value.
  private func nearestPlaces(_ entry: IndexCatalog.Entry, _ near: NearField) -> Candidate? {
    guard near.condition.place != nil, let place = entry.definition.fields.last?.fieldPath,
      place == near.path.cells
    else { return nil }
    var nearest = NearestAccess(index: entry, near: near)
    var fields: [FieldAccess] = []
    var decided = ConjunctSet()
    for field in entry.definition.fields.dropLast() {
      let condition = conditions.first {
        $0.path == field.fieldPath && !$0.isForSingleValues && $0.access.access.isPoint
          && $0.access.isUsable(by: entry.definition.collation)
      }
      guard let condition, case .points(let keys) = condition.access.access else { return nil }
      nearest.leading += keys
      fields.append(condition.access.access)
      if condition.access.absence == nil, condition.access.isExact(isMultiple: entry.isMultiple) {
        decided.insert(condition.conjunct)
      }
    }
    for condition in conditions where condition.path == place {
      guard case .field(_, .near) = conjuncts[condition.conjunct] else { continue }
      fields.append(condition.access.access)
      decided.insert(condition.conjunct)
    }
    decide(conjuncts, byFilterOf: entry, &decided)
    let found = estimator.estimate(IndexAccess(entry, fields)).found
    return Candidate(
      source: .nearest(nearest), decided: decided, rows: found, seeks: Self.usualQuadrants, found: found)
  }

  /// The usual number of quadrants that are read before the first places.
  private static let usualQuadrants = 20.0

  /// Adds the conjuncts that every document of a partial index satisfies.
  private func decide(
    _ conjuncts: [Clause], byFilterOf entry: IndexCatalog.Entry, _ decided: inout ConjunctSet
  ) {
    guard let filter = entry.definition.filter else { return }
    for (number, clause) in conjuncts.prefix(ConjunctSet.capacity).enumerated()
    where !decided.contains(number) && Implication.holds(filter.clause, clause) {
      decided.insert(number)
    }
  }

  // MARK: Alternatives

  /// The maximum number of branches of a union.
  private static var maximumBranches: Int { 100 }

  /// The union of a disjunction, if every branch has an access. Conditions beside the disjunction narrow each branch.
  private func union(_ branches: [Clause], _ number: Int) -> Candidate? {
    guard branches.count <= Self.maximumBranches else { return nil }
    let beside = conjuncts.indices.prefix(ConjunctSet.capacity).filter { $0 != number }
    var union = Candidate(
      source: .nothing, decided: ConjunctSet(upTo: conjuncts.count), rows: 0, seeks: 0, found: 0)
    var sources: [QueryPlan.Source] = []
    for branch in branches {
      let own = branch.conjuncts
      guard let best = branchCandidate(own, beside.map { conjuncts[$0] }) else { return nil }
      var decided = own.indices.allSatisfy(best.decided.contains) ? ConjunctSet(number) : ConjunctSet()
      for (offset, other) in beside.enumerated() where best.decided.contains(own.count + offset) {
        decided.insert(other)
      }
      union.decided.formIntersection(decided)
      sources.append(best.source)
      union.rows += best.rows
      union.seeks += best.seeks
      union.found += best.found
    }
    union.source = .union(sources)
    union.found = min(union.found, estimator.documents)
    return union
  }

  private func branchCandidate(_ own: [Clause], _ beside: [Clause]) -> Candidate? {
    if let search = search(in: own) { return search }
    if let ids = documentIDs(in: own) { return ids }
    let conjuncts = own + beside
    let conditions = FieldCondition.of(conjuncts)
    return catalog.ordered.filter { holdsEveryMatch($0, of: conjuncts) }
      .map { candidate($0, for: conditions, of: conjuncts) }
      .filter { $0.source.driver?.narrows == true }
      .min { branchCost($0, conjuncts) < branchCost($1, conjuncts) }
  }

  private func branchCost(_ branch: Candidate, _ conjuncts: [Clause]) -> Double {
    let reads = output.readsDocuments || branch.decided.count < conjuncts.count
    return branch.rows * Cost.row + branch.seeks * Cost.seek + (reads ? branch.found * Cost.document : 0)
  }

  // MARK: Intersections

  /// The maximum number of sources in an intersection.
  private static var intersected: Int { 4 }

  /// The intersections of the narrowest sources: rows of one whose documents are also in the others.
  func intersections(_ sources: [Candidate]) -> [Candidate] {
    let narrow = sources.filter { $0.source.mayIntersect }
      .sorted { $0.found < $1.found }.prefix(Self.intersected)
    var found: [Candidate] = []
    for (number, first) in narrow.enumerated() {
      if case .union = first.source { continue }
      var all = first
      var others: [QueryPlan.Source] = []
      for (position, other) in narrow.enumerated() where position != number {
        guard !other.decided.isSubset(of: all.decided) else { continue }
        others.append(other.source)
        all.source = .intersection(first.source, others)
        all.decided.formUnion(other.decided)
        all.rows += all.found * Cost.probe + other.rows * Cost.kept
        all.seeks += other.seeks
        all.found *= min(1, other.found / estimator.documents)
        found.append(all)
      }
    }
    for var all in sources {
      guard case .nearest(let access) = all.source else { continue }
      var others: [QueryPlan.Source] = []
      for other in narrow where !other.decided.isSubset(of: all.decided) {
        others.append(other.source)
        all.source = .intersection(.nearest(access), others)
        all.decided.formUnion(other.decided)
        all.rows = min(all.rows, other.found)
        all.seeks += other.seeks + other.rows * Cost.kept / Cost.seek
        // The vectors of each document are looked up.
        if access.near.condition.place == nil { all.seeks += other.found }
        all.found *= min(1, other.found / estimator.documents)
        found.append(all)
      }
    }
    return found
  }
}

extension QueryPlan.Source {
  /// Whether it narrows the documents, in any order.
  fileprivate var mayIntersect: Bool {
    if case .nearest = self { return false }
    return driver?.narrows ?? true
  }
}

extension IndexAccess {
  /// The number of seeks.
  fileprivate var seeks: Double {
    fields.reduce(1) { seeks, field in
      switch field {
      case .points(let keys): seeks * Double(keys.count)
      case .range: seeks
      case .ranges(let ranges): seeks * Double(ranges.count)
      }
    }
  }
}
