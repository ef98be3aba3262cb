package import CDTJSON

/// The values of an index that match one field's condition: points, one range, or several.
package enum FieldAccess: Sendable, Hashable {
  /// Keys of values, sorted and distinct.
  case points([OrderKey])
  /// The values of a half-open range: `lower ..< upper`.
  case range(lower: OrderKey?, upper: OrderKey?)
  /// The values of ranges, in order and apart.
  case ranges([KeyRange])
}

extension FieldAccess {
  /// The cells with numbers in some ranges.
  package static func cells(_ ranges: [Range<UInt64>]) -> FieldAccess {
    .ranges(
      ranges.map { KeyRange(lower: OrderKey(cell: $0.lowerBound), upper: OrderKey(cell: $0.upperBound)) })
  }

  /// All cells.
  package static let allCells = range(lower: .firstNumber, upper: .firstString)

  /// Whether its keys depend on how strings are compared.
  package var hasStrings: Bool {
    switch self {
    case .points(let keys): keys.contains { $0 >= .firstString }
    case .range(let lower, let upper):
      [lower, upper].contains { $0.map { $0.bytes.first == OrderKey.string && !$0.isTypeBound } ?? false }
    case .ranges(let ranges):
      ranges.contains { FieldAccess.range(lower: $0.lower, upper: $0.upper).hasStrings }
    }
  }

  /// The values in both, for a field with one value.
  package func intersection(_ other: FieldAccess) -> FieldAccess {
    switch (self, other) {
    case (.points(let left), .points(let right)):
      return .points(left.filter(Set(right).contains))
    case (.points(let keys), .range(let lower, let upper)), (.range(let lower, let upper), .points(let keys)):
      return .points(keys.filter { key in lower.map { $0 <= key } ?? true && upper.map { key < $0 } ?? true })
    case (.range(let lower, let upper), .range(let otherLower, let otherUpper)):
      return .range(lower: Self.greater(lower, otherLower), upper: Self.lesser(upper, otherUpper))
    case (.ranges(let ranges), .points(let keys)), (.points(let keys), .ranges(let ranges)):
      return .points(keys.filter { key in ranges.contains { $0.lower <= key && key < $0.upper } })
    case (.ranges(let ranges), .range(let lower, let upper)),
      (.range(let lower, let upper), .ranges(let ranges)):
      let whole = KeyRange(lower: lower ?? KeyRange.all.lower, upper: upper ?? KeyRange.all.upper)
      return .ranges(ranges.map(whole.intersection).filter { !$0.isEmpty })
    case (.ranges(let left), .ranges(let right)):
      return .ranges(left.flatMap { left in right.map(left.intersection).filter { !$0.isEmpty } })
    }
  }

  /// The greater of two lower bounds.
  package static func greater(_ left: OrderKey?, _ right: OrderKey?) -> OrderKey? {
    guard let left, let right else { return left ?? right }
    return left < right ? right : left
  }

  /// The lesser of two upper bounds.
  package static func lesser(_ left: OrderKey?, _ right: OrderKey?) -> OrderKey? {
    guard let left, let right else { return left ?? right }
    return right < left ? right : left
  }
}

extension OrderKey {
  /// Creates the key of a cell of places.
  init(cell: UInt64) {
    self.init()
    Self.append(cell: cell, to: &bytes)
  }

  /// Appends the key of a cell, which is that of its number.
  static func append(cell: UInt64, to bytes: inout [UInt8]) { append(.int(Int64(cell)), to: &bytes) }

  /// The number of the cell whose key is at an offset; `nil` if there is none.
  package static func cell(in key: JSONBytes, at offset: Int) -> UInt64? {
    guard case .int(let number)? = number(in: key, at: offset) else { return nil }
    return UInt64(exactly: number)
  }
}
