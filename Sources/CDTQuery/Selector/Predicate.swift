package import JSON

/// What an operator asks of one value.
///
/// Complements have no case of their own: `$ne` is a ``Clause/not(_:)`` around ``equal(_:)``. Arguments that can match
/// nothing, or every value that is present, have been resolved when the selector was parsed.
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
  /// One of an object's keys, as a string, satisfies operators.
  case keyMatches(Clause)

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
  }

  /// Whether the predicate holds for an array when it holds for any of its elements.
  package var looksIntoArrays: Bool {
    switch self {
    case .equal, .compare, .among, .modulo, .beginsWith, .regex, .keyMatches: true
    case .exists, .notNull, .type, .size, .elementMatches, .allElementsMatch: false
    }
  }
}

/// What `$elemMatch` and `$allMatch` ask of an element.
package enum ElementCondition: Sendable, Hashable {
  /// A selector: of the fields of an element that is an object; no other element matches.
  case fields(Clause)
  /// Operators: of the element itself.
  case operators(Clause)
}

/// How one value stands to another.
package enum Order: Sendable, Hashable {
  case ascending, same, descending
}

/// The types of JSON, as `$type` names them.
package enum JSONType: String, Sendable, Hashable, CaseIterable {
  case null, boolean, number, string, array, object
}
