import JSON

/// The part of an index that one field's condition needs: some points, or one range.
package enum FieldAccess: Sendable, Hashable {
  /// One end of a range: a key, or every key of a type.
  package enum Bound: Sendable, Hashable {
    case key(IndexKey, inclusive: Bool)
    case tag(IndexKey.Tag)
  }

  /// Keys, sorted and distinct.
  case points([IndexKey])
  case range(lower: Bound?, upper: Bound?)
}

/// What an index can do for one predicate.
package struct PredicateAccess: Sendable, Hashable {
  package let access: FieldAccess
  /// What rows without a value must hold in `absent`: the bits wanted, or unwanted.
  package var absence: AbsenceFilter?
  /// Whether the rows are exactly those of documents that match; else the matcher is asked again.
  package var isExact = true

  package enum AbsenceFilter: Sendable, Hashable {
    case only(Int64)
    case except(Int64)
  }

  private init(_ access: FieldAccess, absence: AbsenceFilter? = nil, isExact: Bool = true) {
    self.access = access
    self.absence = absence
    self.isExact = isExact
  }

  /// - Parameter isMultiple: Whether the field may have several values, so that a row says nothing of the others.
  package static func of(_ predicate: Predicate, isMultiple: Bool) -> PredicateAccess? {
    switch predicate {
    case .equal(let value): equality(value)
    case .among(let members): membership(members)
    case .compare(let comparison, let value): range(comparison, value)
    case .exists:
      PredicateAccess(.range(lower: nil, upper: nil), absence: .except(IndexEntries.Absence.missing))
    case .notNull: nil
    case .beginsWith(let prefix): PredicateAccess(prefixRange(Array(prefix.utf8)))
    case .regex(let expression):
      expression.literalPrefix.map {
        PredicateAccess(prefixRange(Array($0.utf8)), isExact: false)
      }
    case .modulo: PredicateAccess(.range(lower: .tag(.number), upper: .tag(.number)), isExact: false)
    case .type(let type): typeRange(type, isMultiple: isMultiple)
    case .size, .elementMatches, .allElementsMatch, .keyMatches: nil
    }
  }

  private static func equality(_ value: JSONValue) -> PredicateAccess? {
    switch value {
    case .null: PredicateAccess(.points([.nothing]), absence: .only(IndexEntries.Absence.null))
    case .array(let elements):
      // The array as a whole has a row for each element; as an element of another it has one of its own.
      elements.first.map {
        PredicateAccess(.points(sorted([IndexKey($0), IndexKey(value)])), isExact: false)
      }
    default: PredicateAccess(.points([IndexKey(value)]))
    }
  }

  private static func membership(_ members: [JSONValue]) -> PredicateAccess? {
    var keys: [IndexKey] = []
    var isExact = true
    for member in members {
      switch member {
      case .null: isExact = false
      case .array(let elements):
        guard let first = elements.first else { return nil }
        isExact = false
        keys.append(IndexKey(first))
      default: break
      }
      keys.append(IndexKey(member))
    }
    return PredicateAccess(.points(sorted(keys)), isExact: isExact)
  }

  private static func range(
    _ comparison: Predicate.Comparison, _ value: JSONValue
  ) -> PredicateAccess? {
    if case .bool(let bool) = value {
      let holds = Comparison(comparison)
      var points: [IndexKey] = []
      if holds.holds(bool ? .ascending : .same) { points.append(IndexKey(.bool(false))) }
      if holds.holds(bool ? .same : .descending) { points.append(IndexKey(.bool(true))) }
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

  /// The strings from a prefix up to the first that no longer has it.
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

  /// `$type` looks at arrays as a whole, which have no row, so with several values the matcher is asked again.
  private static func typeRange(_ type: JSONType, isMultiple: Bool) -> PredicateAccess? {
    switch type {
    case .null:
      PredicateAccess(
        .points([.nothing]), absence: .only(IndexEntries.Absence.null), isExact: !isMultiple)
    case .boolean: PredicateAccess(.range(lower: .tag(.false), upper: .tag(.true)), isExact: !isMultiple)
    case .number: PredicateAccess(.range(lower: .tag(.number), upper: .tag(.number)), isExact: !isMultiple)
    case .string: PredicateAccess(.range(lower: .tag(.string), upper: .tag(.string)), isExact: !isMultiple)
    case .object: PredicateAccess(.range(lower: .tag(.object), upper: .tag(.object)), isExact: !isMultiple)
    case .array: nil
    }
  }

  private static func sorted(_ keys: [IndexKey]) -> [IndexKey] {
    Set(keys).sorted()
  }
}

extension FieldAccess {
  /// The keys that both allow, for a field with one value; `nil` when that can't be said in one access.
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

  /// Whether this end comes before the other on the scale, both being lower ends or both upper ends.
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
