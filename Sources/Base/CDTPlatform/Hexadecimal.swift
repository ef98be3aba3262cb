/// Bytes as pairs of hexadecimal digits.
package enum Hexadecimal {
  /// The lowercase digits of bytes.
  package static func text(_ bytes: some Collection<UInt8>) -> String {
    bytes.withContiguousStorageIfAvailable { text(UnsafeRawBufferPointer($0)) }
      ?? Array(bytes).withUnsafeBytes { text($0) }
  }

  /// The lowercase digits of bytes.
  package static func text(_ bytes: UnsafeRawBufferPointer) -> String {
    String(unsafeUninitializedCapacity: bytes.count * 2) { buffer in
      var count = 0
      for byte in bytes where count + 2 <= buffer.count {
        buffer[count] = digit(byte >> 4)
        buffer[count + 1] = digit(byte & 15)
        count += 2
      }
      return count
    }
  }

  /// Appends the lowercase digits of bytes.
  package static func append(_ bytes: UnsafeRawBufferPointer, to text: inout [UInt8]) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 2 * bytes.count) { digits in
      for (position, byte) in bytes.enumerated() {
        digits[2 * position] = digit(byte >> 4)
        digits[2 * position + 1] = digit(byte & 15)
      }
      text.append(contentsOf: digits)
    }
  }

  /// The 16 lowercase digits of a number.
  package static func text(_ number: UInt64) -> String {
    text((0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) })
  }

  /// The bytes of a text; `nil` unless it consists of pairs of digits.
  package static func bytes(_ text: some StringProtocol) -> [UInt8]? {
    let digits = text.utf8.map(value)
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 2)
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = digits[index], let low = digits[index + 1] else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  /// The digit of a value below 16.
  @inlinable package static func digit(_ value: UInt8, isUppercase: Bool = false) -> UInt8 {
    value < 10 ? 0x30 + value : (isUppercase ? 0x41 : 0x61) + value - 10
  }

  /// The value of a digit of either case.
  @inlinable package static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case 0x30...0x39: digit - 0x30
    case 0x61...0x66: digit - 0x61 + 10
    case 0x41...0x46: digit - 0x41 + 10
    default: nil
    }
  }
}
