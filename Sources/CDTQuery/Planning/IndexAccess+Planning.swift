extension IndexAccess {
  /// What an index can do for a conjunction: the places where its leading fields have the values asked for, and what the
  /// rows that lie there can decide beyond that.
  ///
  /// - Returns: The access, and the numbers of the conjuncts that it decides.
  static func of(
    _ entry: IndexCatalog.Entry, for conditions: [AskedField]
  ) -> (access: IndexAccess, decided: ConjunctSet) {
    var builder = Builder(entry, conditions)
    builder.seek()
    builder.filter()
    return (builder.access, builder.decided)
  }

  /// Whether the access leaves rows out.
  var narrows: Bool { !fields.isEmpty || !filters.isEmpty }

  /// How many values the filter of a field may have.
  private static let largestFilter = 3_000
  /// How many combinations of several fields' values are looked up.
  private static let mostLookups = 10_000

  private struct Builder {
    var access: IndexAccess
    var decided = ConjunctSet()
    let conditions: [AskedField]

    init(_ entry: IndexCatalog.Entry, _ conditions: [AskedField]) {
      access = IndexAccess(index: entry)
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

    /// What is asked of one field, and the conjuncts that it decides.
    private struct Found {
      let access: PredicateAccess
      let decided: ConjunctSet
    }

    /// Asks the fields behind the first ones. A row is a combination of a document's values, of which there are all, so one
    /// access can be asked of each.
    mutating func filter() {
      for (number, field) in entry.definition.fields.enumerated().dropFirst(access.fields.count) {
        guard let found = narrowest(field.fieldPath) else { continue }
        if case .points(let keys) = found.access.access, keys.count > IndexAccess.largestFilter { continue }
        access.filters.append(
          Filter(field: number, access: found.access.access, absence: found.access.absence))
        decided.formUnion(found.decided)
      }
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
