/// The condition of a conjunct on one field, as an index can answer it.
package struct FieldCondition {
  /// The conjunct's position.
  let conjunct: Int
  package let path: FieldPath
  package let access: PredicateAccess
  /// Whether it can only be used if the field has one value in each document.
  package var isForSingleValues = false

  /// The conditions of conjuncts. Several conditions of one conjunct are alternatives: every matching document
  /// satisfies each.
  package static func of(_ conjuncts: [Clause]) -> [FieldCondition] {
    var conditions: [FieldCondition] = []
    conditions.reserveCapacity(conjuncts.count)
    for (number, clause) in conjuncts.enumerated() { append(clause, number, to: &conditions) }
    return conditions
  }

  private static func append(_ clause: Clause, _ conjunct: Int, to conditions: inout [FieldCondition]) {
    switch clause {
    case .field(let path, .notNull):
      conditions.append(
        FieldCondition(conjunct: conjunct, path: path, access: .notNull, isForSingleValues: true))
    case .field(let path, .elementMatches(let condition)), .field(let path, .allElementsMatch(let condition)):
      conditions += ElementAccess.of(condition, in: path, conjunct)
    case .field(let path, let predicate):
      if let access = PredicateAccess.cells(of: predicate) {
        conditions.append(FieldCondition(conjunct: conjunct, path: path.cells, access: access))
      }
      guard let access = PredicateAccess.of(predicate) else { return }
      conditions.append(FieldCondition(conjunct: conjunct, path: path, access: access))
    // No access to a pattern is exact, so the matcher decides.
    case .rule(.guarded(let clause)): append(clause, conjunct, to: &conditions)
    case .not(.field(let path, .exists)):
      conditions.append(FieldCondition(conjunct: conjunct, path: path, access: .missing))
    default: break
    }
  }
}

/// The conditions of a conjunction on `_id`.
package struct IDCondition {
  /// The ids that they leave.
  private(set) var range = IDRange()
  /// The conjuncts that the range decides.
  private(set) var decided = ConjunctSet()
  /// Whether there are any; the results are then in the order of the ids unless the query has a sort.
  package private(set) var isRequested = false

  init(_ conditions: [FieldCondition]) {
    for condition in conditions where condition.path.documentField == .id {
      guard let range = IDRange(condition.access.access) else { continue }
      self.range.formIntersection(range)
      // Each document has one id.
      if condition.access.isExact(isMultiple: false) { decided.insert(condition.conjunct) }
    }
  }

  package init(_ conjuncts: [Clause], _ conditions: [FieldCondition]) {
    self.init(conditions)
    isRequested = conjuncts.contains { clause in
      if case .field(let path, _) = clause { path.documentField == .id } else { false }
    }
  }
}
