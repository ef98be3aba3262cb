import CDTJSON

/// Chooses how to answer a query.
///
/// ```
/// {"name": "mike", "age": {"$gte": 12}} with the index (name, age)
/// → rows with name = mike and age ≥ 12; nothing left to the matcher
/// ```
///
/// A plan changes the cost of a query, never its results: the sources return every match, and the matcher checks what
/// they do not decide.
package final class Planner {
  package let query: ResolvedQuery
  package let indexes: IndexView
  package let conjuncts: [Clause]
  package let conditions: [FieldCondition]
  let text: TextProgram?
  /// The index that gives the selector's search its meaning.
  private let textIndex: IndexCatalog.Entry?
  let output: QueryOutput
  package let estimator: Estimator
  /// The basis of the choice of a plan.
  package let basis: PlanBasis
  /// The conditions on `_id`.
  let ids: IDCondition

  /// The text index, if it is readable.
  var readableTextIndex: IndexCatalog.Entry? { indexes.isReadable ? textIndex : nil }

  /// The readable indexes.
  package var catalog: IndexCatalog { indexes.isReadable ? indexes.catalog : .empty }

  /// - Parameter output: The required output.
  /// - Throws: ``QueryError`` if there is a text search but no text index, or several.
  package init(
    _ query: ResolvedQuery, _ indexes: IndexView, output: QueryOutput = .documents,
    basis: PlanBasis = .statistics
  ) throws(QueryError) {
    self.query = query
    self.indexes = indexes
    self.output = output
    self.basis = basis
    conjuncts = query.selector.clause.conjuncts
    conditions = FieldCondition.of(conjuncts)
    let clause = query.selector.clause
    textIndex = try indexes.catalog.textIndex(for: clause, named: query.useIndex)
    text = try TextProgram.of(clause, textIndex?.definition)
    estimator = Estimator(indexes.catalog, usesStatistics: basis == .statistics)
    ids = IDCondition(conjuncts, conditions)
  }

  /// The same planner with another basis.
  private init(_ other: Planner, _ indexes: IndexView, _ basis: PlanBasis, _ estimator: Estimator) {
    (query, output, conjuncts, conditions) = (other.query, other.output, other.conjuncts, other.conditions)
    (text, textIndex, ids) = (other.text, other.textIndex, other.ids)
    (self.indexes, self.basis, self.estimator) = (indexes, basis, estimator)
  }

  /// The plan with the lowest cost.
  ///
  /// - Throws: ``QueryError`` with the code `.unknownIndex` if the index named by the query does not exist.
  package func plan() throws(QueryError) -> QueryPlan {
    let wanted = try query.useIndex.map { name throws(QueryError) in try wantedIndex(name) }
    if case .never = query.selector.clause { return nothing }
    if conjuncts.contains(where: \.isText), text?.root == nil { return nothing }
    let search = search(in: conjuncts)
    if let wanted {
      guard wanted.definition.type == .text || !query.sort.isByScore else {
        throw QueryError(.scoreOfOtherIndex(wanted.definition.name))
      }
      guard indexes.isReadable else { return plan(scan, because: "the index file can't be read") }
      guard holdsEveryMatch(wanted, of: conjuncts) else { return plan(scan, because: "") }
      let candidate =
        switch wanted.definition.type {
        case .text: search
        case .vector: nearest(wanted)
        case .json, .place: nearest(wanted) ?? candidate(wanted, for: conditions, of: conjuncts)
        }
      return plan(candidate ?? scan, because: "the query asks for it")
    }
    if query.sort.isByScore, let search { return plan(search, because: "the order goes by its scores") }
    if let ids = documentIDs(in: conjuncts) { return plan(ids, because: "") }
    if catalog.entries.isEmpty { return plan(scan, because: "") }
    return plan(cheapest(search), because: "it costs least")
  }

  private func wantedIndex(_ name: String) throws(QueryError) -> IndexCatalog.Entry {
    let entry = try indexes.catalog.entry(wanted: name, at: "use_index")
    if entry.definition.type == .text, !conjuncts.contains(where: \.isText) {
      throw QueryError(.textIndexUnused(name))
    }
    if entry.definition.type == .vector,
      query.sort.distance == nil || query.near.map(entry.definition.holdsVectors(for:)) != true
    {
      throw .vectorIndexUnused(entry.definition)
    }
    return entry
  }

  /// Every possible plan.
  package func everyPlan() throws(QueryError) -> [QueryPlan] {
    if query.useIndex != nil || query.sort.isByScore { return [try plan()] }
    if case .never = query.selector.clause { return [nothing] }
    if conjuncts.contains(where: \.isText), text?.root == nil { return [nothing] }
    let sources = sources(search(in: conjuncts)).compactMap(\.self)
    let candidates = sources + intersections(sources) + [documentIDs(in: conjuncts), scan].compactMap(\.self)
    return candidates.map { plan($0, because: "a test asks for it") }
  }

  // MARK: Choice

  /// The cost of the plan that costs least.
  package var leastCost: Double { cost(cheapest(search(in: conjuncts))) }

  private func cheapest(_ search: Candidate?) -> Candidate {
    if case .structure = basis { return structuralChoice(search) }
    let sources = sources(search).compactMap(\.self)
    var best: Candidate?
    var least = Double.infinity
    func consider(_ candidate: Candidate) {
      let cost = cost(candidate)
      if cost < least { (best, least) = (candidate, cost) }
    }
    for source in sources { consider(source) }
    // The cost of a scan requires an estimate of every conjunct.
    if least >= leastCostOfScan { consider(scan) }
    if least > Self.worthIntersecting {
      for source in intersections(sources) { consider(source) }
    }
    return best ?? scan
  }

  /// Below this cost, looking for a better plan is not worthwhile.
  private static let worthIntersecting = 500.0

  /// The choice for a reader who does not see every document, which tells nothing of the documents.
  ///
  /// An index has arrays or statistics only if documents have, so the candidates are compared as those of indexes without them. Intersections
  /// are left out, as they help only if they are known to be small.
  private func structuralChoice(_ search: Candidate?) -> Candidate {
    let assumed = assumed
    let costs = assumed.sources(search).map { $0.map(assumed.cost) ?? .infinity }
    guard let best = costs.indices.min(by: { costs[$0] < costs[$1] }), costs[best] < cost(scan) else {
      return scan
    }
    // An index with arrays may not serve a branch of a disjunction.
    return sources(search)[best] ?? scan
  }

  /// The same planner over indexes of which only the definitions are known.
  package var assumed: Planner {
    Planner(self, indexes.assumed, basis, estimator)
  }

  /// The same planner, choosing by statistics.
  package var byStatistics: Planner {
    Planner(self, indexes, .statistics, Estimator(indexes.catalog))
  }

  // MARK: Plan

  private var nothing: QueryPlan {
    plan(Candidate(source: .nothing, rows: 0, found: 0), because: "")
  }

  package func plan(_ candidate: Candidate, because reason: String) -> QueryPlan {
    var rest: [Clause] = []
    for number in conjuncts.indices where !candidate.decided.contains(number) {
      rest.append(conjuncts[number])
    }
    let (order, sort) = (order(for: candidate.source), sort(for: candidate.source))
    var source = candidate.source
    if let start = query.start, sort.isByID {
      source.continueAfter(start.id, isDescending: sort.isByIDDescending)
    }
    return QueryPlan(
      source: source, residual: .all(rest), clause: query.selector.clause, text: text,
      order: order, keyOrder: keyOrder(for: source, order), sort: sort, start: query.start, skip: query.skip,
      limit: query.limit,
      isBackward: query.isBackward, completeUpTo: indexes.completeUpTo(of: source),
      hidesDesignDocuments: query.hidesDesignDocuments, hidden: indexes.hidden, reason: reason)
  }
}

/// The basis on which a planner compares plans.
package enum PlanBasis: Sendable, Hashable {
  /// The statistics of the indexes.
  case statistics
  /// The definitions of the indexes alone. Of plans that cost the same, one that decides a condition on what the reader sees is preferred,
  /// as that is usually little.
  ///
  /// - Parameter seen: The number of leading conjuncts that are such conditions.
  case structure(seen: Int)
}

extension Planner {
  private func keyOrder(for source: QueryPlan.Source, _ order: QueryPlan.Order) -> KeyOrder {
    guard case .index(let terms) = order, let access = source.driver else { return KeyOrder() }
    return access.keyOrder(terms, after: query.start)
  }
}

extension IndexView {
  /// The sequence up to which all indexes that a source reads are complete, if there are documents above it.
  func completeUpTo(of source: QueryPlan.Source) -> Int64? {
    var completeUpTo = lastSequence
    _ = source.readsIndex { entry in
      completeUpTo = min(completeUpTo, self.completeUpTo(of: entry))
      return false
    }
    return completeUpTo < lastSequence ? completeUpTo : nil
  }
}
