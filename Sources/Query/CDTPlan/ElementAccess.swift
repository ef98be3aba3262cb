/// The accesses of an index for `$elemMatch` and `$allMatch`.
///
/// An index has a row for each element of an array. If an element satisfies all conditions, each of its rows satisfies
/// its part: so every condition on the element, or on one of its fields, yields candidates, which are then checked by
/// the matcher.
///
/// ```
/// {"pets": {"$elemMatch": {"kind": "dog", "age": {"$lt": 5}}}}   on an index of "pets.kind"
/// → rows with pets.kind = "dog"; checked by the matcher
/// ```
enum ElementAccess {
  /// The fields of a condition on elements.
  ///
  /// - Parameters:
  ///   - path: The path of the array.
  ///   - conjunct: The position of the conjunct with the condition.
  static func of(_ condition: ElementCondition, in path: FieldPath, _ conjunct: Int) -> [FieldCondition] {
    let clause: Clause
    switch condition {
    case .fields(let inner), .operators(let inner): clause = inner
    }
    return clause.conjuncts.compactMap { member in
      switch member {
      case .value(let predicate):
        PredicateAccess.of(predicate).map {
          FieldCondition(conjunct: conjunct, path: path, access: $0.asCandidates)
        }
      case .field(let inner, let predicate): field(inner, predicate, in: path, conjunct)
      default: nil
      }
    }
  }

  private static func field(
    _ inner: FieldPath, _ predicate: Predicate, in path: FieldPath, _ conjunct: Int
  ) -> FieldCondition? {
    // A position would select an element of the array itself, but in this selector it names a member of the elements.
    guard inner.segments.first?.position == nil else { return nil }
    return PredicateAccess.of(predicate).map {
      FieldCondition(conjunct: conjunct, path: path.appending(inner), access: $0.asCandidates)
    }
  }
}
