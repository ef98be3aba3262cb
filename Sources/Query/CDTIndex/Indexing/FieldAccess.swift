import CDTJSON

/// The keys of an index that match one field's condition: points, or one range.
package enum FieldAccess: Sendable, Hashable {
  /// Keys, sorted and distinct.
  case points([IndexKey])
  case range(lower: IndexKey.Bound?, upper: IndexKey.Bound?)
}

extension FieldAccess {
  /// Whether its keys depend on how strings are compared.
  package var hasStrings: Bool {
    switch self {
    case .points(let keys): keys.contains { $0.tag >= .string }
    case .range(let lower, let upper): [lower, upper].contains { $0?.isString ?? false }
    }
  }

  /// The keys in both, for a field with one value; `nil` if one access can't express them.
  package func intersection(_ other: FieldAccess) -> FieldAccess? {
    switch (self, other) {
    case (.points(let left), .points(let right)):
      return .points(left.filter(Set(right).contains))
    case (.points(let keys), .range(let lower, let upper)), (.range(let lower, let upper), .points(let keys)):
      return .points(
        keys.filter { key in
          (lower.map { $0.isAtOrBelow(key) } ?? true) && (upper.map { $0.isAtOrAbove(key) } ?? true)
        })
    case (.range(let lower, let upper), .range(let otherLower, let otherUpper)):
      return .range(
        lower: Self.tighter(lower, otherLower) { $0.isLowerThan($1, asLower: true) },
        upper: Self.tighter(upper, otherUpper) { $1.isLowerThan($0, asLower: false) })
    }
  }

  private static func tighter(
    _ left: IndexKey.Bound?, _ right: IndexKey.Bound?, _ isLooser: (IndexKey.Bound, IndexKey.Bound) -> Bool
  ) -> IndexKey.Bound? {
    guard let left else { return right }
    guard let right else { return left }
    return isLooser(left, right) ? right : left
  }
}
