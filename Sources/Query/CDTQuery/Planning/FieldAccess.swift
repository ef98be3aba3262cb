import CDTJSON

/// The keys of an index that match one field's condition: points, or one range.
package enum FieldAccess: Sendable, Hashable {
  /// A bound of a range: a key, or all keys of a type.
  package enum Bound: Sendable, Hashable {
    case key(IndexKey, inclusive: Bool)
    case tag(IndexKey.Tag)

    fileprivate var isString: Bool { if case .key(let key, _) = self { key.tag == .string } else { false } }
  }

  /// Keys, sorted and distinct.
  case points([IndexKey])
  case range(lower: Bound?, upper: Bound?)
}

extension FieldAccess {
  /// Whether its keys depend on how strings are compared.
  var hasStrings: Bool {
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

  private static func tighter(_ left: Bound?, _ right: Bound?, _ isLooser: (Bound, Bound) -> Bool) -> Bound? {
    guard let left else { return right }
    guard let right else { return left }
    return isLooser(left, right) ? right : left
  }
}

extension FieldAccess.Bound {
  func isAtOrBelow(_ key: IndexKey) -> Bool {
    switch self {
    case .key(let bound, let inclusive): inclusive ? bound <= key : bound < key
    case .tag(let tag): tag <= key.tag
    }
  }

  func isAtOrAbove(_ key: IndexKey) -> Bool {
    switch self {
    case .key(let bound, let inclusive): inclusive ? bound >= key : bound > key
    case .tag(let tag): tag >= key.tag
    }
  }

  /// Whether this bound comes before the other; both are lower bounds or both are upper bounds.
  func isLowerThan(_ other: FieldAccess.Bound, asLower: Bool) -> Bool {
    switch (self, other) {
    case (.tag(let left), .tag(let right)): return left < right
    case (.tag(let left), .key(let right, _)): return asLower ? left <= right.tag : left < right.tag
    case (.key(let left, _), .tag(let right)): return asLower ? left.tag < right : left.tag <= right
    case (.key(let left, let leftInclusive), .key(let right, let rightInclusive)):
      if left != right { return left < right }
      return asLower ? leftInclusive && !rightInclusive : !leftInclusive && rightInclusive
    }
  }
}
