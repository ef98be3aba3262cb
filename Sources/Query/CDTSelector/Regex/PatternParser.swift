/// Reads a pattern of the portable subset and writes it for ICU.
///
/// The result depends on no option of ICU and on none of its classes: `(?i)k` becomes a set of three characters, `\d` becomes `[0-9]`,
/// and `$` becomes what it asserts.
struct PatternParser {
  static let maximumDepth = 40
  static let maximumLookBehind = 255
  static let maximumRepetitions = 65_535
  /// PCRE2 refuses a pattern that takes 65,536 bytes when it is compiled.
  private static let maximumSize = 60_000

  struct Failure: Error {
    let fault: PatternFault
    /// The place in the pattern, in characters.
    let position: Int
  }

  struct Options {
    var ignoresCase = false, isMultiline = false, dotMatchesAll = false, ignoresSpace = false

    /// Sets an option; `false` if there is none by this name.
    mutating func set(_ letter: Unicode.Scalar, _ value: Bool) -> Bool {
      switch letter {
      case "i": ignoresCase = value
      case "m": isMultiline = value
      case "s": dotMatchesAll = value
      case "x": ignoresSpace = value
      default: return false
      }
      return true
    }
  }

  let scalars: [Unicode.Scalar]
  var position = 0
  var options = Options()
  /// Whether the position is between `\Q` and `\E`.
  private var isQuoted = false
  var depth = 0
  /// The number of groups that have begun.
  var groups = 0
  var closedGroups: Set<Int> = []
  var names: [String: Int] = [:]
  var hasReference = false

  init(_ pattern: String, options letters: String) {
    scalars = Array(pattern.unicodeScalars)
    for letter in letters.unicodeScalars { _ = options.set(letter, true) }
  }

  mutating func parse() throws(Failure) -> String {
    let alternatives = try self.alternatives()
    guard position == scalars.count else { throw failure(.unopenedGroup) }
    // ICU assumes that a reference matches nothing when it decides which characters a match can begin with. The last alternative never
    // matches, and begins with any character.
    let neverMatching = hasReference ? "|\(PatternSet.all)(?!)" : ""
    // Foundation refuses an empty pattern.
    return "(?:\(PatternPiece.joined(alternatives))\(neverMatching))"
  }

  /// The alternatives up to the end of a group or of the pattern.
  mutating func alternatives() throws(Failure) -> [PatternPiece] {
    var alternatives = [PatternPiece()]
    while true {
      try skipIgnored()
      guard let next, isQuoted || next != ")" else { return alternatives }
      if !isQuoted, next == "|" {
        position += 1
        alternatives.append(PatternPiece())
        continue
      }
      var piece = try item(next)
      try skipIgnored()
      try quantify(&piece)
      alternatives[alternatives.count - 1].append(piece)
      guard piece.size <= Self.maximumSize, alternatives.last?.size ?? 0 <= Self.maximumSize else {
        throw failure(.tooLarge)
      }
    }
  }

  /// Skips what matches nothing: the beginning and the end of a quotation, comments, and with the option `x` white space.
  private mutating func skipIgnored() throws(Failure) {
    while let next {
      if isQuoted {
        guard skip("\\E") else { return }
        isQuoted = false
      } else if skip("\\Q") {
        isQuoted = true
      } else if starts(with: "(?#") {
        guard let end = scalars[position...].firstIndex(of: ")") else { throw failure(.unfinished("(?#")) }
        position = end + 1
      } else if options.ignoresSpace, next == "#" {
        position = scalars[position...].firstIndex(of: "\n").map { $0 + 1 } ?? scalars.count
      } else if options.ignoresSpace && next.properties.isPatternWhitespace {
        position += 1
      } else if !skip("\\E") {
        return
      }
    }
  }

