package import CDTJSON

/// The range of ids that the conditions on `_id` leave.
///
/// Half-open, by the keys of the ids: `lower ..< upper`.
package struct IDRange: Sendable, Hashable {
  package private(set) var lower: OrderKey?
  package private(set) var upper: OrderKey?

  /// Creates the range of all ids.
  package init() {}

  package var isEverything: Bool { lower == nil && upper == nil }

  /// Creates the range of an access to `_id`, whose values are strings; `nil` if it is not a range of strings.
  init?(_ access: FieldAccess) {
    guard case .range(let lower, let upper) = access else { return nil }
    if let lower {
      if lower >= .firstArray { return nil }
      if lower > .firstString { self.lower = lower }
    }
    if let upper {
      if upper <= .firstString { return nil }
      if upper < .firstArray { self.upper = upper }
    }
  }

  /// Narrows the range to the ids that are also in another.
  mutating func formIntersection(_ other: IDRange) {
    lower = FieldAccess.greater(lower, other.lower)
    upper = FieldAccess.lesser(upper, other.upper)
  }

  /// Narrows the range to the ids after one, or before it in descending order.
  mutating func continueAfter(_ id: String, isDescending: Bool) {
    var rest = IDRange()
    let key = OrderKey(string: id)
    if isDescending { rest.upper = key } else { rest.lower = key.successor }
    formIntersection(rest)
  }

  func contains(_ id: String) -> Bool {
    let key = OrderKey(string: id)
    return lower.map { $0 <= key } ?? true && upper.map { key < $0 } ?? true
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
