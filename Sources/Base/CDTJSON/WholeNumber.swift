import CDTPlatform

/// An integer as sign and magnitude, in 32-bit limbs, least significant first; supports only remainders.
package struct WholeNumber: Sendable, Hashable {
  private var isNegative: Bool
  private var limbs: [UInt32]

  package var isZero: Bool { limbs.isEmpty }

  /// The number, if it fits in 64 bits.
  package var int64: Int64? {
    guard limbs.count <= 2 else { return nil }
    let magnitude = limbs.reversed().reduce(UInt64(0)) { $0 << 32 | UInt64($1) }
    if isNegative {
      return magnitude <= Int64.min.magnitude ? Int64(truncatingIfNeeded: 0 &- magnitude) : nil
    }
    return Int64(exactly: magnitude)
  }

  /// Truncates a number; `nil` if the value is not a number.
  package init?(truncating value: JSONValue) {
    switch value {
    case .int(let int): self.init(isNegative: int < 0, magnitude: int.magnitude, shift: 0)
    case .double(let double):
      guard double.isFinite else { return nil }
      let whole = double.rounded(.towardZero)
      // A double is its 53-bit significand times a power of two, which limbs represent exactly.
      let exponent = whole == 0 ? 0 : max(0, Int(whole.exponent) - 52)
      let significand = (whole.magnitude / Double(sign: .plus, exponent: exponent, significand: 1))
      self.init(isNegative: whole < 0, magnitude: UInt64(significand), shift: exponent)
    case .spelled(let number) where number.isInteger: self.init(decimal: number.text)
    case .spelled(let number): self.init(truncating: .double(number.doubleValue))
    default: return nil
    }
  }

  private init(isNegative: Bool, magnitude: UInt64, shift: Int) {
    var limbs = [UInt32](repeating: 0, count: shift / 32)
    let low = magnitude << UInt64(shift % 32)
    let high = shift % 32 == 0 ? 0 : magnitude >> UInt64(64 - shift % 32)
    limbs += [UInt32(truncatingIfNeeded: low), UInt32(truncatingIfNeeded: low >> 32)]
    limbs += [UInt32(truncatingIfNeeded: high)]
    self.init(isNegative: isNegative, limbs: limbs)
  }

  private init?(decimal text: String) {
    var limbs: [UInt32] = []
    for digit in text.utf8.drop(while: { $0 == UInt8(ascii: "-") }) {
      guard digit.isDigit else { return nil }
      var carry = UInt64(digit - 0x30)
      for index in limbs.indices {
        let product = UInt64(limbs[index]) * 10 + carry
        limbs[index] = UInt32(truncatingIfNeeded: product)
        carry = product >> 32
      }
      if carry > 0 { limbs.append(UInt32(carry)) }
    }
    self.init(isNegative: text.utf8.first == UInt8(ascii: "-"), limbs: limbs)
  }

  private init(isNegative: Bool, limbs: [UInt32]) {
    self.limbs = limbs
    while self.limbs.last == 0 { self.limbs.removeLast() }
    self.isNegative = isNegative && !self.limbs.isEmpty
  }

  /// Binary long division that keeps only the remainder.
  package func remainder(dividingBy divisor: WholeNumber) -> WholeNumber {
    var rest: [UInt32] = []
    for limb in limbs.reversed() {
      for bit in (0..<32).reversed() {
        Self.shiftLeft(&rest, bringing: limb >> UInt32(bit) & 1)
        if !Self.isLess(rest, divisor.limbs) { Self.subtract(&rest, divisor.limbs) }
      }
    }
    return WholeNumber(isNegative: isNegative, limbs: rest)
  }

  private static func shiftLeft(_ limbs: inout [UInt32], bringing bit: UInt32) {
    var carry = bit
    for index in limbs.indices {
      let next = limbs[index] >> 31
      limbs[index] = limbs[index] << 1 | carry
      carry = next
    }
    if carry > 0 { limbs.append(carry) }
  }

  private static func isLess(_ left: [UInt32], _ right: [UInt32]) -> Bool {
    guard left.count == right.count else { return left.count < right.count }
    for index in left.indices.reversed() where left[index] != right[index] {
      return left[index] < right[index]
    }
    return false
  }

  private static func subtract(_ left: inout [UInt32], _ right: [UInt32]) {
    var borrow: Int64 = 0
    for index in left.indices {
      let difference = Int64(left[index]) - (index < right.count ? Int64(right[index]) : 0) - borrow
      borrow = difference < 0 ? 1 : 0
      left[index] = UInt32(truncatingIfNeeded: difference)
    }
    while left.last == 0 { left.removeLast() }
  }
}
