import JSON

/// Chooses how to answer a query.
///
/// ```
/// {"name": "mike", "age": {"$gte": 12}} with the index (name, age)
/// → rows with name = mike and age ≥ 12; nothing left to the matcher
/// ```
///
/// A plan changes what a query costs, never its answer: sources hold every match, and whatever they do not decide
/// stays with the matcher.
package struct Planner {
  private let query: Query
  private let catalog: IndexCatalog
  private let conjuncts: [Clause]
  private let conditions: [AskedField]
  private let text: TextProgram?
  private let output: QuerySQL.Output
  private let lastSequence: Int64
  private let estimator: Estimator
  /// Whether only some of the results are wanted, or in an order, so that it bears on the cost how many there are.
  private let isPartial: Bool
  /// What a document costs that is not in the indexes yet.
  private let costOfTail: Double

  /// - Parameters:
  ///   - output: What is wanted of the matches.
  ///   - lastSequence: The newest sequence: what lies above an index's watermark is read beside it.
  ///   - store: The datastore's directory, for what is said to the user.
  /// - Throws: ``QueryError`` when there is a text search and no text index.
  package init(
    _ query: Query, catalog: IndexCatalog, output: QuerySQL.Output = .documents, lastSequence: Int64,
    store: String
  ) throws(QueryError) {
    self.query = query
    self.catalog = catalog
    self.output = output
    self.lastSequence = lastSequence
    conjuncts = query.selector.clause.conjuncts
    conditions = AskedField.of(conjuncts)
    text = try TextProgram.of(query.selector.clause, catalog.text?.definition, store: store)
    estimator = Estimator(catalog)
    isPartial = query.limit > 0 || query.skip > 0 || output == .exists || !query.sort.isEmpty
    // Where documents are wanted, those that can't match for lack of a value are not even met.
    let isLookedInto =
      catalog.hasTail(upTo: lastSequence) && output == .documents
      && RequiredValues(of: query.selector.clause) != nil
    costOfTail = isLookedInto ? Cost.noted : Cost.scanned
  }

  /// - Throws: ``QueryError`` with the code `.unknownIndex` when the query wants an index that is not there.
  package func plan() throws(QueryError) -> QueryPlan {
    let wanted = try query.useIndex.map { name throws(QueryError) in try wantedIndex(name) }
    if case .never = query.selector.clause { return nothing }
    if conjuncts.contains(where: \.isText), text?.root == nil { return nothing }
    let search = search(in: conjuncts)
    if let wanted {
      guard wanted.definition.type == .text || !query.sort.isByScore else {
        throw .scoreOfOtherIndex(wanted.definition.name, at: "use_index")
      }
      let candidate = wanted.definition.type == .text ? search : candidate(wanted, for: conjuncts, conditions)
      return plan(candidate ?? scan, because: "the query asks for it")
    }
    if query.sort.isByScore, let search { return plan(search, because: "the order goes by its scores") }
    if let number = query.forcedWay {
      let ways = ways(search)
      return plan(ways[number % ways.count], because: "a test asks for it")
    }
    if let ids = documentIDs(in: conjuncts) { return plan(ids, because: "") }
    if catalog.entries.isEmpty { return plan(scan, because: "") }
    return plan(cheapest(search), because: "it costs least")
  }

  private func wantedIndex(_ name: String) throws(QueryError) -> IndexCatalog.Entry {
    let entry = try catalog.entry(wanted: name, at: "use_index")
    if entry.definition.type == .text, !conjuncts.contains(where: \.isText) {
      throw .textIndexUnused(name, at: "use_index")
    }
    return entry
  }

  /// How many ways there are for `forcedWay` to choose from.
  package var ways: Int { ways(search(in: conjuncts)).count }

  // MARK: Sources

  private var nothing: QueryPlan {
    plan(Candidate(source: .nothing, rows: 0, found: 0), because: "")
  }

  private var scan: Candidate {
    Candidate(source: .scan, rows: estimator.documents, found: estimator.documents)
  }

  /// The text index's part in a conjunction, if that has a search.
  private func search(in conjuncts: [Clause]) -> Candidate? {
    guard let number = conjuncts.firstIndex(where: \.isText), let entry = catalog.text,
      let query = text?.fullTextQuery
    else { return nil }
    let access = TextAccess(index: entry, match: query.text, isExact: query.isExact)
    let found = estimator.documents * Estimator.textPart
    return Candidate(
      source: .text(access), decided: access.isExact ? ConjunctSet(number) : ConjunctSet(), rows: found,
      found: found)
  }

  /// The documents whose ids the conjunction names, if it does.
  private func documentIDs(in conjuncts: [Clause]) -> Candidate? {
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

  private func candidate(
    _ entry: IndexCatalog.Entry, for conjuncts: [Clause], _ conditions: [AskedField]
  ) -> Candidate {
    let (access, decided) = IndexAccess.of(entry, for: conjuncts, conditions)
    let estimate = estimator.estimate(access)
    return Candidate(
      source: .index(access), decided: decided, rows: estimate.rows, seeks: access.seeks,
      found: estimate.found)
  }

  /// The accesses of a disjunction, when every branch has one. What is asked beside the disjunction narrows each branch.
  private func union(_ branches: [Clause], _ number: Int) -> Candidate? {
    guard branches.count <= Self.maximumBranches else { return nil }
    let beside = conjuncts.indices.filter { $0 != number }
    var union = Candidate(
      source: .nothing, decided: ConjunctSet(upTo: conjuncts.count), rows: 0, seeks: 0, found: 0)
    var sources: [QueryPlan.Source] = []
    for branch in branches {
      let own = branch.conjuncts
      guard let best = branchCandidate(own, beside.map { conjuncts[$0] }) else { return nil }
      // What too many combinations keep out of an index is found among its other documents, by the matcher.
      let isApart = best.source.indexes.contains(where: \.hasApart)
      let isDecided = !isApart && own.indices.allSatisfy(best.decided.contains)
      var decided = isDecided ? ConjunctSet(number) : ConjunctSet()
      for (offset, other) in beside.enumerated() where !isApart && best.decided.contains(own.count + offset) {
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
    let conditions = AskedField.of(conjuncts)
    return catalog.ordered.map { candidate($0, for: conjuncts, conditions) }
      .filter { $0.source.driver?.narrows == true }
      .min { branchCost($0, conjuncts) < branchCost($1, conjuncts) }
  }

  private func branchCost(_ branch: Candidate, _ conjuncts: [Clause]) -> Double {
    let reads = output == .documents || branch.decided.count < conjuncts.count
    return branch.rows * Cost.row + branch.seeks * Cost.seek + (reads ? branch.found * Cost.document : 0)
  }

  /// SQLite joins at most 500 selects into one.
  private static let maximumBranches = 100

  // MARK: Choice

  private func cheapest(_ search: Candidate?) -> Candidate {
    let sources = sources(search)
    var best: Candidate?
    var least = Double.infinity
    for source in sources { choose(source, &best, &least) }
    // Telling what a scan would cost takes an estimate of every conjunct.
    if least >= leastCostOfScan {
      let cost = costOfScan
      if cost <= least { (best, least) = (scan, cost) }
    }
    if least > Self.worthIntersecting {
      for source in intersections(sources) { choose(source, &best, &least) }
    }
    return best ?? scan
  }

  private func choose(_ candidate: Candidate, _ best: inout Candidate?, _ least: inout Double) {
    let cost = cost(candidate)
    if cost < least { (best, least) = (candidate, cost) }
  }

  /// What a scan is expected to cost.
  var costOfScan: Double { cost(scan) }

  /// What a scan costs at least, whatever the selector: every document is a result.
  var leastCostOfScan: Double {
    let isStreamed = limit > 0 && order(for: .scan).isStreamed
    let share = isStreamed ? min(1, limit / estimator.documents) : 1
    return Cost.seek + estimator.documents * share * Cost.scanned
  }

  /// What single indexes and unions of them can do.
  private func sources(_ search: Candidate?) -> [Candidate] {
    var sources: [Candidate] = []
    for entry in catalog.ordered where mayHelp(entry) {
      sources.append(candidate(entry, for: conjuncts, conditions))
    }
    if let search { sources.append(search) }
    for case (let number, .or(let branches)) in conjuncts.enumerated() {
      if let union = union(branches, number) { sources.append(union) }
    }
    return sources
  }

  /// Whether the selector or the sort asks for a field of the index. To tell all documents, any index will do.
  private func mayHelp(_ entry: IndexCatalog.Entry) -> Bool {
    if conjuncts.isEmpty { return true }
    for field in entry.definition.fields {
      let path = field.fieldPath
      for condition in conditions where condition.path == path { return true }
      for field in query.sort.fields where field.path == path { return true }
      for clause in conjuncts where clause.asks(of: path) { return true }
    }
    return false
  }

  /// Every source, whatever it costs.
  private func ways(_ search: Candidate?) -> [Candidate] {
    let sources = sources(search)
    return sources + intersections(sources) + [documentIDs(in: conjuncts), scan].compactMap(\.self)
  }

  /// A plan that costs less is not worth looking for a better one.
  private static let worthIntersecting = 500.0
  /// How many of the narrowest sources are intersected.
  private static let intersected = 4

  /// What the sources that narrow most give together: rows of one whose sequences the others have too.
  private func intersections(_ sources: [Candidate]) -> [Candidate] {
    let narrow = sources.filter { $0.source.driver?.narrows ?? true }
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
    return found
  }

  // MARK: Cost

  /// What a source is expected to cost, in ``Cost``'s units.
  private func cost(_ candidate: Candidate) -> Double {
    let order = order(for: candidate.source)
    let hasRest = candidate.decided.count < conjuncts.count
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
      if reads { cost += documentsRead(candidate, order, results, hasRest: hasRest) * share }
      cost += tail(candidate.source) * costOfTail
    }
    switch order {
    case .sorted: cost += results * Cost.sorted
    case .columns: cost += results * Cost.sortedRow
    default: break
    }
    return cost
  }

  private func documentsRead(
    _ candidate: Candidate, _ order: QueryPlan.Order, _ results: Double, hasRest: Bool
  ) -> Double {
    if case .columns = order, !hasRest, limit > 0 { return min(results, limit) * Cost.document }
    return candidate.found * Cost.document
  }

  /// How many results are wanted, or 0 for all of them.
  private var limit: Double {
    if output == .exists { return 1 }
    // Without an order the plan gives one, so every page must have the same plan.
    if query.sort.isEmpty { return query.limit > 0 || query.skip > 0 ? Cost.page : 0 }
    return query.limit > 0 ? Double(query.limit) + Double(query.skip) : 0
  }

  /// How many documents lie above the watermarks.
  private func tail(_ source: QueryPlan.Source) -> Double {
    min(source.floor(upTo: lastSequence).map { Double(lastSequence - $0) } ?? 0, estimator.documents)
  }

  // MARK: Order

  private func order(for source: QueryPlan.Source) -> QueryPlan.Order {
    if query.sort.isByScore { return .score }
    guard let first = query.sort.fields.first, output != .count, output != .exists else { return .unordered }
    if query.sort.fields.count == 1, first.path.documentField == .id {
      switch source {
      case .index, .text, .union, .intersection: return .sorted
      case .nothing, .scan, .ids: break
      }
      return .id(isDescending: first.isDescending)
    }
    guard let access = source.driver, !access.index.isMultiple else { return .sorted }
    return indexOrder(access) ?? columnOrder(access) ?? .sorted
  }

  /// The index's order from its first field that is not constant on, if the sort asks for just that or its reverse.
  private func indexOrder(_ access: IndexAccess) -> QueryPlan.Order? {
    let fields = access.index.definition.fields
    let sort = query.sort.fields
    for first in 0...access.constantFields where first + sort.count <= fields.count {
      // Several values of one field are looked up one after the other, and their rows then sorted.
      guard access.fields.dropFirst(first).allSatisfy(\.isContiguous) else { continue }
      let part = fields[first..<first + sort.count]
      guard zip(part, sort).allSatisfy({ $0.fieldPath == $1.path }) else { continue }
      let reversals = zip(part, sort).map { $0.isDescending != $1.isDescending }
      guard let reversed = reversals.first, reversals.allSatisfy({ $0 == reversed }) else { continue }
      return .index(first: first, count: sort.count, reversed: reversed)
    }
    return nil
  }

  /// The fields of the index that the sort asks for, if it has them all.
  private func columnOrder(_ access: IndexAccess) -> QueryPlan.Order? {
    var columns: [Int] = []
    for field in query.sort.fields {
      guard let column = access.index.definition.fields.firstIndex(where: { $0.fieldPath == field.path })
      else { return nil }
      columns.append(column)
    }
    return .columns(columns)
  }

  // MARK: Plan

  private func plan(_ candidate: Candidate, because reason: String) -> QueryPlan {
    var rest: [Clause] = []
    for number in conjuncts.indices where !candidate.decided.contains(number) {
      rest.append(conjuncts[number])
    }
    return QueryPlan(
      source: candidate.source, residual: .all(rest), clause: query.selector.clause,
      text: text,
      order: order(for: candidate.source), sort: query.sort, skip: query.skip, limit: query.limit,
      reason: reason)
  }
}

extension Clause {
  /// Whether a field is asked for anywhere in the clause.
  fileprivate func asks(of path: FieldPath) -> Bool {
    switch self {
    case .and(let members), .or(let members): members.contains { $0.asks(of: path) }
    case .not(let member): member.asks(of: path)
    case .field(path, _): true
    case .always, .never, .field, .text, .value: false
    }
  }
}

extension IndexAccess {
  /// How many places are looked up.
  fileprivate var seeks: Double {
    fields.reduce(1) { seeks, field in
      if case .points(let keys) = field { seeks * Double(keys.count) } else { seeks }
    }
  }
}

extension FieldAccess {
  /// Whether the rows lie together.
  fileprivate var isContiguous: Bool {
    if case .points(let keys) = self { keys.count == 1 } else { true }
  }
}
