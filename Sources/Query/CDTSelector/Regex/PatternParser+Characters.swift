// Escapes and sets.
extension PatternParser {
  mutating func escape() throws(Failure) -> PatternPiece {
    let start = position
    position += 1
    if let members = try classEscape(from: start) { return .character(members, size: 60) }
    if let reference = try reference(from: start) { return reference }
    if skip("R") {
      return .group(#"(?>\x{d}\x{a}|[\x{a}-\x{d}\x{85}\x{2028}\x{2029}])"#, canBeEmpty: false)
    }
    if let next, let assertion = Self.assertions[next] {
      position += 1
      return .assertion(assertion)
    }
    return literal(try escapedCharacter(from: start))
  }

  private static let assertions: [Unicode.Scalar: String] = {
    let (before, notBefore) = ("(?<=\(PatternSet.word))", "(?<!\(PatternSet.word))")
    let (after, notAfter) = ("(?=\(PatternSet.word))", "(?!\(PatternSet.word))")
    return [
      "A": #"\A"#, "z": #"\z"#, "Z": #"(?=\x{a}?\z)"#,
      "b": "(?:\(before)\(notAfter)|\(notBefore)\(after))",
      "B": "(?:\(before)\(after)|\(notBefore)\(notAfter))",
    ]
  }()

  /// A class such as `\d` or `\p{L}`, after its backslash, as a set; `nil` if something else follows.
  private mutating func classEscape(from start: Int) throws(Failure) -> String? {
    guard let letter = next else { return nil }
    if letter == "p" || letter == "P" { return try property(from: start) }
    guard let members = PatternSet.escapes[letter] else { return nil }
    position += 1
    return members
  }

  private mutating func property(from start: Int) throws(Failure) -> String {
    var isNegated = skip("P")
    if !isNegated { position += 1 }
    let isBraced = skip("{")
    if isBraced, skip("^") { isNegated.toggle() }
    let name = String(isBraced ? scalars[position...].prefix { $0 != "}" } : scalars[position...].prefix(1))
    position = min(scalars.count, position + name.unicodeScalars.count + (isBraced ? 1 : 0))
    let text = String(scalars[start..<position])
    guard let property = PatternSet.property(name), !isBraced || text.hasSuffix("}") else {
      throw failure(.unknownProperty(text), at: start)
    }
    guard !options.ignoresCase || !["Lu", "Ll", "Lt"].contains(name) else {
      throw failure(.caselessProperty(text), at: start)
    }
    return "[\(isNegated ? "^" : "")\(property)]"
  }

  private static let controls: [Unicode.Scalar: Unicode.Scalar] = [
    "a": "\u{7}", "e": "\u{1B}", "f": "\u{C}", "n": "\n", "r": "\r", "t": "\t",
  ]

  /// The character of an escape, after its backslash.
  private mutating func escapedCharacter(from start: Int) throws(Failure) -> Unicode.Scalar {
    guard let letter = next else { throw failure(.unfinished("\\"), at: start) }
    position += 1
    if let control = Self.controls[letter] { return control }
    guard letter == "x" else {
      guard letter.digit(radix: 36) == nil else { throw failure(.construct("\\\(letter)"), at: start) }
      return letter
    }
    let isBraced = skip("{")
    let digits = String(scalars[position...].prefix(isBraced ? 6 : 2).prefix { $0.digit(radix: 16) != nil })
    position += digits.utf8.count
    guard isBraced ? skip("}") : digits.utf8.count == 2, let number = UInt32(digits, radix: 16),
      let scalar = Unicode.Scalar(number)
    else { throw failure(.codePoint(String(scalars[start..<position])), at: start) }
    return scalar
  }

  // MARK: Sets

  mutating func set() throws(Failure) -> PatternPiece {
    let start = position
    if let end = classEnd() { throw failure(.invalidClass(String(scalars[start..<end])), at: start) }
    position += 1
    var set = PatternSet()
    set.isNegated = skip("^")
    var isFirst = true
    while isFirst || next != "]" {
      let place = position
      guard isFirst || next != "-" || starts(with: "-]") else { throw failure(.hyphen) }
      isFirst = false
      if let members = try setClass() {
        set.insert(members)
        continue
      }
      let first = try setCharacter(of: start)
      var last = first
      if next == "-", !starts(with: "-]") {
        position += 1
        guard try setClass() == nil else { throw failure(.hyphen, at: place) }
        last = try setCharacter(of: start)
      }
      guard first <= last else { throw failure(.range(String(scalars[place..<position])), at: place) }
      set.insert(first...last, ignoringCase: options.ignoresCase)
    }
    position += 1
    guard !set.isMixed else { throw failure(.mixedSet(String(scalars[start..<position])), at: start) }
    return .character(set.spelling, size: set.size)
  }

  /// A class in a set, as a set; `nil` if a character follows.
  private mutating func setClass() throws(Failure) -> String? {
    let start = position
    if let end = classEnd() {
      position = end
      let isNegated = scalars[start + 2] == "^"
      var name = String(scalars[start + (isNegated ? 3 : 2)..<end - 2])
      if options.ignoresCase, name == "lower" || name == "upper" { name = "alpha" }
      guard scalars[start + 1] == ":", let members = PatternSet.posix[name] else {
        throw failure(.invalidClass(String(scalars[start..<end])), at: start)
      }
      return "[\(isNegated ? "^" : "")\(members)]"
    }
    guard skip("\\") else { return nil }
    let members = try classEscape(from: start)
    if members == nil { position = start }
    return members
  }

  private mutating func setCharacter(of set: Int) throws(Failure) -> UInt32 {
    let start = position
    guard let next else { throw failure(.unfinished("["), at: set) }
    position += 1
    guard next == "\\" else { return next.value }
    return skip("b") ? 8 : try escapedCharacter(from: start).value
  }

  /// The end of a class such as `[:alpha:]` or `[=a=]` that begins here; `nil` if this bracket is a character.
  private func classEnd() -> Int? {
    guard starts(with: "[:") || starts(with: "[.") || starts(with: "[=") else { return nil }
    let mark = scalars[position + 1]
    var place = position + 2
    while place + 1 < scalars.count {
      switch (scalars[place], scalars[place + 1]) {
      case (mark, "]"): return place + 2
      case ("]", _), ("[", mark): return nil
      case ("\\", "]"), ("\\", "\\"): place += 2
      default: place += 1
      }
    }
    return nil
  }
}