  private mutating func item(_ next: Unicode.Scalar) throws(Failure) -> PatternPiece {
    if isQuoted {
      position += 1
      return literal(next)
    }
    switch next {
    case "\\": return try escape()
    case "[": return try set()
    case "(": return try group()
    case "*", "+", "?": throw failure(.misplacedQuantifier(String(next)))
    case "{": throw failure(.plainBrace)
    default: position += 1
    }
    switch next {
    case "^": return .assertion(options.isMultiline ? #"(?:\A|(?<=\x{a})(?!\z))"# : #"\A"#)
    case "$": return .assertion(options.isMultiline ? #"(?=\x{a}|\z)"# : #"(?=\x{a}?\z)"#)
    case ".": return .character(options.dotMatchesAll ? PatternSet.all : #"[^\x{a}]"#, size: 2)
    default: return literal(next)
    }
  }

  func literal(_ scalar: Unicode.Scalar) -> PatternPiece {
    guard options.ignoresCase, CaseClasses.others[scalar.value] != nil else {
      return .character(PatternSet.spelling(scalar.value), size: 1 + UTF8.width(scalar))
    }
    var set = PatternSet()
    set.insert(scalar.value...scalar.value, ignoringCase: true)
    return .character(set.spelling, size: 5)
  }

  // MARK: Quantifiers

  /// Repeats a piece by the quantifier that follows, if there is one.
  private mutating func quantify(_ piece: inout PatternPiece) throws(Failure) {
    let start = position
    guard !isQuoted, let (least, most, text) = try quantifier() else { return }
    guard piece.canBeRepeated else { throw failure(.misplacedQuantifier(text), at: start) }
    var suffix = text
    if skip("?") {
      guard !piece.canBeEmpty || most != nil else { throw failure(.emptyRepetition(text + "?"), at: start) }
      suffix += "?"
    }
    piece.repeat(suffix, isAtomic: suffix == text && skip("+"), least: least, most: most)
    try skipIgnored()
    let second = position
    if !isQuoted, let (_, _, text) = try quantifier() { throw failure(.secondQuantifier(text), at: second) }
  }

  /// Reads `*`, `+`, `?` or numbers in braces; `nil` if something else follows.
  private mutating func quantifier() throws(Failure) -> (least: Int, most: Int?, text: String)? {
    if skip("*") { return (0, nil, "*") }
    if skip("+") { return (1, nil, "+") }
    if skip("?") { return (0, 1, "?") }
    let start = position
    guard skip("{") else { return nil }
    guard let least = number() else { throw failure(.plainBrace, at: start) }
    let most = skip(",") ? number() : least
    guard skip("}") else { throw failure(.plainBrace, at: start) }
    let text = String(scalars[start..<position])
    guard max(least, most ?? 0) <= Self.maximumRepetitions, most ?? least >= least, most != 0 else {
      throw failure(.invalidQuantifier(text), at: start)
    }
    return (least, most, text)
  }

  // MARK: Reading

  var next: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

  func starts(with text: String) -> Bool { scalars[position...].starts(with: text.unicodeScalars) }

  /// Skips a text; `false` if another follows.
  mutating func skip(_ text: String) -> Bool {
    guard starts(with: text) else { return false }
    position += text.unicodeScalars.count
    return true
  }

  /// Reads digits; `nil` if there are none.
  mutating func number() -> Int? {
    var number: Int?
    while let next, let digit = next.digit(radix: 10) {
      number = min((number ?? 0) * 10 + digit, 1_000_000)
      position += 1
    }
    return number
  }

  func failure(_ fault: PatternFault, at place: Int? = nil) -> Failure {
    Failure(fault: fault, position: place ?? position)
  }
}

extension String {
  init(_ scalars: ArraySlice<Unicode.Scalar>) {
    self.init(String.UnicodeScalarView(scalars))
  }
}

extension Unicode.Scalar {
  /// The value of an ASCII digit.
  func digit(radix: Int) -> Int? { isASCII ? Int(String(self), radix: radix) : nil }
}
