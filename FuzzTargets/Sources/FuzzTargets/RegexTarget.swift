import CDTQuery

/// A pattern in the first line, its options in the second, the subject in the others.
enum RegexTarget {
  static func run(_ input: [UInt8]) throws {
    let (pattern, rest) = firstLine(input)
    let (options, subject) = firstLine(rest)
    let letters = String(decoding: options, as: UTF8.self)
    guard let pattern = String(validating: pattern, as: UTF8.self), letters.allSatisfy("imsx".contains) else {
      return
    }
    guard let expression = try? RegularExpression(pattern: pattern, options: letters) else {
      let isPortable = (try? PortablePattern(pattern, options: letters)) != nil
      expect(!isPortable, "a pattern of the subset that does not compile")
      return
    }
    subject.withUnsafeBytes { bytes in
      guard let matches = try? expression.matches(bytes) else { return }
      if let again = try? expression.matches(bytes) { expectEqual(again, matches, "the same match again") }
      guard matches else { return }
      if let literal = expression.literal { expect(subject.contains(literal), "a match without the literal") }
      if let prefix = expression.literalPrefix {
        expect(subject.starts(with: prefix.utf8), "a match without the prefix \(prefix)")
      }
    }
  }
}
