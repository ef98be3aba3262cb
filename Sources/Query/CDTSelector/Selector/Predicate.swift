package import CDTJSON

/// The test of an operator on a value.
///
/// Negations have no case: `$ne` is a ``Clause/not(_:)`` around ``equal(_:)``. Arguments that match nothing, or every
/// present value, were resolved by the parser.
package enum Predicate: Sendable, Hashable {
  case equal(JSONValue)
  case compare(Comparison, JSONValue)
  /// Equal to any of the members, which are sorted and distinct.
  case among([JSONValue])
  case exists
  /// Present, and not null: `{"$gt": null}`.
  case notNull
  case type(JSONType)
  case modulo(Modulo)
  case size(Int)
  case beginsWith(String)
  case regex(RegularExpression)
  case elementMatches(ElementCondition)
  case allElementsMatch(ElementCondition)
  /// A key of an object, as a string, satisfies the operators.
  case keyMatches(Clause)
  /// An operator of a rule with an operand that is computed.
  case computed(ComputedPredicate)
  /// A predicate with strings, which are compared by a collation.
  indirect case collated(Predicate, Collation)

  package enum Comparison: String, Sendable, Hashable {
    case less = "$lt"
    case lessOrEqual = "$lte"
    case greater = "$gt"
    case greaterOrEqual = "$gte"

    package func holds(_ order: Order) -> Bool {
      switch self {
      case .less: order == .ascending
      case .lessOrEqual: order != .descending
      case .greater: order == .descending
      case .greaterOrEqual: order != .ascending
      }
    }

    package var opposite: Comparison {
      switch self {
      case .less: .greaterOrEqual
      case .lessOrEqual: .greater
      case .greater: .lessOrEqual
      case .greaterOrEqual: .less
      }
    }
  }

  /// Whether an array also satisfies the predicate if any of its elements does.
  package var looksIntoArrays: Bool {
    switch self {
    case .equal, .compare, .among, .modulo, .beginsWith, .regex, .keyMatches: true
    // It looks itself, as the operand can depend on the place.
    case .exists, .notNull, .type, .size, .elementMatches, .allElementsMatch, .computed: false
    case .collated(let predicate, _): predicate.looksIntoArrays
    }
  }
}

/// The condition of `$elemMatch` and `$allMatch` on an element.
package enum ElementCondition: Sendable, Hashable {
  /// A selector on the fields of an element that is an object; other elements don't match.
  case fields(Clause)
  /// Operators on the element itself.
  case operators(Clause)
}

/// The JSON types, as named by `$type`.
package enum JSONType: String, Sendable, Hashable, CaseIterable {
  case null, boolean, number, string, array, object
}
