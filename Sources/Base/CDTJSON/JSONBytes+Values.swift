import CDTPlatform

extension JSONBytes {
  /// The number at an offset; integers beyond 64 bits become the nearest doubles.
  package func number(at start: Int) -> JSONNumber? {
    var offset = start
    let isNegative = self[offset] == UInt8(ascii: "-")
    if isNegative { offset += 1 }
    var magnitude: UInt64 = 0
    var digits = 0
    while let digit = digit(at: offset), digits < 19 {
      magnitude = magnitude &* 10 &+ digit
      digits += 1
      offset += 1
    }
    switch self[offset] {
    case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      return decimal(from: start)
    default: break
    }
    guard digits > 0 else { return nil }
    // 19 digits fit in 64 bits without a sign.
    if isNegative {
      if magnitude == 0 { return .double(-0.0) }
      return magnitude <= Int64.min.magnitude
        ? .int(0 &- Int64(truncatingIfNeeded: magnitude)) : decimal(from: start)
    }
    return Int64(exactly: magnitude).map(JSONNumber.int) ?? decimal(from: start)
  }

  @inline(__always)
  private func digit(at offset: Int) -> UInt64? {
    let byte = self[offset]
    return byte.isDigit ? UInt64(byte - 0x30) : nil
  }

  /// A number that is not a 64-bit integer, or is written with decimals or an exponent.
  private func decimal(from start: Int) -> JSONNumber? {
    var offset = start
    if let short = shortDecimal(from: &offset) { return .double(short) }
    let end = endOfValue(at: start)
    return Double(String(decoding: slice(start, end), as: UTF8.self)).map(JSONNumber.double)
  }

  /// The nearest double of a number with up to 19 digits and without an exponent, and moves the offset to its end; `nil` for others.
  private func shortDecimal(from offset: inout Int) -> Double? {
    let isNegative = self[offset] == UInt8(ascii: "-")
    if isNegative { offset += 1 }
    let first = offset
    var (mantissa, decimals) = (UInt64(0), 0)
    while let digit = digit(at: offset) {
      mantissa = mantissa &* 10 &+ digit
      offset += 1
    }
    if self[offset] == UInt8(ascii: ".") {
      offset += 1
      let point = offset
      while let digit = digit(at: offset) {
        mantissa = mantissa &* 10 &+ digit
        offset += 1
      }
      decimals = offset - point
    }
    guard self[offset] | 0x20 != UInt8(ascii: "e") else { return nil }
    if offset - first > 19 {
      // Zeros at the start, and the point, are not digits of the mantissa.
      var start = first
      while self[start] == UInt8(ascii: "0") || self[start] == UInt8(ascii: ".") { start += 1 }
      guard (start..<offset).count(where: { self[$0] != UInt8(ascii: ".") }) <= 19 else { return nil }
    }
    let value: Double
    if mantissa <= 1 << 53, decimals <= 22 {
      // A double represents both exactly, so only one rounding is needed.
      value = Double(mantissa) / Self.powersOfTen[decimals]
    } else if decimals <= 19 {
      value = Self.quotient(mantissa, Self.wholePowersOfTen[decimals])
    } else {
      return nil
    }
    return isNegative ? -value : value
  }

  /// The nearest double of the quotient of two numbers that are not 0.
  private static func quotient(_ dividend: UInt64, _ divisor: UInt64) -> Double {
    let shifts = (dividend.leadingZeroBitCount, divisor.leadingZeroBitCount)
    let (numerator, denominator) = (dividend << shifts.0, divisor << shifts.1)
    let (quotient, remainder) = denominator.dividingFullWidth((numerator >> 1, numerator << 63))
    // Of 63 bits or more, rounding to 53 bits only needs to know whether the last are zero.
    let bits = remainder > 0 ? quotient | 1 : quotient
    return Double(sign: .plus, exponent: shifts.1 - shifts.0 - 63, significand: Double(bits))
  }

  private static let wholePowersOfTen = (0...19).map { (0..<$0).reduce(UInt64(1)) { power, _ in power * 10 } }

  /// Calls `body` with each number of the array at an offset, until it returns `false`.
  ///
  /// - Returns: Whether all elements of the array are numbers in the range of doubles, and `body` returned `true` for each; `false` for an
  ///   empty array and for any other value.
  package func forEachNumber(at start: Int, _ body: (Double) -> Bool) -> Bool {
    guard kind(at: start) == .array else { return false }
    var offset = skipSpace(start + 1)
    while true {
      guard kind(at: offset) == .number else { return false }
      var end = offset
      var number = shortDecimal(from: &end)
      if number == nil, case .double(let double)? = decimal(from: offset) {
        (number, end) = (double, endOfValue(at: offset))
      }
      guard let number, number.isFinite, body(number) else { return false }
      end = skipSpace(end)
      if self[end] == UInt8(ascii: "]") { return true }
      guard self[end] == UInt8(ascii: ",") else { return false }
      offset = skipSpace(end + 1)
    }
  }

  private static let powersOfTen: [Double] = [
    1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19,
    1e20, 1e21, 1e22,
  ]

  /// Calls `body` with the UTF-8 of the string at an offset, without copying if it has no escapes.
  @inlinable @inline(__always)
  package func withStringBytes<R>(at start: Int, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    let special = nextQuoteOrBackslash(from: start + 1)
    if self[special] == UInt8(ascii: "\"") { return try body(slice(start + 1, special)) }
    return try withEscapedStringBytes(at: start, body)
  }

  /// Calls `body` with the bytes of a string with escapes, or without an end.
  @usableFromInline
  package func withEscapedStringBytes<R>(
    at start: Int, _ body: (UnsafeRawBufferPointer) throws -> R
  ) rethrows -> R {
    let end = endOfString(at: start)
    let inner = slice(start + 1, end - 1)
    guard inner.contains(UInt8(ascii: "\\")) else { return try body(inner) }
    return try JSONString.unescaped(inner).withUnsafeBytes(body)
  }

  /// The string at an offset.
  package func string(at start: Int) -> String {
    withStringBytes(at: start) { String(decoding: $0, as: UTF8.self) }
  }

  /// The maximum depth of a tree; stored text is never deeper.
  private static let maximumDepth = 1_000

  /// Builds the value at an offset. The text was validated; if it is damaged, null replaces what is missing.
  package func value(at start: Int) -> JSONValue {
    value(at: start, depth: 0)
  }

  private func value(at start: Int, depth: Int) -> JSONValue {
    guard depth < Self.maximumDepth else { return .null }
    switch kind(at: start) {
    case .null, .invalid: return .null
    case .false: return .bool(false)
    case .true: return .bool(true)
    case .string: return .string(string(at: start))
    case .number: return numberValue(at: start)
    case .array:
      var elements: [JSONValue] = []
      var iterator = self.elements(at: start)
      while let element = iterator.next() { elements.append(value(at: element, depth: depth + 1)) }
      return .array(elements)
    case .object:
      var members: [JSONObject.Member] = []
      var iterator = self.members(at: start)
      while let member = iterator.next() {
        members.append((string(at: member.keyStart - 1), value(at: member.value, depth: depth + 1)))
      }
      return .object(JSONObject(distinct: members))
    }
  }

  private func numberValue(at start: Int) -> JSONValue {
    switch number(at: start) {
    case .int(let int)?: return .int(int)
    case .double(let double)?:
      let text = slice(start, endOfValue(at: start))
      if JSONDouble.isWritten(double, as: text) { return .double(double) }
      return .spelled(JSONSpelledNumber(text: String(decoding: text, as: UTF8.self), doubleValue: double))
    case nil: return .null
    }
  }
}
