import CDTJSON

/// The access of an index to one predicate.
package struct PredicateAccess: Sendable, Hashable {
  package let access: FieldAccess
  /// The condition on why rows have no value.
  package var absence: AbsenceFilter?
  package var exactness = Exactness.always
  /// The collation by which the strings of the access are folded.
  package var collation: Collation?

  package enum AbsenceFilter: Sendable, Hashable {
    case only(Int)
    case except(Int)
  }

  /// Whether all rows are of matching documents; otherwise they are checked by the matcher.
  package enum Exactness: Sendable, Hashable {
    case always
    /// In an index whose fields have one value each.
    case forSingleValues
    case never
  }

  init(
    _ access: FieldAccess, absence: AbsenceFilter? = nil, exactness: Exactness = .always
  ) {
    self.access = access
    self.absence = absence
    self.exactness = exactness
  }

  package func isExact(isMultiple: Bool) -> Bool {
    switch exactness {
    case .always: true
    case .forSingleValues: !isMultiple
    case .never: false
    }
  }

  /// The access, with its rows checked by the matcher.
  package var asCandidates: PredicateAccess {
    var access = self
    access.exactness = .never
    return access
  }

  /// Whether an index with a collation, or without one, has such keys.
  package func isUsable(by collation: Collation?) -> Bool {
    collation == self.collation || !access.hasStrings
  }

  /// Rows of documents without the field.
  package static let missing = PredicateAccess(
    .points([.nothing]), absence: .only(IndexRows.Absence.missing))

  /// Rows with any value but null. An array that contains null is not null, so this is only for fields with one value.
  package static let notNull = PredicateAccess(.range(lower: .firstBoolean, upper: nil))

  package static func of(_ predicate: Predicate) -> PredicateAccess? {
    switch predicate {
    case .equal(let value): equality(value)
    case .among(let members): membership(members)
    case .compare(let comparison, let value): range(comparison, value)
    case .exists:
      PredicateAccess(.range(lower: nil, upper: nil), absence: .except(IndexRows.Absence.missing))
    case .notNull: nil
    case .beginsWith(let prefix): PredicateAccess(prefixRange(Array(prefix.utf8)))
    case .regex(let expression):
      expression.literalPrefix.map {
        PredicateAccess(prefixRange(Array($0.utf8)), exactness: .never)
      }
    case .modulo:
      PredicateAccess(.range(lower: .firstNumber, upper: .firstString), exactness: .never)
    case .type(let type): typeRange(type)
    case .size, .near, .within, .elementMatches, .allElementsMatch, .keyMatches, .computed: nil
    case .collated(let predicate, let collation):
      of(predicate.folded(by: collation) ?? predicate).map { access in
        var access = access
        access.collation = collation
        return access
      }
    }
  }

  /// The cells in which a place is that satisfies a predicate; `nil` if it is not about places.
  static func cells(of predicate: Predicate) -> PredicateAccess? {
    switch predicate {
    case .within(let region): PredicateAccess(.cells(region.cellRanges), exactness: .never)
    case .near(let near): near.place.map { PredicateAccess(near.cells(around: $0), exactness: .never) }
    default: nil
    }
  }

  private static func equality(_ value: JSONValue) -> PredicateAccess? {
    switch value {
    case .null: PredicateAccess(.points([.nothing]), absence: .only(IndexRows.Absence.null))
    case .array(let elements):
      // The whole array has a row for each element; as an element of another array it has its own row.
      elements.first.map {
        PredicateAccess(.points(sorted([OrderKey($0), OrderKey(value)])), exactness: .never)
      }
    default: PredicateAccess(.points([OrderKey(value)]))
    }
  }

  private static func membership(_ members: [JSONValue]) -> PredicateAccess? {
    var keys: [OrderKey] = []
    var exactness = Exactness.always
    for member in members {
      switch member {
      case .null: exactness = .never
      case .array(let elements):
        guard let first = elements.first else { return nil }
        exactness = .never
        keys.append(OrderKey(first))
      default: break
      }
      keys.append(OrderKey(member))
    }
    return PredicateAccess(.points(sorted(keys)), exactness: exactness)
  }

  private static func range(
    _ comparison: Predicate.Comparison, _ value: JSONValue
  ) -> PredicateAccess? {
    if case .bool(let bool) = value {
      var points: [OrderKey] = []
      if comparison.holds(bool ? .ascending : .same) { points.append(OrderKey(.bool(false))) }
      if comparison.holds(bool ? .same : .descending) { points.append(OrderKey(.bool(true))) }
      return points.isEmpty ? nil : PredicateAccess(.points(points))
    }
    let key = OrderKey(value)
    switch comparison {
    case .less: return PredicateAccess(.range(lower: .firstNumber, upper: key))
    case .lessOrEqual: return PredicateAccess(.range(lower: .firstNumber, upper: key.successor))
    case .greater: return PredicateAccess(.range(lower: key.successor, upper: .firstArray))
    case .greaterOrEqual: return PredicateAccess(.range(lower: key, upper: .firstArray))
    }
  }

  /// The range of strings with a prefix.
  private static func prefixRange(_ prefix: [UInt8]) -> FieldAccess {
    let lower = OrderKey(stringsWith: prefix)
    return .range(lower: lower, upper: prefix.isEmpty ? .firstArray : lower.successor)
  }

  /// `$type` tests whole arrays, which have no row, so with several values the rows are checked by the matcher.
  private static func typeRange(_ type: JSONType) -> PredicateAccess? {
    switch type {
    case .null:
      PredicateAccess(
        .points([.nothing]), absence: .only(IndexRows.Absence.null), exactness: .forSingleValues)
    case .boolean: rows(from: .firstBoolean, to: .firstNumber)
    case .number: rows(from: .firstNumber, to: .firstString)
    case .string: rows(from: .firstString, to: .firstArray)
    case .object: rows(from: .firstObject, to: .afterObjects)
    case .array: nil
    }
  }

  private static func rows(from lower: OrderKey, to upper: OrderKey) -> PredicateAccess {
    PredicateAccess(.range(lower: lower, upper: upper), exactness: .forSingleValues)
  }

  private static func sorted(_ keys: [OrderKey]) -> [OrderKey] {
    Set(keys).sorted()
  }
}

extension NearCondition {
  fileprivate func cells(around place: GeoPoint) -> FieldAccess {
    guard let maximum else { return .allCells }
    return .cells(GeoRegion.sphere(place, radius: max(0, maximum / GeoPoint.earthRadius)).cellRanges)
  }
}
