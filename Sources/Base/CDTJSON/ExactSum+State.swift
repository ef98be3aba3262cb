/// Sums of sums, and sums that are stored.
extension ExactSum {
  /// Adds the numbers of another sum, or removes them.
  ///
  /// - Complexity: O(*d*) in the digits, of which there are at most 68.
  package mutating func add(_ other: ExactSum, isRemoved: Bool = false) {
    let sign = isRemoved ? -1 : 1
    let numbers = count + sign * other.count
    change(by: other.whole, isRemoved)
    count = numbers
    fractions += sign * other.fractions
    guard !other.digits.isEmpty else { return }
    var other = other
    other.carry()
    carry()
    reserve(other.first...other.first + other.digits.count - 1)
    for (offset, digit) in other.digits.enumerated() {
      digits[other.first - first + offset] += Int64(sign) * digit
    }
    carry()
    trimSign()
  }

  /// Whether the sum has no numbers and nothing is left of those that were removed.
  package var isEmpty: Bool {
    guard count == 0, fractions == 0 else { return false }
    if digits.isEmpty { return whole == 0 }
    var sum = self
    sum.normalize()
    return sum.digits.isEmpty && sum.whole == 0
  }

  /// Gives the sum the form that all equal sums of equally many numbers have, however they were made.
  ///
  /// A sum of 64-bit integers is one if it fits. Otherwise it is digits from 0 to 2^32 - 1, of which a negative sum has a further
  /// one, -1, at the end.
  private mutating func normalize() {
    guard fractions != 0 || !digits.isEmpty else { return }
    append(whole.magnitude, isNegative: whole < 0, exponent: 0)
    whole = 0
    repeat { carry() } while (digits.last ?? 0) < -1
    trim()
    // A difference of sums with as many fractions each can have digits of a fraction.
    if fractions == 0, first >= 0, case .int(let int) = total { (whole, digits, first) = (int, [], 0) }
  }

  /// Removes the digits at both ends that the sum does not need.
  private mutating func trim() {
    repeat {
      trimSign()
    } while digits.last == 0 && digits.popLast() != nil
    let zeros = digits.prefix { $0 == 0 }.count
    digits.removeFirst(zeros)
    first = digits.isEmpty ? 0 : first + zeros
  }

  /// Removes the digits of a negative sum that only repeat its sign, of which each ``carry()`` makes one.
  private mutating func trimSign() {
    while digits.last == -1, digits.dropLast().last == Self.highestDigit {
      digits.removeLast()
      digits[digits.count - 1] = -1
    }
  }

  private static let highestDigit: Int64 = 0xFFFF_FFFF

  // MARK: Storing

  /// The maximum number of digits, and the places of them: those of squares are from -68 to 66.
  private static let maximumDigits = 192
  private static let maximumAddends: Int64 = 1 << 53

  /// Appends the sum to bytes: its integers in groups of seven bits, and its digits with four bytes each. Equal sums of equally many
  /// numbers have equal bytes.
  package func append(to bytes: inout [UInt8]) {
    var sum = self
    sum.normalize()
    let isNegative = sum.digits.last == -1
    if isNegative { sum.digits.removeLast() }
    let length = Int64(sum.digits.count) << 1 | (isNegative ? 1 : 0)
    for integer in [Int64(sum.count), Int64(sum.fractions), sum.whole, Int64(sum.first), length] {
      // The sign is the lowest bit, so that a number near 0 is short.
      var rest = UInt64(bitPattern: integer << 1 ^ integer >> 63)
      while rest > 0x7F {
        bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
        rest >>= 7
      }
      bytes.append(UInt8(rest))
    }
    for digit in sum.digits {
      withUnsafeBytes(of: UInt32(truncatingIfNeeded: digit).littleEndian) { bytes.append(contentsOf: $0) }
    }
  }

  /// Reads a sum that was appended to bytes, which may be damaged.
  ///
  /// - Parameter offset: The start of the sum; set to its end.
  /// - Returns: `nil` if there is no valid sum.
  package init?(_ bytes: UnsafeRawBufferPointer, at offset: inout Int) {
    var rest = bytes.dropFirst(offset)
    func integer() -> Int64? {
      var number: UInt64 = 0
      for shift in stride(from: UInt64(0), to: 64, by: 7) {
        guard let byte = rest.popFirst() else { return nil }
        number |= UInt64(byte & 0x7F) << shift
        if byte <= 0x7F { return Int64(bitPattern: number >> 1) ^ -Int64(number & 1) }
      }
      return nil
    }
    guard let count = integer(), let fractions = integer(), let whole = integer(), let first = integer(),
      let length = integer(), abs(first.clamped) <= Self.maximumDigits,
      0...Self.maximumDigits ~= length.clamped >> 1,
      0...Self.maximumAddends ~= count, 0...count ~= fractions
    else { return nil }
    self.init()
    self.whole = whole
    (self.count, self.fractions, self.first) = (Int(count), Int(fractions), Int(first))
    for _ in 0..<length >> 1 {
      guard rest.count >= MemoryLayout<UInt32>.size else { return nil }
      digits.append(Int64(UInt32(littleEndian: rest.loadUnaligned(as: UInt32.self))))
      rest = rest.dropFirst(MemoryLayout<UInt32>.size)
    }
    if length & 1 == 1 { digits.append(-1) }
    offset = rest.startIndex
  }
}

extension Int64 {
  /// The number, or the nearest one of 32 bits.
  fileprivate var clamped: Int { Int(Int32(clamping: self)) }
}
