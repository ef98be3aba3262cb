// What can be said of a pattern's matches without running it. In doubt, nothing is said.
extension RegularExpression {
  /// What every match begins with, for a pattern that is bound to the start: `^abc.*` gives `abc`.
  ///
  /// `nil` when the pattern has options, an alternative, or no literal at its start.
  package var literalPrefix: String? {
    guard options.isEmpty, pattern.utf8.first == UInt8(ascii: "^"), !pattern.utf8.contains(UInt8(ascii: "|"))
    else {
      return nil
    }
    let rest = Array(pattern.unicodeScalars.dropFirst())
    var prefix = String.UnicodeScalarView()
    for (position, scalar) in rest.enumerated() {
      guard Self.isPlain(scalar) else { break }
      let next = position + 1 < rest.count ? rest[position + 1] : "."
      // A quantifier may ask for none of the character before it.
      if Self.quantifiers.contains(next) { break }
      prefix.append(scalar)
    }
    return prefix.isEmpty ? nil : String(prefix)
  }

  /// The pattern itself, when it has no options and nothing in it but plain characters: a match is a substring then.
  package var literal: [UInt8]? {
    guard options.isEmpty, !pattern.isEmpty, pattern.unicodeScalars.allSatisfy(Self.isPlain) else {
      return nil
    }
    return Array(pattern.utf8)
  }

  private static let quantifiers: Set<Unicode.Scalar> = ["*", "+", "?", "{"]
  private static let special: Set<Unicode.Scalar> = [
    "\\", "^", "$", ".", "[", "]", "|", "(", ")", "?", "*", "+", "{", "}", "#",
  ]

  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    !special.contains(scalar)
  }
}
