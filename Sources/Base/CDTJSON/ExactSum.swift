/// A sum of numbers that is not rounded before it is read, so that it does not depend on the order of the numbers.
///
/// ```swift
/// var sum = ExactSum()
/// for number in [1e100, 1, 0.5, -1e100] { sum.add(.double(number)) }
/// sum.total  // 1.5
/// sum.remove(.double(0.5))
/// sum.total  // 1
/// ```
///
/// It is a whole number of 64 bits, plus digits in base 2^32 from the lowest to the highest power that was needed. Numbers are added
/// to digits without carries, which are made after 2^30 additions, and before the sum is read.
package struct ExactSum: Sendable {
  /// Integers that have not been moved to the digits.
  var whole: Int64 = 0
  /// Signed digits, least significant first. The first one has the weight 2^(32 × `first`).
  var digits: [Int64] = []
  var first = 0
  /// The additions to digits since their last carries.
  private var pending = 0
  /// The addends that are not 64-bit integers.
  var fractions = 0
  /// The number of addends.
  package internal(set) var count = 0

  private static let maximumPending = 1 << 30

  package init() {}

  /// Adds a number. Infinity and NaN, which JSON text can't represent, are ignored.
  ///
  /// - Complexity: O(1) amortized.
  package mutating func add(_ number: JSONNumber) {
    change(by: number, isRemoved: false)
  }

  /// Removes a number that was added.
  package mutating func remove(_ number: JSONNumber) {
    change(by: number, isRemoved: true)
  }

  @inline(__always)
  private mutating func change(by number: JSONNumber, isRemoved: Bool) {
    switch number {
    case .int(let int): change(by: int, isRemoved)
    case .double(let double):
      if let int = Int64(exactly: double) { return change(by: int, isRemoved) }
      guard double.isFinite else { return }
      let (significand, exponent) = double.wholeParts
      append(significand, isNegative: (double < 0) != isRemoved, exponent: exponent)
      fractions += isRemoved ? -1 : 1
      count += isRemoved ? -1 : 1
    }
  }

  /// Adds the exact square of a number, also if it is beyond the range of a double. Infinity and NaN are ignored.
  package mutating func addSquare(of number: JSONNumber, isRemoved: Bool = false) {
    let root: (significand: UInt64, exponent: Int)
    switch number {
    case .int(let int): root = (int.magnitude, 0)
    case .double(let double):
      guard double.isFinite else { return }
      root = Int64(exactly: double).map { ($0.magnitude, 0) } ?? double.wholeParts
      if Int64(exactly: double) == nil { fractions += isRemoved ? -1 : 1 }
    }
    let (high, low) = root.significand.multipliedFullWidth(by: root.significand)
    if root.exponent == 0, high == 0, let square = Int64(exactly: low) {
      return change(by: square, isRemoved)
    }
    append(low, isNegative: isRemoved, exponent: 2 * root.exponent)
    append(high, isNegative: isRemoved, exponent: 2 * root.exponent + 64)
    count += isRemoved ? -1 : 1
  }

  mutating func change(by int: Int64, _ isRemoved: Bool) {
    count += isRemoved ? -1 : 1
    let (sum, overflows) =
      isRemoved ? whole.subtractingReportingOverflow(int) : whole.addingReportingOverflow(int)
    guard overflows else {
      whole = sum
      return
    }
    append(whole.magnitude, isNegative: whole < 0, exponent: 0)
    append(int.magnitude, isNegative: (int < 0) != isRemoved, exponent: 0)
    whole = 0
  }

  /// Adds a significand times a power of two to the digits.
  mutating func append(_ significand: UInt64, isNegative: Bool, exponent: Int) {
    let place = exponent >> 5
    let (high, low) = significand.multipliedFullWidth(by: 1 << UInt64(exponent & 31))
    reserve(place...place + 2)
    let parts = (
      Int64(low & 0xFFFF_FFFF), Int64(low >> 32), Int64(truncatingIfNeeded: high)
    )
    let start = place - first
    if isNegative {
      digits[start] -= parts.0
      digits[start + 1] -= parts.1
      digits[start + 2] -= parts.2
    } else {
      digits[start] += parts.0
      digits[start + 1] += parts.1
      digits[start + 2] += parts.2
    }
    pending += 1
    if pending == Self.maximumPending { carry() }
  }

  /// Makes room for the digits at these places.
  mutating func reserve(_ places: ClosedRange<Int>) {
    if digits.isEmpty { first = places.lowerBound }
    if places.lowerBound < first {
      digits.insert(contentsOf: repeatElement(0, count: first - places.lowerBound), at: 0)
      first = places.lowerBound
    }
    let missing = places.upperBound - first - digits.count + 1
    if missing > 0 { digits.append(contentsOf: repeatElement(0, count: missing)) }
  }

  /// Brings every digit but the last into 0..<2^32.
  mutating func carry() {
    var carry: Int64 = 0
    for index in digits.indices {
      let sum = digits[index] + carry
      carry = sum >> 32
      digits[index] = sum & 0xFFFF_FFFF
    }
    if carry != 0 { digits.append(carry) }
    pending = 0
  }

  // MARK: Reading

  /// The sum: the exact integer if every addend was a 64-bit integer, also in the spelling of a longer one; otherwise the nearest
  /// double. 0 without addends, and null beyond the range of a double.
  ///
  /// - Complexity: O(1) for sums of 64 bits; otherwise O(*d*²) in the digits, of which there are at most 68, or 135 for squares.
  package var total: JSONValue {
    if digits.isEmpty, fractions == 0 { return .int(whole) }
    let magnitude = magnitude
    guard fractions == 0 else { return JSONValue(number: magnitude.double()) }
    let text = magnitude.integerText
    return Int64(text).map { .int($0) }
      ?? .spelled(JSONSpelledNumber(text: text, doubleValue: magnitude.double()))
  }

  /// The double that is nearest to the sum divided by the number of addends, null if there are none.
  package var average: JSONValue {
    guard count > 0 else { return .null }
    return JSONValue(number: magnitude.divided(by: UInt64(count)))
  }

  private var magnitude: Magnitude {
    var sum = self
    sum.append(whole.magnitude, isNegative: whole < 0, exponent: 0)
    sum.carry()
    let isNegative = sum.digits.last.map { $0 < 0 } ?? false
    if isNegative {
      for index in sum.digits.indices { sum.digits[index] = -sum.digits[index] }
      sum.carry()
    }
    return Magnitude(
      isNegative: isNegative, digits: sum.digits.map { UInt32(truncatingIfNeeded: $0) }, first: sum.first)
  }
}

