/// What a conjunct asks of one field, as an index can answer it.
struct AskedField {
  /// The conjunct's number.
  let conjunct: Int
  let path: FieldPath
  let access: PredicateAccess
  /// Whether it is of use only where the field has one value in each document.
  var isForSingleValues = false

  /// The conditions of conjuncts. Several of one are alternatives: every document that matches satisfies each.
  static func of(_ conjuncts: [Clause]) -> [AskedField] {
    var conditions: [AskedField] = []
    conditions.reserveCapacity(conjuncts.count)
    for (number, clause) in conjuncts.enumerated() { append(clause, number, to: &conditions) }
    return conditions
  }

  private static func append(_ clause: Clause, _ conjunct: Int, to conditions: inout [AskedField]) {
    switch clause {
    case .field(let path, _) where path.documentField != nil: break
    case .field(let path, .notNull):
      conditions.append(
        AskedField(conjunct: conjunct, path: path, access: .notNull, isForSingleValues: true))
    case .field(let path, .elementMatches(let condition)), .field(let path, .allElementsMatch(let condition)):
      conditions += elements(condition, of: path, conjunct)
    case .field(let path, let predicate):
      guard let access = PredicateAccess.of(predicate) else { return }
      conditions.append(AskedField(conjunct: conjunct, path: path, access: access))
    case .not(.field(let path, .exists)) where path.documentField == nil:
      conditions.append(AskedField(conjunct: conjunct, path: path, access: .missing))
    default: break
    }
  }

  /// What one element satisfies, some row of the document satisfies: an index has a row for each element.
  private static func elements(
    _ condition: ElementCondition, of path: FieldPath, _ conjunct: Int
  ) -> [AskedField] {
    let clause: Clause
    switch condition {
    case .fields(let inner), .operators(let inner): clause = inner
    }
    return clause.conjuncts.compactMap { member in
      switch member {
      case .value(let predicate):
        guard let access = PredicateAccess.of(predicate) else { return nil }
        return AskedField(conjunct: conjunct, path: path, access: access.asCandidates)
      case .field(let inner, let predicate):
        // A position would be taken of the array itself, where the selector means a member of its elements.
        guard inner.segments.first?.position == nil, let access = PredicateAccess.of(predicate) else {
          return nil
        }
        return AskedField(
          conjunct: conjunct, path: path.appending(inner), access: access.asCandidates)
      default: return nil
      }
    }
  }
}
