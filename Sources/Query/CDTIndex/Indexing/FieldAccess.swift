package import CDTJSON

/// The values of an index that match one field's condition: points, or one range.
package enum FieldAccess: Sendable, Hashable {
  /// Keys of values, sorted and distinct.
  case points([OrderKey])
  /// The values of a half-open range: `lower ..< upper`.
  case range(lower: OrderKey?, upper: OrderKey?)
}

extension FieldAccess {
  /// Whether its keys depend on how strings are compared.
  package var hasStrings: Bool {
    switch self {
    case .points(let keys): keys.contains { $0 >= .firstString }
    case .range(let lower, let upper):
      [lower, upper].contains { $0.map { $0.bytes.first == OrderKey.string && !$0.isTypeBound } ?? false }
    }
  }

  /// The values in both, for a field with one value.
  package func intersection(_ other: FieldAccess) -> FieldAccess {
    switch (self, other) {
    case (.points(let left), .points(let right)):
      return .points(left.filter(Set(right).contains))
    case (.points(let keys), .range(let lower, let upper)), (.range(let lower, let upper), .points(let keys)):
      return .points(keys.filter { key in lower.map { $0 <= key } ?? true && upper.map { key < $0 } ?? true })
    case (.range(let lower, let upper), .range(let otherLower, let otherUpper)):
      return .range(lower: Self.greater(lower, otherLower), upper: Self.lesser(upper, otherUpper))
    }
  }

  /// The greater of two lower bounds.
  package static func greater(_ left: OrderKey?, _ right: OrderKey?) -> OrderKey? {
    guard let left, let right else { return left ?? right }
    return left < right ? right : left
  }

  /// The lesser of two upper bounds.
  package static func lesser(_ left: OrderKey?, _ right: OrderKey?) -> OrderKey? {
    guard let left, let right else { return left ?? right }
    return right < left ? right : left
  }
}
