/// Bytes as hexadecimal digits.
enum Hexadecimal {
  static func text(_ bytes: [UInt8]) -> String {
    bytes.map { byte in
      let digits = String(byte, radix: 16)
      return digits.utf8.count == 1 ? "0" + digits : digits
    }.joined()
  }

  /// `nil` unless the text is pairs of hexadecimal digits.
  static func bytes(_ text: some StringProtocol) -> [UInt8]? {
    let digits = text.utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = digits[index], let low = digits[index + 1] else { return nil }
      bytes.append(UInt8(high * 16 + low))
    }
    return bytes
  }
}
