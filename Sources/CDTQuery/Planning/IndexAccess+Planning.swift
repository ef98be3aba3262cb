extension IndexAccess {
  /// What an index can do for a conjunction: the places where its leading fields have the values asked for, and what the
  /// rows that lie there can decide beyond that.
  ///
  /// - Returns: The access, and the numbers of the conjuncts that it decides.
  static func of(
    _ entry: IndexCatalog.Entry, for conjuncts: [Clause], _ conditions: [AskedField]
  ) -> (access: IndexAccess, decided: ConjunctSet) {
    var builder = Builder(entry, conjuncts, conditions)
    builder.seek()
    if entry.isMultiple { builder.filterByFields() } else { builder.filter() }
    return (builder.access, builder.decided)
  }

  /// Whether the access leaves rows out.
  var narrows: Bool { !fields.isEmpty || !filters.isEmpty }

  /// How large the conditions on rows may grow; SQLite takes expressions up to a depth only.
  private static let largestFilters = 200
  /// How many combinations of several fields' values are looked up.
  private static let mostLookups = 10_000

  private struct Builder {
    var access: IndexAccess
    var decided = ConjunctSet()
    let conjuncts: [Clause]
    let conditions: [AskedField]
    var filtersSize = 0

    init(_ entry: IndexCatalog.Entry, _ conjuncts: [Clause], _ conditions: [AskedField]) {
      access = IndexAccess(index: entry)
      self.conjuncts = conjuncts
      self.conditions = conditions
    }

    private var entry: IndexCatalog.Entry { access.index }

    mutating func seek() {
      access.fields.reserveCapacity(entry.definition.fields.count)
      var lookups = 1
      for (number, field) in entry.definition.fields.enumerated() {
        guard let found = narrowest(field.fieldPath) else { return }
        if case .points(let keys) = found.access.access {
          guard number == 0 || lookups * keys.count <= IndexAccess.mostLookups else { return }
          lookups *= keys.count
        }
        access.fields.append(found.access.access)
        if let absence = found.access.absence { access.absence[number] = absence }
        decided.formUnion(found.decided)
        guard case .points = found.access.access else { return }
      }
    }

    /// What is asked of one field. Where it has one value, all its conditions narrow one access; where it may have
    /// several, each could hold for another, so one condition is taken and the others are left.
    private func narrowest(_ path: FieldPath) -> Found? {
      var found: Found?
      for condition in conditions where condition.path == path {
        if condition.isForSingleValues, entry.isMultiple { continue }
        let next = condition.access
        let isExact = next.isExact(isMultiple: entry.isMultiple)
        let alone = Found(
          access: next, conjuncts: ConjunctSet(condition.conjunct),
          decided: isExact ? ConjunctSet(condition.conjunct) : ConjunctSet())
        guard let known = found else {
          found = alone
          continue
        }
        if !entry.isMultiple, let both = known.access.intersection(next) {
          found = Found(
            access: both, conjuncts: known.conjuncts.union(alone.conjuncts),
            decided: known.decided.union(alone.decided))
        } else if next.access.isNarrower(than: known.access.access) {
          found = alone
        }
      }
      return found
    }

    /// What is asked of one field, the conjuncts that ask it, and those of them that it decides.
    private struct Found {
      let access: PredicateAccess
      let conjuncts: ConjunctSet
      let decided: ConjunctSet
    }

    /// A row is a document: whatever its fields can decide, it does.
    mutating func filter() {
      filterByFields()
      for (number, clause) in conjuncts.enumerated() where !decided.contains(number) {
        guard let condition = RowCondition(deciding: clause, in: entry.definition) else { continue }
        if add(condition, clause) { decided.insert(number) }
      }
    }

    /// A row is a combination of a document's values, of which there are all: of each field one access can be asked.
    mutating func filterByFields() {
      for (number, field) in entry.definition.fields.enumerated().dropFirst(access.fields.count) {
        guard let found = narrowest(field.fieldPath) else { continue }
        let condition = RowCondition.field(number, found.access.access, found.access.absence)
        let clause = Clause.all(conjuncts.indices.filter(found.conjuncts.contains).map { conjuncts[$0] })
        if add(condition, clause) { decided.formUnion(found.decided) }
      }
    }

    private mutating func add(_ condition: RowCondition, _ clause: Clause) -> Bool {
      guard filtersSize + condition.size <= IndexAccess.largestFilters else { return false }
      filtersSize += condition.size
      access.filters.append(Filter(clause: clause, condition: condition))
      return true
    }
  }
}

extension PredicateAccess {
  /// The rows that both allow, for a field with one value; `nil` when that can't be said in one access.
  fileprivate func intersection(_ other: PredicateAccess) -> PredicateAccess? {
    guard absence == nil, other.absence == nil, let both = access.intersection(other.access) else {
      return nil
    }
    return PredicateAccess(both)
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
