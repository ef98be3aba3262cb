extension IndexAccess {
  /// The access of an index to a conjunction: the seeks on its leading fields, and the filters on the rows found
  /// there.
  ///
  /// - Returns: The access, and the conjuncts that it decides.
  static func of(
    _ entry: IndexCatalog.Entry, for conditions: [FieldCondition]
  ) -> (access: IndexAccess, decided: ConjunctSet) {
    var builder = Builder(entry, conditions)
    // The rows of a summary have arrays as they are, for which a condition on an element does not look.
    if entry.definition.groupedFields == nil || !entry.isMultiple {
      builder.seek()
      builder.filter()
    }
    builder.filterIDs()
    return (builder.access, builder.decided)
  }

  /// Whether the access excludes documents.
  package var narrows: Bool { !fields.isEmpty || !filters.isEmpty || index.definition.filter != nil }

  /// The maximum number of values in a field's filter.
  private static let largestFilter = 3_000
  /// The maximum number of combinations of values that are looked up.
  private static let maximumLookups = 10_000

  private struct Builder {
    let entry: IndexCatalog.Entry
    let conditions: [FieldCondition]
    private var fields: [FieldAccess] = []
    private var absence: [Int: PredicateAccess.AbsenceFilter] = [:]
    private var filters: [Filter] = []
    private var ids = IDRange()
    private(set) var decided = ConjunctSet()

    init(_ entry: IndexCatalog.Entry, _ conditions: [FieldCondition]) {
      (self.entry, self.conditions) = (entry, conditions)
    }

    var access: IndexAccess { IndexAccess(entry, fields, absence: absence, filters: filters, ids: ids) }

    mutating func seek() {
      fields.reserveCapacity(entry.definition.fields.count)
      var lookups = 1
      for (number, field) in entry.definition.fields.enumerated() {
        guard let found = narrowest(field.fieldPath) else { return }
        if case .points(let keys) = found.access.access {
          guard number == 0 || lookups * keys.count <= IndexAccess.maximumLookups else { return }
          lookups *= keys.count
        }
        if case .ranges(let ranges) = found.access.access, lookups * ranges.count > IndexAccess.maximumLookups
        {
          return
        }
        fields.append(found.access.access)
        if let absence = found.access.absence { self.absence[number] = absence }
        decided.formUnion(found.decided)
        guard case .points = found.access.access else { return }
      }
    }

    /// The access for one field. If the field has one value, all its conditions narrow one access; if it may have
    /// several, each condition could hold for a different value, so only one is used.
    private func narrowest(_ path: FieldPath) -> Found? {
      var found: Found?
      for condition in conditions where condition.path == path {
        if condition.isForSingleValues, entry.isMultiple { continue }
        guard condition.access.isUsable(by: entry.definition.collation) else { continue }
        let next = condition.access
        let isExact = next.isExact(isMultiple: entry.isMultiple)
        let alone = Found(
          access: next, decided: isExact ? ConjunctSet(condition.conjunct) : ConjunctSet())
        guard let known = found else {
          found = alone
          continue
        }
        if !entry.isMultiple, let both = known.access.intersection(next) {
          found = Found(access: both, decided: known.decided.union(alone.decided))
        } else if next.access.isNarrower(than: known.access.access) {
          found = alone
        }
      }
      return found
    }

    /// The access to one field, and the conjuncts that it decides.
    private struct Found {
      let access: PredicateAccess
      let decided: ConjunctSet
    }

    /// Filters by the fields after the leading ones. A document has a row for every combination of its values, so each
    /// field can be filtered independently.
    mutating func filter() {
      for (number, field) in entry.definition.fields.enumerated().dropFirst(fields.count) {
        guard let found = narrowest(field.fieldPath) else { continue }
        if case .points(let keys) = found.access.access, keys.count > IndexAccess.largestFilter { continue }
        filters.append(
          Filter(field: number, access: found.access.access, absence: found.access.absence))
        decided.formUnion(found.decided)
      }
    }

    /// Filters by the ids, which end each row's key.
    mutating func filterIDs() {
      let found = IDCondition(conditions)
      ids = found.range
      decided.formUnion(found.decided)
    }
  }
}

extension PredicateAccess {
  /// The rows in both, for a field with one value; `nil` if one access can't express them.
  fileprivate func intersection(_ other: PredicateAccess) -> PredicateAccess? {
    guard absence == nil, other.absence == nil else { return nil }
    return PredicateAccess(access.intersection(other.access))
  }
}

extension FieldAccess {
  /// Points before ranges, then fewer points before more.
  fileprivate func isNarrower(than other: FieldAccess) -> Bool {
    switch (self, other) {
    case (.points(let left), .points(let right)): left.count < right.count
    case (.points, _): true
    case (_, .points): false
    // The maximum number of ranges tells nothing of how much is in them.
    case (.ranges(let left), .ranges(let right)): left.count < right.count
    case (.ranges, .range): true
    case (.range, .ranges): false
    case (.range(let lower, let upper), .range(let otherLower, let otherUpper)):
      [lower, upper].compactMap(\.self).count > [otherLower, otherUpper].compactMap(\.self).count
    }
  }
}
