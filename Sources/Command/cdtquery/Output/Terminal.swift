import CDTPlatform

/// The terminal that a command writes to.
enum Terminal {
  /// Whether standard output shows colors: it is a terminal, and its user has not asked for text without them.
  static let hasColors: Bool = {
    let environment = ProcessInfo.processInfo.environment
    return isShown && environment["NO_COLOR", default: ""].isEmpty
      && environment["TERM"] != "dumb"
  }()

  /// Whether standard output is a terminal, which documents must not control.
  static let isShown = OpenFile.standardOutput.isTerminal

  /// JSON with escapes in place of characters that control a terminal.
  static func printableJSON(_ text: UnsafeRawBufferPointer) -> [UInt8] {
    var shown = ""
    for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
      if controls(scalar) {
        let digits = String(scalar.value, radix: 16)
        shown += "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
      } else {
        shown.unicodeScalars.append(scalar)
      }
    }
    return Array(shown.utf8)
  }

  /// The text with `\u{FFFD}` in place of characters that control a terminal, but for line feeds and tabs.
  static func printable(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: controls) else { return text }
    var shown = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { shown.append(controls(scalar) ? "\u{FFFD}" : scalar) }
    return String(shown)
  }

  /// Whether a character controls a terminal or changes the direction of the text that follows.
  static func controls(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09, 0x0A: false
    case 0..<0x20, 0x7F...0x9F, 0x061C, 0x200B, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x206F, 0xFEFF:
      true
    default: false
    }
  }

  /// The columns of standard output, if it is a terminal.
  static var columns: Int? { OpenFile.standardOutput.terminalColumns }
}
