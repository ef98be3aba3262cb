import CDTPlatform

/// The order of two values.
package enum Order: Sendable, Hashable {
  case ascending, same, descending
}

extension Order {
  @inlinable @inline(__always)
  package var isAscending: Bool {
    if case .ascending = self { true } else { false }
  }

  /// The exact order of two numbers, including integers and doubles.
  package init(_ left: JSONNumber, _ right: JSONNumber) {
    self = left < right ? .ascending : left == right ? .same : .descending
  }

  /// The order of two strings, byte by byte.
  package init(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) {
    let difference = Bytes.compare(left, right, count: min(left.count, right.count))
    if difference != 0 {
      self = difference < 0 ? .ascending : .descending
      return
    }
    self = left.count < right.count ? .ascending : left.count == right.count ? .same : .descending
  }
}
