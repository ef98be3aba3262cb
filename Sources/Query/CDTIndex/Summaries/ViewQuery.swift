import CDTDatastore
package import CDTJSON

/// A part of a view: a range of its keys, in one direction.
package struct ViewQuery: Sendable {
  /// An end of the range.
  package struct Bound: Sendable {
    package let key: JSONValue
    package let isIncluded: Bool

    package init(_ key: JSONValue, isIncluded: Bool = true) {
      self.key = key
      self.isIncluded = isIncluded
    }
  }

  package var lower: Bound?
  package var upper: Bound?
  package var isDescending = false

  package init(from lower: Bound? = nil, to upper: Bound? = nil, isDescending: Bool = false) {
    (self.lower, self.upper, self.isDescending) = (lower, upper, isDescending)
  }

  /// The rows of the range, by the keys of the index.
  ///
  /// - Parameter fields: The number of fields of a key.
  package func range(fields: Int) -> KeyRange {
    KeyRange(
      lower: lower.map { Self.bound($0, isLower: true, fields) } ?? KeyRange.all.lower,
      upper: upper.map { Self.bound($0, isLower: false, fields) } ?? KeyRange.all.upper)
  }

  /// The rows before the range.
  package func rangeBefore(fields: Int) -> KeyRange {
    let range = range(fields: fields)
    return isDescending
      ? KeyRange(lower: range.upper, upper: KeyRange.all.upper)
      : KeyRange(lower: KeyRange.all.lower, upper: range.lower)
  }

  /// A bound in the keys of the index.
  ///
  /// The keys of several fields are arrays, of which a shorter one is before those that begin with it.
  private static func bound(_ bound: Bound, isLower: Bool, _ fields: Int) -> OrderKey {
    var values = [bound.key]
    var isBefore = bound.isIncluded == isLower
    if fields != 1 {
      guard fields > 0, case .array(let elements) = bound.key else {
        // All keys are on the same side of it.
        let key: JSONValue = fields == 0 ? .null : []
        let isLess = key == bound.key ? !isBefore : key < bound.key
        return isLess ? KeyRange.all.upper : KeyRange.all.lower
      }
      values = Array(elements.prefix(fields))
      if elements.count != fields { isBefore = elements.count < fields }
      if values.isEmpty { return KeyRange.all.lower }
    }
    var key = OrderKey()
    for value in values { key.append(value) }
    return isBefore ? key : key.successor
  }
}
