/// What a conjunct asks of one field, as an index can answer it.
struct AskedField {
  /// The conjunct's number.
  let conjunct: Int
  let path: FieldPath
  let access: PredicateAccess
  /// Whether it is of use only where the field has one value in each document.
  var isForSingleValues = false

  /// The conditions of a conjunct. Several are alternatives: every document that matches satisfies each.
  static func of(_ clause: Clause, _ conjunct: Int) -> [AskedField] {
    switch clause {
    case .field(let path, _) where path.documentField != nil: []
    case .field(let path, .notNull):
      [AskedField(conjunct: conjunct, path: path, access: .notNull, isForSingleValues: true)]
    case .field(let path, .elementMatches(let condition)), .field(let path, .allElementsMatch(let condition)):
      elements(condition, of: path, conjunct)
    case .field(let path, let predicate):
      PredicateAccess.of(predicate).map {
        [AskedField(conjunct: conjunct, path: path, access: $0)]
      } ?? []
    case .not(.field(let path, .exists)) where path.documentField == nil:
      [AskedField(conjunct: conjunct, path: path, access: .missing)]
    default: []
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
