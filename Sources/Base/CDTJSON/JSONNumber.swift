/// A number for comparison: a 64-bit integer or a double, compared exactly.
///
/// NaN, which JSON text can't represent, precedes every number and equals itself.
package enum JSONNumber: Sendable {
  case int(Int64)
  case double(Double)
}

extension JSONNumber: Comparable {
  package static func == (left: JSONNumber, right: JSONNumber) -> Bool {
    switch (left, right) {
    case (.int(let left), .int(let right)): left == right
    case (.double(let left), .double(let right)): left == right || (left.isNaN && right.isNaN)
    case (.int(let int), .double(let double)), (.double(let double), .int(let int)):
      Int64(exactly: double) == int
    }
  }

  package static func < (left: JSONNumber, right: JSONNumber) -> Bool {
    switch (left, right) {
    case (.int(let left), .int(let right)): left < right
    case (.double(let left), .double(let right)): left < right || (left.isNaN && !right.isNaN)
    case (.int(let int), .double(let double)): isLess(int, double)
    case (.double(let double), .int(let int)): !isLess(int, double) && Int64(exactly: double) != int
    }
  }

  /// A double can't represent every 64-bit integer, so its integral part is compared as an integer.
  private static func isLess(_ int: Int64, _ double: Double) -> Bool {
    if double >= 0x1p63 { return true }
    guard double >= -0x1p63 else { return false }
    let whole = Int64(double)
    return int == whole ? double > Double(whole) : int < whole
  }
}

extension JSONNumber: Hashable {
  package func hash(into hasher: inout Hasher) {
    switch self {
    case .int(let int): hasher.combine(int)
    case .double(let double):
      if let int = Int64(exactly: double) {
        hasher.combine(int)
      } else {
        hasher.combine(double.isNaN ? .nan : double)
      }
    }
  }
}
