extension UInt8 {
  /// Whether the byte is one of the digits 0 to 9 in ASCII.
  @inlinable package var isDigit: Bool { 0x30...0x39 ~= self }

  /// Whether the byte is one of the letters a to z or A to Z in ASCII.
  @inlinable package var isLetter: Bool { 0x61...0x7A ~= self | 0x20 }
}

extension String {
  /// The text with `%` and two digits for each byte of UTF-8 that is neither a letter nor a digit and is not among those to keep.
  package func percentEncoded(keeping others: StaticString) -> String {
    let kept = others.withUTF8Buffer { Array($0) }
    var encoded: [UInt8] = []
    encoded.reserveCapacity(utf8.count)
    for byte in utf8 {
      if byte.isLetter || byte.isDigit || kept.contains(byte) {
        encoded.append(byte)
      } else {
        encoded += [
          UInt8(ascii: "%"), Hexadecimal.digit(byte >> 4, isUppercase: true),
          Hexadecimal.digit(byte & 15, isUppercase: true),
        ]
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }
}
