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
  private let text: TextProgram?

  /// - Parameter store: The datastore's directory, for what is said to the user.
  /// - Throws: ``QueryError`` when there is a text search and no text index.
  package init(_ query: Query, catalog: IndexCatalog, store: String) throws(QueryError) {
    self.query = query
    self.catalog = catalog
    conjuncts = query.selector.clause.conjuncts
    text = try TextProgram.of(query.selector.clause, catalog.text?.definition, store: store)
  }

  /// - Throws: ``QueryError`` with the code `.unknownIndex` when the query wants an index that is not there.
  package func plan() throws(QueryError) -> QueryPlan {
    let wanted = try query.useIndex.map { name throws(QueryError) in
      guard let entry = catalog.entry(named: name) else {
        throw .unknownIndex(name, known: catalog.entries.map(\.definition.name), at: "use_index")
      }
      return entry
    }
    if let wanted, wanted.definition.type == .text, !conjuncts.contains(where: \.isText) {
      throw .textIndexUnused(wanted.definition.name, at: "use_index")
    }
    if case .never = query.selector.clause { return plan(.nothing, because: "") }
    if conjuncts.contains(where: \.isText), text?.root == nil { return plan(.nothing, because: "") }
    if let wanted, wanted.definition.type == .json {
      guard !query.sort.isByScore else { throw .scoreOfOtherIndex(wanted.definition.name, at: "use_index") }
      return plan(.index(access(wanted, for: conjuncts)), because: "the query asks for it")
    }
    let search = textAccess(in: conjuncts)
    if let search, wanted != nil { return plan(.text(search), because: "the query asks for it") }
    if query.sort.isByScore, let search {
      return plan(.text(search), because: "the order goes by its scores")
    }
    if let ids = documentIDs() { return plan(.ids(ids), because: "") }
    let accesses = catalog.ordered.map { access($0, for: conjuncts) }
    let best = accesses.min { cost($0) < cost($1) }
    if let search, best.map({ cost($0) > Self.textCost }) ?? true {
      return plan(.text(search), because: "it costs least")
    }
    if let best, cost(best) < scanCost { return plan(.index(best), because: "it costs least") }
    if let union = unionOfAlternatives() { return plan(.union(union), because: "a branch of $or needs it") }
    return plan(.scan, because: "")
  }

  // MARK: Sources

  /// What a search is expected to cost against reading every document: words are rarer than most values.
  private static let textCost = 0.03

  /// The text index's part in a conjunction, if that has a search.
  private func textAccess(in conjuncts: [Clause]) -> TextAccess? {
    guard conjuncts.contains(where: \.isText), let entry = catalog.text, let query = text?.fullTextQuery
    else {
      return nil
    }
    return TextAccess(index: entry, match: query.text, isExact: query.isExact)
  }

  /// The ids that the selector names, if it does.
  private func documentIDs() -> [String]? {
    for case .field(let path, let predicate) in conjuncts where path.documentField == .id {
      switch predicate {
      case .equal(.string(let id)): return [id]
      case .among(let members):
        return members.compactMap(\.stringValue)
      default: continue
      }
    }
    return nil
  }

  /// What an index can do for a conjunction.
  private func access(_ entry: IndexCatalog.Entry, for conjuncts: [Clause]) -> IndexAccess {
    var fields: [FieldAccess] = []
    var absence: [Int: PredicateAccess.AbsenceFilter] = [:]
    var decided = Set<Clause>()
    for (number, field) in entry.definition.fields.enumerated() {
      guard let found = access(to: field.fieldPath, in: entry, for: conjuncts) else { break }
      fields.append(found.access)
      absence[number] = found.absence
      decided.formUnion(found.decided)
      guard case .points = found.access else { break }
    }
    return IndexAccess(index: entry, fields: fields, absence: absence, decided: decided)
  }

  /// What is asked of one field. Where it has one value, all its predicates narrow one access; where it may have
  /// several, each could hold for another, so one predicate is taken and the others are left to the matcher.
  private func access(
    to path: FieldPath, in entry: IndexCatalog.Entry, for conjuncts: [Clause]
  ) -> (access: FieldAccess, absence: PredicateAccess.AbsenceFilter?, decided: Set<Clause>)? {
    var found: (access: FieldAccess, absence: PredicateAccess.AbsenceFilter?, decided: Set<Clause>)?
    for clause in conjuncts {
      guard case .field(path, let predicate) = clause,
        let next = PredicateAccess.of(predicate, isMultiple: entry.isMultiple)
      else { continue }
      let decided: Set<Clause> = next.isExact ? [clause] : []
      guard let known = found else {
        found = (next.access, next.absence, decided)
        continue
      }
      if !entry.isMultiple, known.absence == nil, next.absence == nil,
        let both = known.access.intersection(next.access)
      {
        found = (both, nil, known.decided.union(decided))
      } else if next.access.isNarrower(than: known.access) {
        found = (next.access, next.absence, decided)
      }
    }
    return found
  }

  /// The accesses of a disjunction, when every branch has one that pays.
  private func unionOfAlternatives() -> [QueryPlan.Branch]? {
    for case .or(let branches) in conjuncts {
      var accesses: [QueryPlan.Branch] = []
      for branch in branches {
        if let search = textAccess(in: branch.conjuncts) {
          accesses.append(.text(search))
          continue
        }
        let candidates = catalog.ordered.map { access($0, for: branch.conjuncts) }
        guard let best = candidates.min(by: { $0.selectivity < $1.selectivity }), best.selectivity < 0.5
        else {
          break
        }
        accesses.append(.index(best))
      }
      if accesses.count == branches.count, accesses.count <= Self.maximumBranches { return accesses }
    }
    return nil
  }

  /// SQLite joins at most 500 selects into one.
  private static let maximumBranches = 100

  // MARK: Cost

  private var scanCost: Double { 1 }

  /// What an access costs against reading every document, by rough rules: a row and its document cost more than a
  /// document met in passing; an index that gives the order lets a limit end the work.
  private func cost(_ access: IndexAccess) -> Double {
    let rows = access.selectivity
    let isSorted = order(for: .index(access)) != .sorted
    if !query.sort.isEmpty, isSorted, query.limit > 0 { return min(rows, 0.3) * 1.1 }
    if !query.sort.isEmpty, isSorted { return rows * 0.99 }
    return rows * 1.5
  }

  // MARK: Order

  private func order(for source: QueryPlan.Source) -> QueryPlan.Order {
    if query.sort.isByScore { return .score }
    guard let first = query.sort.fields.first else { return .unordered }
    if query.sort.fields.count == 1, first.path.documentField == .id {
      switch source {
      case .index, .text, .union: return .sorted
      case .nothing, .scan, .ids: break
      }
      return .id(isDescending: first.isDescending)
    }
    guard case .index(let access) = source, !access.index.isMultiple else { return .sorted }
    return indexOrder(access) ?? .sorted
  }

  /// The index's order from its first field that is not constant on, if the sort asks for just that or its reverse.
  private func indexOrder(_ access: IndexAccess) -> QueryPlan.Order? {
    let fields = access.index.definition.fields
    let sort = query.sort.fields
    for first in 0...access.constantFields where first + sort.count <= fields.count {
      let part = fields[first..<first + sort.count]
      guard zip(part, sort).allSatisfy({ $0.fieldPath == $1.path }) else { continue }
      let reversals = zip(part, sort).map { $0.isDescending != $1.isDescending }
      guard let reversed = reversals.first, reversals.allSatisfy({ $0 == reversed }) else { continue }
      return .index(first: first, count: sort.count, reversed: reversed)
    }
    return nil
  }

  // MARK: Plan

  private func plan(_ source: QueryPlan.Source, because reason: String) -> QueryPlan {
    let clause = query.selector.clause
    let residual: Clause
    switch source {
    case .index(let access): residual = .all(conjuncts.filter { !access.decided.contains($0) })
    case .text(let access): residual = .all(conjuncts.filter { !access.isExact || !$0.isText })
    default: residual = clause
    }
    let description = PlanDescription(query, catalog: catalog, conjuncts: conjuncts)
    return QueryPlan(
      source: source, residual: residual, clause: clause, text: text, order: order(for: source),
      sort: query.sort,
      skip: query.skip, limit: query.limit,
      considered: description.considered(source, because: reason),
      wishedIndex: description.wishedIndex(source))
  }
}

extension FieldAccess {
  /// Points before ranges, fewer points before more.
  fileprivate func isNarrower(than other: FieldAccess) -> Bool {
    switch (self, other) {
    case (.points(let left), .points(let right)): left.count < right.count
    case (.points, .range): true
    case (.range, .points): false
    case (.range(let lower, let upper), .range(let otherLower, let otherUpper)):
      [lower, upper].compactMap(\.self).count > [otherLower, otherUpper].compactMap(\.self).count
    }
  }
}