extension Double {
  /// A finite number's magnitude as a significand of 53 bits times a power of two; subnormal ones have the exponent of the least.
  fileprivate var wholeParts: (significand: UInt64, exponent: Int) {
    let significand = significandBitPattern | (isNormal ? 1 << 52 : 0)
    return (significand, max(Int(exponentBitPattern), 1) - 1_075)
  }
}

/// A number as its sign and its digits in base 2^32, least significant first, of which the first has the weight 2^(32 × `first`).
private struct Magnitude {
  let isNegative: Bool
  var digits: [UInt32]
  var first: Int

  /// The quotient, rounded once.
  func divided(by divisor: UInt64) -> Double {
    var quotient = self
    // More digits, so that the quotient has more bits than a double.
    quotient.digits.insert(contentsOf: repeatElement(0, count: 4), at: 0)
    quotient.first -= 4
    var rest: UInt64 = 0
    for index in quotient.digits.indices.reversed() {
      let (digit, remainder) = divisor.dividingFullWidth(
        (rest >> 32, rest << 32 | UInt64(quotient.digits[index])))
      quotient.digits[index] = UInt32(truncatingIfNeeded: digit)
      rest = remainder
    }
    return quotient.double(hasRest: rest != 0)
  }

  /// The nearest double, and of two that are equally near the even one; infinity beyond the range.
  ///
  /// - Parameter hasRest: Whether the number is a little greater than its digits.
  func double(hasRest: Bool = false) -> Double {
    guard let top = digits.lastIndex(where: { $0 != 0 }) else { return 0 }
    func digit(_ offset: Int) -> UInt64 { top >= offset ? UInt64(digits[top - offset]) : 0 }
    // The first 64 bits, the highest of which is set.
    let shift = UInt64(UInt32(digits[top]).leadingZeroBitCount)
    let bits = (digit(0) << 32 | digit(1)) << shift | digit(2) >> (32 - shift)
    let hasMore =
      hasRest || (digit(2) << shift) & 0xFFFF_FFFF != 0 || digits.prefix(max(0, top - 2)).contains { $0 != 0 }
    let exponent = 32 * (first + top - 1) - Int(shift)
    // A double has 53 bits, and none below 2^-1074.
    let dropped = max(11, -1_074 - exponent)
    guard dropped <= 64 else { return isNegative ? -0.0 : 0 }
    var significand = dropped < 64 ? bits >> UInt64(dropped) : 0
    let half = UInt64(1) << UInt64(dropped - 1)
    let isOdd = significand & 1 == 1
    if bits & half != 0, isOdd || hasMore || bits & (half - 1) != 0 { significand += 1 }
    let double = Double(sign: .plus, exponent: exponent + dropped, significand: Double(significand))
    return isNegative ? -double : double
  }

  /// The decimal text of an integer.
  var integerText: String {
    // The digits of fractions that were removed are zero.
    var rest = Array(digits.dropFirst(max(0, -first)))
    if first > 0 { rest.insert(contentsOf: repeatElement(0, count: first), at: 0) }
    var groups: [String] = []
    while rest.contains(where: { $0 != 0 }) {
      var remainder: UInt64 = 0
      for index in rest.indices.reversed() {
        let part = remainder << 32 | UInt64(rest[index])
        rest[index] = UInt32(truncatingIfNeeded: part / 1_000_000_000)
        remainder = part % 1_000_000_000
      }
      while rest.last == 0 { rest.removeLast() }
      let group = String(remainder)
      groups.append(rest.isEmpty ? group : String(repeating: "0", count: 9 - group.utf8.count) + group)
    }
    return (isNegative ? "-" : "") + (groups.isEmpty ? "0" : groups.reversed().joined())
  }
}

extension JSONValue {
  /// A number in its shortest form: an integer if it is one of 64 bits, null for infinity and NaN.
  package init(number double: Double) {
    if let int = Int64(exactly: double) {
      self = .int(int)
    } else {
      self = double.isFinite ? .double(double) : .null
    }
  }
}
