/// The range of ids that the conditions on `_id` leave.
package struct IDRange: Sendable, Hashable {
  package struct Bound: Sendable, Hashable {
    package let id: [UInt8]
    package let isInclusive: Bool
  }

  package private(set) var lower: Bound?
  package private(set) var upper: Bound?

  /// Creates the range of all ids.
  package init() {}

  package var isEverything: Bool { lower == nil && upper == nil }

  /// Creates the range of an access to `_id`, whose values are strings; `nil` if it is not a range of strings.
  init?(_ access: FieldAccess) {
    guard case .range(let lower, let upper) = access else { return nil }
    switch lower {
    case .key(let key, let isInclusive)?:
      if key.tag > .string { return nil }
      if case .text(let id) = key.value { self.lower = Bound(id: id, isInclusive: isInclusive) }
    case .tag(let tag)?: if tag > .string { return nil }
    case nil: break
    }
    switch upper {
    case .key(let key, let isInclusive)?:
      if key.tag < .string { return nil }
      if case .text(let id) = key.value { self.upper = Bound(id: id, isInclusive: isInclusive) }
    case .tag(let tag)?: if tag < .string { return nil }
    case nil: break
    }
  }

  /// Narrows the range to the ids that are also in another.
  mutating func formIntersection(_ other: IDRange) {
    if let bound = other.lower, lower.map({ Self.isTighter(bound, than: $0, asLower: true) }) ?? true {
      lower = bound
    }
    if let bound = other.upper, upper.map({ Self.isTighter(bound, than: $0, asLower: false) }) ?? true {
      upper = bound
    }
  }

  private static func isTighter(_ bound: Bound, than other: Bound, asLower: Bool) -> Bool {
    if bound.id == other.id { return other.isInclusive && !bound.isInclusive }
    return bound.id.lexicographicallyPrecedes(other.id) != asLower
  }

  /// Narrows the range to the ids after one, or before it in descending order.
  mutating func continueAfter(_ id: String, isDescending: Bool) {
    var rest = IDRange()
    let bound = Bound(id: Array(id.utf8), isInclusive: false)
    if isDescending { rest.upper = bound } else { rest.lower = bound }
    formIntersection(rest)
  }

  func contains(_ id: [UInt8]) -> Bool {
    let isAbove = lower.map { $0.id == id ? $0.isInclusive : $0.id.lexicographicallyPrecedes(id) }
    let isBelow = upper.map { $0.id == id ? $0.isInclusive : id.lexicographicallyPrecedes($0.id) }
    return isAbove ?? true && isBelow ?? true
  }

  /// The fraction of the documents that such a range usually has.
  package var usualPart: Double {
    switch (lower, upper) {
    case (nil, nil): 1
    case (_?, _?): 0.1
    default: 0.3
    }
  }
}
