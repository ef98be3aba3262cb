import CDTPlatform

/// A number that keeps the text in which it was written, as neither an integer of 64 bits nor a double is written so. It is
/// compared as the nearest double.
///
/// ```swift
/// let price = try JSONValue(parsing: "1.10")
/// price.text  // "1.10"
/// price == 1.1  // true
/// ```
public struct JSONSpelledNumber: Sendable {
  /// The number as written.
  public let text: String

  /// The nearest double; always finite when parsed.
  public let doubleValue: Double

  package init(text: String, doubleValue: Double) {
    self.text = text
    self.doubleValue = doubleValue
  }

  /// Whether the text has neither fraction nor exponent. Its digits are then exact, which the double may not be.
  package var isInteger: Bool { text.utf8.allSatisfy { $0.isDigit || $0 == UInt8(ascii: "-") } }
}
