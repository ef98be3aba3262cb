import CDTPlatform

/// A pattern of `$regex`, compiled once. It can be used from any thread.
///
/// Patterns and subjects are UTF-8, a match can be anywhere in the subject, and `\d`, `\w` and `\s` are ASCII. A match that exceeds the
/// limits of ``MatchBudget`` ends with an error and has no result.
package final class RegularExpression: Sendable {
  package let pattern: String
  /// Letters of `imsx`, each once, in this order.
  package let options: String
  /// The bytes of every match, if the pattern is plain text.
  package let literal: [UInt8]?
  let engine: SystemPattern

  /// The maximum length of a pattern, in bytes.
  package static let maximumLength = 32_000

  /// A pattern that does not compile.
  package struct Refusal: Error, Hashable {
    package let message: String
    /// The place in the pattern, in bytes.
    package let offset: Int
    package var remedy = "fix the pattern"
  }

  /// A match exceeded a limit.
  package struct LimitPassed: Error, Hashable {}

  package init(pattern: String, options: String = "") throws(Refusal) {
    self.pattern = pattern
    self.options = options
    for option in options where !"imsx".contains(option) {
      throw Refusal(message: "unknown option \"\(option)\"", offset: 0)
    }
    engine = try SystemPattern(pattern, options: options)
    literal = Self.literal(pattern, options: options)
  }

  /// Whether the pattern matches anywhere in the subject, which is UTF-8.
  package func matches(
    _ subject: UnsafeRawBufferPointer, _ budget: MatchBudget = MatchBudget()
  ) throws(LimitPassed) -> Bool {
    if let literal { return Bytes.contain(literal, in: subject) }
    return try engine.matches(subject, budget)
  }
}

extension RegularExpression: Hashable {
  package static func == (left: RegularExpression, right: RegularExpression) -> Bool {
    left.pattern.utf8.elementsEqual(right.pattern.utf8) && left.options == right.options
  }

  package func hash(into hasher: inout Hasher) {
    for byte in pattern.utf8 { hasher.combine(byte) }
    hasher.combine(options)
  }
}
