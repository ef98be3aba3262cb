// Properties of a pattern's matches that are known without running it; `nil` if in doubt.
extension RegularExpression {
  /// The literal start of every match, for a pattern anchored at the start: `abc` for `^abc.*`.
  ///
  /// `nil` if the pattern has options, an alternative, or no literal at its start.
  package var literalPrefix: String? {
    guard options.isEmpty, pattern.utf8.first == UInt8(ascii: "^"), !pattern.utf8.contains(UInt8(ascii: "|"))
    else {
      return nil
    }
    let rest = Array(pattern.unicodeScalars.dropFirst())
    var prefix = String.UnicodeScalarView()
    for (position, scalar) in rest.enumerated() {
      guard Self.isPlain(scalar) else { break }
      if Self.mayRepeat(rest[(position + 1)...]) { break }
      prefix.append(scalar)
    }
    return prefix.isEmpty ? nil : String(prefix)
  }

  /// The pattern itself, if it has no options and only plain characters. A match is then a substring.
  static func literal(_ pattern: String, options: String) -> [UInt8]? {
    guard options.isEmpty, !pattern.isEmpty, pattern.unicodeScalars.allSatisfy(isPlain) else {
      return nil
    }
    return Array(pattern.utf8)
  }

  /// Whether the character before this rest of a pattern may have a quantifier, which may allow zero repetitions. A `\E`, an
  /// empty `\Q\E` and comments may stand between the two.
  private static func mayRepeat(_ rest: ArraySlice<Unicode.Scalar>) -> Bool {
    guard let next = rest.first else { return false }
    let following = rest.dropFirst().first
    return quantifiers.contains(next) || next == "(" && following == "?"
      || next == "\\" && (following == "E" || following == "Q")
  }

  private static let quantifiers: Set<Unicode.Scalar> = ["*", "+", "?", "{"]
  private static let special: Set<Unicode.Scalar> = [
    "\\", "^", "$", ".", "[", "]", "|", "(", ")", "?", "*", "+", "{", "}", "#",
  ]

  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    !special.contains(scalar)
  }
}
