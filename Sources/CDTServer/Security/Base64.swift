import FoundationEssentials

/// Base64 without padding, in the alphabets of RFC 4648.
enum Base64 {
  static func unpadded(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString().replacing("=", with: "")
  }

  /// `nil` if the text has padding, or any character outside the alphabet.
  static func decodeUnpadded(_ text: some StringProtocol) -> [UInt8]? {
    guard !text.utf8.contains(UInt8(ascii: "=")) else { return nil }
    let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    return Data(base64Encoded: text + padding).map(Array.init)
  }

  /// In the alphabet for URLs and cookies.
  static func urlText(_ bytes: [UInt8]) -> String {
    unpadded(bytes).replacing("+", with: "-").replacing("/", with: "_")
  }

  /// From the alphabet for URLs and cookies.
  static func decodeURLText(_ text: some StringProtocol) -> [UInt8]? {
    guard !text.utf8.contains(where: { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/") }) else {
      return nil
    }
    return decodeUnpadded(String(text).replacing("-", with: "+").replacing("_", with: "/"))
  }
}

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
