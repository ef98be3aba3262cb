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

  /// A number that is not a 64-bit integer. With up to 19 digits and a power of ten that a double represents exactly,
  /// only one rounding is needed, so multiplication yields the nearest double; other numbers take the slow path.
  private func decimal(from start: Int) -> JSONNumber? {
    var offset = start
    let isNegative = self[offset] == UInt8(ascii: "-")
    if isNegative { offset += 1 }
    var mantissa: UInt64 = 0
    var digits = 0
    var exponent = 0
    while let digit = digit(at: offset) {
      mantissa = mantissa &* 10 &+ digit
      digits += 1
      offset += 1
    }
    if self[offset] == UInt8(ascii: ".") {
      offset += 1
      while let digit = digit(at: offset) {
        mantissa = mantissa &* 10 &+ digit
        digits += 1
        exponent -= 1
        offset += 1
      }
    }
    let isPlain = self[offset] != UInt8(ascii: "e") && self[offset] != UInt8(ascii: "E")
    if isPlain, digits <= 19, mantissa <= 1 << 53, exponent >= -22 {
      let value = Double(mantissa) / Self.powersOfTen[-exponent]
      return .double(isNegative ? -value : value)
    }
    let end = endOfValue(at: start)
    return Double(String(decoding: slice(start, end), as: UTF8.self)).map(JSONNumber.double)
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
