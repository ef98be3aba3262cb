import CDTTestSupport

/// Patterns and texts drawn from a seed.
struct RandomPatterns {
  private var random: SeededGenerator
  private var groups = 0
  private var closedGroups: [Int] = []
  private var names: [String] = []
  private var ignoresCase = false
  private var ignoresSpace = false

  static let optionSets = ["", "", "", "i", "m", "s", "x", "im", "ms", "ix"]

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
  }

  mutating func number(below bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }

  mutating func pick<T>(_ choices: [T]) -> T { choices[number(below: choices.count)] }

  // MARK: The portable subset

  /// A pattern of the subset, but for a few rules on how its parts go together.
  mutating func pattern(options: String) -> String {
    (groups, closedGroups, names) = (0, [], [])
    (ignoresCase, ignoresSpace) = (options.contains("i"), options.contains("x"))
    return alternatives(depth: 3)
  }

  private mutating func alternatives(depth: Int) -> String {
    let outer = (ignoresCase, ignoresSpace)
    defer { (ignoresCase, ignoresSpace) = outer }
    return (0...(number(below: 3) == 0 ? 1 : 0)).map { _ in
      (0...number(below: 3)).map { _ in piece(depth: depth) }.joined()
    }.joined(separator: "|")
  }

  private mutating func piece(depth: Int) -> String {
    switch number(below: 20) {
    case 0: return pick(["^", "$", #"\A"#, #"\z"#, #"\Z"#, #"\b"#, #"\B"#])
    case 1 where depth > 0: return pick(["(?=", "(?!"]) + alternatives(depth: depth - 1) + ")"
    case 2 where depth > 0: return pick(["(?<=", "(?<!"]) + fixedAlternatives() + ")"
    case 3:
      let options = pick(["i", "m", "s", "x", "-i", "-x", "i-m"])
      set(options)
      return "(?\(options))"
    case 4: return pick(["(?#c)", "", ""])
    case 5 where ignoresSpace: return pick([" ", " # c\n", "\t"])
    default: break
    }
    let atom = atom(depth: depth)
    return number(below: 3) == 0 ? atom + quantifier() : atom
  }

  private mutating func set(_ options: String) {
    var value = true
    for letter in options {
      if letter == "-" { value = false }
      if letter == "i" { ignoresCase = value }
      if letter == "x" { ignoresSpace = value }
    }
  }

  private mutating func quantifier() -> String {
    let numbers = pick(["*", "+", "?", "{2}", "{0,2}", "{1,}", "{1,3}", "{2,}", "{0,}", "{1}", "{3,4}"])
    return (ignoresSpace && number(below: 5) == 0 ? " " : "") + numbers + pick(["", "", "", "?", "+"])
  }

  private mutating func atom(depth: Int) -> String {
    switch number(below: depth > 0 ? 28 : 17) {
    case 8: return "."
    case 9, 10: return set()
    case 11, 12: return pick([#"\R"#] + Self.classes)
    case 13: return pick(Self.properties)
    case 14 where !closedGroups.isEmpty && !ignoresCase:
      let group = pick(closedGroups)
      return pick([#"\g{\#(group)}"#, #"(?:\\#(group))"#])
    case 15 where !names.isEmpty && !ignoresCase: return #"\k<\#(pick(names))>"#
    case 16: return #"\Q"# + pick(["a", "b*", "a.", "(", "[k"]) + #"\E"#
    case 17...21: return capture(depth: depth, name: nil)
    case 22:
      let name = "n\(groups + 1)"
      return capture(depth: depth, name: name)
    case 23, 24: return "(?:" + alternatives(depth: depth - 1) + ")"
    case 25, 26: return "(?>" + alternatives(depth: depth - 1) + ")"
    case 27:
      let outer = (ignoresCase, ignoresSpace)
      defer { (ignoresCase, ignoresSpace) = outer }
      let options = pick(["i", "m", "s", "x", "-i", "i-s", "-m", "ms"])
      set(options)
      return "(?\(options):" + alternatives(depth: depth - 1) + ")"
    default: return literal()
    }
  }

  private mutating func capture(depth: Int, name: String?) -> String {
    groups += 1
    let group = groups
    let body = alternatives(depth: depth - 1)
    closedGroups.append(group)
    guard let name else { return "(\(body))" }
    names.append(name)
    return pick(["(?<", "(?P<"]) + "\(name)>\(body))"
  }

  private mutating func fixedAlternatives() -> String {
    (0...number(below: 2)).map { _ in
      (0..<number(below: 3)).map { _ in
        switch number(below: 9) {
        case 0: return set()
        case 1: return pick([#"\b"#, "^", "$", #"\B"#, "(?=\(literal()))", "(?<=\(literal()))", "(?!a)"])
        case 2:
          groups += 1
          closedGroups.append(groups)
          return "(\(literal()))"
        case 3: return literal() + "{2}"
        case 4: return "(?:\(literal())|\(literal()))"
        case 5: return pick([".", #"\d"#, #"\W"#, #"\p{L}"#])
        default: return literal()
        }
      }.joined()
    }.joined(separator: "|")
  }

  private mutating func literal() -> String {
    let letter = pick(Self.letters)
    guard let scalar = letter.unicodeScalars.first else { return "" }
    if number(below: 8) == 0 { return "\\x{\(String(scalar.value, radix: 16))}" }
    return ignoresSpace && scalar.properties.isPatternWhitespace ? "\\" + letter : letter
  }

  private mutating func set() -> String {
    var members = (0...number(below: 3)).map { _ in
      switch number(below: 12) {
      case 0: return pick(Self.classes)
      case 1: return "[:" + pick(["", "", "", "^"]) + pick(Self.posix) + ":]"
      case 2: return pick(Self.properties + [#"\p{^L}"#])
      case 3: return pick(Self.ranges)
      case 4:
        return pick([#"\b"#, #"\n"#, #"\]"#, #"\-"#, #"\\"#, #"\^"#, "&&", "[", "|", "$", ".", "(", "&"])
      default: return pick(Self.letters)
      }
    }.joined()
    if number(below: 10) == 0 { members = "]" + members }
    if number(below: 12) == 0 { members = "-" + members }
    if number(below: 10) == 0 { members += "-" }
    return "[" + pick(["", "", "^"]) + members + "]"
  }

  /// What differs between engines: characters of other cases, combining characters, joined emoji, line endings, NUL.
  static let letters = [
    "a", "b", "a", "b", "c", "k", "s", "K", "S", "é", "É", "ß", "ſ", "\u{212A}", "٣", "1", "2", "_", " ",
    "\n", "\r",
    "\u{2028}", "\u{301}", "👩", "🇩", "🇪", "\u{200D}", "\0", "ẞ", "σ", "ς", "Σ", "İ", "i", "ı", "\u{85}", "\t",
    "=",
    ",", "µ", "ǆ",
  ]
  private static let classes = [
    #"\d"#, #"\w"#, #"\s"#, #"\D"#, #"\W"#, #"\S"#, #"\h"#, #"\v"#, #"\H"#, #"\V"#,
  ]
  private static let properties = [
    #"\p{L}"#, #"\P{L}"#, #"\p{Nd}"#, #"\p{L&}"#, #"\pM"#, #"\p{sc:Greek}"#, #"\p{So}"#,
  ]
  private static let posix = [
    "alpha", "lower", "upper", "alnum", "ascii", "blank", "cntrl", "digit", "graph", "print", "punct",
    "space",
    "word", "xdigit",
  ]
  private static let ranges = [
    "a-c", "a-z", "A-K", "é-ü", "σ-ω", "0-9", #"\x{0}-\x{1f}"#, #"\x{1F1E6}-\x{1F1FF}"#, "Z-a",
    #"\x{80}-\x{10ffff}"#,
  ]

  // MARK: Other texts

  /// A text that is almost a pattern of the subset, or made of parts of any patterns.
  mutating func nearPattern(options: String) -> String {
    guard number(below: 3) > 0 else {
      return (0...number(below: 8)).map { _ in pick(Self.fragments) }.joined()
    }
    var scalars = Array(pattern(options: options).unicodeScalars)
    for _ in 0...number(below: 3) {
      let place = number(below: scalars.count + 1)
      let end = min(scalars.count, place + number(below: 2))
      let inserted = number(below: 3) == 0 ? "" : pick(Self.fragments)
      scalars.replaceSubrange(place..<end, with: inserted.unicodeScalars)
    }
    return String(String.UnicodeScalarView(scalars))
  }

  private static let fragments = [
    "(", ")", "[", "]", "{", "}", "*", "+", "?", "|", "^", "$", ".", "\\", "-", ":", "#", " ", "\n", "(?",
    "(?<",
    "(?P", "(*", #"\Q"#, #"\E"#, #"\x"#, #"\x{"#, "{2,", ",3}", "{,2}", "[:alpha:]", "[[:", ":]", "[.", "[=",
    "(?i)",
    "(?-i", "(?x)", "(?|", "(?R)", "(?1)", "(?(1)", "(?C)", #"\K"#, #"\G"#, #"\N"#, #"\0"#, #"\1"#, #"\12"#,
    #"\g"#,
    #"\g{"#, #"\k<"#, #"\k"#, #"\c"#, #"\p"#, #"\p{"#, "L", "Greek", #"\P{^"#, "a", "b", "é", "1", "0", ",",
    "<",
    ">", "=", "!", "'", "P", "n", #"\X"#, #"\C"#, #"\u"#, #"\L"#, #"\o{"#, "&&", "--", "{65535}", "{0}",
    "{70000}",
    "(?#", #"\a"#, #"\e"#, #"\cA"#, #"\8"#, "{3,1}", "a-z", #"\d-"#, #"-\d"#, "\u{301}", "\0", "😀", "\u{85}",
    "(?^",
    "(?J)", "(?n)", "(?xx)", "(?a)", "(?U)", "{1,2}{3}", "++", "*?", "(?=", "(?<=", "(?<!", "(?>", "(?:",
    "(?<n1>",
  ]

  /// A text that patterns of these letters often match.
  mutating func subject() -> String {
    (0..<number(below: 8)).map { _ in
      number(below: 12) == 0
        ? pick(["\r\n", "👩\u{200D}👩", "🇩🇪", "e\u{301}", "STRASSE", "straße", "각", "ab\n"]) : pick(Self.letters)
    }.joined()
  }
}
