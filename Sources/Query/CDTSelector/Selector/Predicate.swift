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
  case near(NearCondition)
  /// A place in a region.
  case within(GeoRegion)
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
    case .equal, .compare, .among, .modulo, .beginsWith, .regex, .within, .keyMatches: true
    // It looks itself, as the operand can depend on the place, or all elements count.
    case .exists, .notNull, .type, .size, .elementMatches, .allElementsMatch, .near, .computed: false
    case .collated(let predicate, _): predicate.looksIntoArrays
    }
  }

  /// The types of the values that can satisfy the predicate, apart from the elements of an array.
  package var types: Set<JSONType> {
    switch self {
    case .equal(let value): [JSONType(of: value)]
    case .among(let members): Set(members.map { JSONType(of: $0) })
    case .compare(_, .bool): [.boolean]
    // Numbers and strings are on one scale.
    case .compare: [.number, .string]
    case .exists, .computed: Set(JSONType.allCases)
    case .notNull: Set(JSONType.allCases).subtracting([.null])
    case .type(let type): [type]
    case .modulo: [.number]
    case .beginsWith, .regex: [.string]
    case .size, .elementMatches, .allElementsMatch: [.array]
    case .near(let near): near.place != nil ? [.array, .object] : [.array]
    case .within: [.array, .object]
    case .keyMatches: [.object]
    case .collated(let predicate, _): predicate.types
    }
  }

  /// The type of every value that satisfies the predicate; `nil` if there are several.
  package var onlyType: JSONType? {
    let types = types
    return types.count == 1 ? types.first : nil
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

  package init(of value: JSONValue) {
    switch value {
    case .null: self = .null
    case .bool: self = .boolean
    case .int, .double, .spelled: self = .number
    case .string: self = .string
    case .array: self = .array
    case .object: self = .object
    }
  }

  /// - Returns: `nil` for a byte with which no value begins.
  package init?(_ kind: JSONKind) {
    switch kind {
    case .null: self = .null
    case .true, .false: self = .boolean
    case .number: self = .number
    case .string: self = .string
    case .array: self = .array
    case .object: self = .object
    case .invalid: return nil
    }
  }
}
