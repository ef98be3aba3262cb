import CDTJSON
import CDTPlatform

/// Base64 without padding, in the alphabets of RFC 4648.
extension Base64 {
  static func unpadded(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString().replacing("=", with: "")
  }

  /// `nil` if the text has padding, or any character outside the alphabet.
  static func decodeUnpadded(_ text: some StringProtocol) -> [UInt8]? {
    guard !text.utf8.contains(UInt8(ascii: "=")) else { return nil }
    let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    return decode(text + padding)
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
