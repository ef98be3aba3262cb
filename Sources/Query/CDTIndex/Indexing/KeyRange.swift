package import CDTJSON
package import CDTSQLite

/// A half-open range of the keys of an index: `lower ..< upper`.
package struct KeyRange: Sendable, Hashable {
  package var lower: OrderKey
  package var upper: OrderKey

  /// All keys of an index.
  package static let all = KeyRange(lower: OrderKey(), upper: .afterAll)

  package init(lower: OrderKey, upper: OrderKey) {
    (self.lower, self.upper) = (lower, upper)
  }

  /// Creates the range of all keys that begin with some bytes.
  package init(prefix: OrderKey) {
    self.init(lower: prefix, upper: prefix.successor)
  }

  package var isEmpty: Bool { !(lower < upper) }

  package func intersection(_ other: KeyRange) -> KeyRange {
    KeyRange(lower: max(lower, other.lower), upper: min(upper, other.upper))
  }

  package func contains(_ key: UnsafeRawBufferPointer) -> Bool {
    let isAbove = lower.bytes.withUnsafeBytes { Order($0, key) != .descending }
    return isAbove && upper.bytes.withUnsafeBytes { Order(key, $0) == .ascending }
  }

  /// Binds the bounds as two parameters.
  package func bind(to statement: Statement, at position: Int) throws(SQLiteError) {
    try statement.bind(blob: lower.bytes, at: position)
    try statement.bind(blob: upper.bytes, at: position + 1)
  }
}

extension FieldAccess {
  /// The ranges of keys whose part after a prefix has the values, in the order of the keys.
  package func ranges(after prefix: OrderKey = OrderKey(), isDescending: Bool) -> [KeyRange] {
    func bound(_ key: OrderKey) -> OrderKey {
      if prefix.bytes.isEmpty, !isDescending { return key }
      var bound = OrderKey()
      bound.bytes.reserveCapacity(prefix.bytes.count + key.bytes.count)
      bound.append(key: prefix)
      bound.append(key: key)
      if isDescending { bound.invert(from: prefix.bytes.count) }
      return bound
    }
    switch self {
    case .points(let keys):
      if let key = keys.first, keys.count == 1 { return [KeyRange(prefix: bound(key))] }
      let ranges = keys.map { KeyRange(prefix: bound($0)) }
      return isDescending ? ranges.reversed() : ranges
    case .range(let lower, let upper):
      // Inverted, what begins with a bound comes before what is above it.
      return isDescending
        ? [
          KeyRange(
            lower: upper.map { bound($0).successor } ?? prefix,
            upper: lower.map { bound($0).successor } ?? prefix.successor)
        ] : [KeyRange(lower: lower.map(bound) ?? prefix, upper: upper.map(bound) ?? prefix.successor)]
    case .ranges(let ranges):
      let all = ranges.flatMap {
        FieldAccess.range(lower: $0.lower, upper: $0.upper).ranges(after: prefix, isDescending: isDescending)
      }
      return isDescending ? all.reversed() : all
    }
  }
}
