/// Base64 as RFC 4648 defines it. Foundation on Linux accepts invalid text: `YW=J`, `====`.
package enum Base64 {
  /// The bytes of a text in base64.
  ///
  /// - Parameter ignoresSpace: Whether spaces, tabs and ends of lines are ignored.
  /// - Returns: `nil` for a text with another character, with padding that does not end it, or of another length.
  package static func decode(_ text: String, ignoresSpace: Bool = false) -> [UInt8]? {
    var text = text
    return text.withUTF8 { decode($0, ignoresSpace: ignoresSpace) }
  }

  private static func decode(_ text: UnsafeBufferPointer<UInt8>, ignoresSpace: Bool) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 4 * 3)
    var (group, digits, padding): (UInt32, Int, Int) = (0, 0, 0)
    for character in text {
      let value = values[Int(character)]
      if value < 64 {
        guard padding == 0 else { return nil }
        group = group << 6 | UInt32(value)
        digits += 1
        guard digits.isMultiple(of: 4) else { continue }
        bytes.append(UInt8(truncatingIfNeeded: group >> 16))
        bytes.append(UInt8(truncatingIfNeeded: group >> 8))
        bytes.append(UInt8(truncatingIfNeeded: group))
      } else if character == UInt8(ascii: "=") {
        padding += 1
      } else if !ignoresSpace || !" \t\r\n".utf8.contains(character) {
        return nil
      }
    }
    switch (digits % 4, padding) {
    case (0, 0): break
    case (2, 2): bytes.append(UInt8(truncatingIfNeeded: group >> 4))
    case (3, 1):
      bytes.append(UInt8(truncatingIfNeeded: group >> 10))
      bytes.append(UInt8(truncatingIfNeeded: group >> 2))
    default: return nil
    }
    return bytes
  }

  /// The value of each character; 255 for those that are not digits.
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: .max, count: 256)
    let digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    for (value, digit) in zip(UInt8.min..., digits.utf8) { values[Int(digit)] = value }
    return values
  }()
}
