import CDTJSON

/// The access of an index to one predicate.
package struct PredicateAccess: Sendable, Hashable {
  package let access: FieldAccess
  /// The condition on `absent` for rows without a value: bits that must be set, or must not.
  package var absence: AbsenceFilter?
  package var exactness = Exactness.always
  /// The collation by which the strings of the access are folded.
  package var collation: Collation?

  package enum AbsenceFilter: Sendable, Hashable {
    case only(Int64)
    case except(Int64)
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
  package static let notNull = PredicateAccess(.range(lower: .tag(.false), upper: nil))

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
      PredicateAccess(.range(lower: .tag(.number), upper: .tag(.number)), exactness: .never)
    case .type(let type): typeRange(type)
    case .size, .elementMatches, .allElementsMatch, .keyMatches: nil
    case .collated(let predicate, let collation):
      of(predicate.folded(by: collation)).map { access in
        var access = access
        access.collation = collation
        return access
      }
    }
  }

  private static func equality(_ value: JSONValue) -> PredicateAccess? {
    switch value {
    case .null: PredicateAccess(.points([.nothing]), absence: .only(IndexRows.Absence.null))
    case .array(let elements):
      // The whole array has a row for each element; as an element of another array it has its own row.
      elements.first.map {
        PredicateAccess(.points(sorted([IndexKey($0), IndexKey(value)])), exactness: .never)
      }
    default: PredicateAccess(.points([IndexKey(value)]))
    }
  }

  private static func membership(_ members: [JSONValue]) -> PredicateAccess? {
    var keys: [IndexKey] = []
    var exactness = Exactness.always
    for member in members {
      switch member {
      case .null: exactness = .never
      case .array(let elements):
        guard let first = elements.first else { return nil }
        exactness = .never
        keys.append(IndexKey(first))
      default: break
      }
      keys.append(IndexKey(member))
    }
    return PredicateAccess(.points(sorted(keys)), exactness: exactness)
  }

  private static func range(
    _ comparison: Predicate.Comparison, _ value: JSONValue
  ) -> PredicateAccess? {
    if case .bool(let bool) = value {
      var points: [IndexKey] = []
      if comparison.holds(bool ? .ascending : .same) { points.append(IndexKey(.bool(false))) }
      if comparison.holds(bool ? .same : .descending) { points.append(IndexKey(.bool(true))) }
      return points.isEmpty ? nil : PredicateAccess(.points(points))
    }
    let key = IndexKey(value)
    switch comparison {
    case .less: return PredicateAccess(.range(lower: .tag(.number), upper: .key(key, inclusive: false)))
    case .lessOrEqual: return PredicateAccess(.range(lower: .tag(.number), upper: .key(key, inclusive: true)))
    case .greater: return PredicateAccess(.range(lower: .key(key, inclusive: false), upper: .tag(.string)))
    case .greaterOrEqual:
      return PredicateAccess(.range(lower: .key(key, inclusive: true), upper: .tag(.string)))
    }
  }

  /// The range of strings with a prefix.
  private static func prefixRange(_ prefix: [UInt8]) -> FieldAccess {
    var successor = prefix
    while successor.last == 0xFF { successor.removeLast() }
    guard let last = successor.last else {
      return .range(lower: .tag(.string), upper: .tag(.string))
    }
    successor[successor.count - 1] = last + 1
    return .range(
      lower: .key(.string(prefix), inclusive: true), upper: .key(.string(successor), inclusive: false))
  }

  /// `$type` tests whole arrays, which have no row, so with several values the rows are checked by the matcher.
  private static func typeRange(_ type: JSONType) -> PredicateAccess? {
    switch type {
    case .null:
      PredicateAccess(
        .points([.nothing]), absence: .only(IndexRows.Absence.null), exactness: .forSingleValues)
    case .boolean: rows(from: .false, to: .true)
    case .number: rows(from: .number, to: .number)
    case .string: rows(from: .string, to: .string)
    case .object: rows(from: .object, to: .object)
    case .array: nil
    }
  }

  private static func rows(from lower: IndexKey.Tag, to upper: IndexKey.Tag) -> PredicateAccess {
    PredicateAccess(.range(lower: .tag(lower), upper: .tag(upper)), exactness: .forSingleValues)
  }

  private static func sorted(_ keys: [IndexKey]) -> [IndexKey] {
    Set(keys).sorted()
  }
}
