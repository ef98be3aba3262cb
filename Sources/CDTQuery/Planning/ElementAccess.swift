/// How an index answers `$elemMatch` and `$allMatch`.
///
/// An index has a row for each element of an array. What an element satisfies as a whole, some row satisfies in part: each
/// condition on the element, or on one of its fields, gives candidates, which the matcher is then asked about.
///
/// ```
/// {"pets": {"$elemMatch": {"kind": "dog", "age": {"$lt": 5}}}}   on an index of "pets.kind"
/// → rows with pets.kind = "dog"; the matcher is asked again
/// ```
enum ElementAccess {
  /// The fields that a condition on elements asks for.
  ///
  /// - Parameters:
  ///   - path: The path of the array.
  ///   - conjunct: The number of the conjunct that has the condition.
  static func of(_ condition: ElementCondition, in path: FieldPath, _ conjunct: Int) -> [AskedField] {
    let clause: Clause
    switch condition {
    case .fields(let inner), .operators(let inner): clause = inner
    }
    return clause.conjuncts.compactMap { member in
      switch member {
      case .value(let predicate):
        PredicateAccess.of(predicate).map {
          AskedField(conjunct: conjunct, path: path, access: $0.asCandidates)
        }
      case .field(let inner, let predicate): field(inner, predicate, in: path, conjunct)
      default: nil
      }
    }
  }

  private static func field(
    _ inner: FieldPath, _ predicate: Predicate, in path: FieldPath, _ conjunct: Int
  ) -> AskedField? {
    // A position would be taken of the array itself, where the selector means a member of its elements.
    guard inner.segments.first?.position == nil else { return nil }
    return PredicateAccess.of(predicate).map {
      AskedField(conjunct: conjunct, path: path.appending(inner), access: $0.asCandidates)
    }
  }
}
