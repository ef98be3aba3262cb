/// A set of characters in a pattern.
struct PatternSet {
  private var ranges: [ClosedRange<UInt32>] = []
  /// Sets in ICU's spelling whose characters are members, too.
  private var classes: [String] = []
  var isNegated = false

  /// At least the number of bytes that PCRE2 needs.
  var size: Int { 48 + 10 * (ranges.count + classes.count) }

  /// Whether PCRE2 10.42 does not decide about all characters as written: a class that is the complement of ASCII characters beside another
  /// class.
  var isMixed: Bool { classes.count > 1 && classes.contains { $0.hasPrefix("[^") && !$0.contains("p{") } }

  mutating func insert(_ range: ClosedRange<UInt32>, ignoringCase: Bool) {
    ranges.append(range)
    if ignoringCase { ranges += CaseClasses.additions(to: range) }
  }

  mutating func insert(_ class: String) { classes.append(`class`) }

  /// The set for ICU.
  var spelling: String {
    let members = ranges.map { range in
      let first = Self.spelling(range.lowerBound)
      return range.count == 1 ? first : "\(first)-\(Self.spelling(range.upperBound))"
    }
    return "[\(isNegated ? "^" : "")\(members.joined())\(classes.joined())]"
  }

  /// A character for ICU, within sets and outside.
  static func spelling(_ scalar: UInt32) -> String {
    switch scalar {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: String(Unicode.Scalar(UInt8(scalar)))
    default: "\\x{\(String(scalar, radix: 16))}"
    }
  }

  static let all = #"[\x{0}-\x{10ffff}]"#
  static let word = "[0-9A-Z_a-z]"

  /// The classes of escapes such as `\d`.
  static let escapes: [Unicode.Scalar: String] = [
    "d": "[0-9]", "D": "[^0-9]", "w": word, "W": "[^0-9A-Z_a-z]",
    "s": #"[\x{9}-\x{d}\x{20}]"#, "S": #"[^\x{9}-\x{d}\x{20}]"#,
    "v": #"[\x{a}-\x{d}\x{85}\x{2028}\x{2029}]"#, "V": #"[^\x{a}-\x{d}\x{85}\x{2028}\x{2029}]"#,
    "h": "[\(horizontal)]", "H": "[^\(horizontal)]",
  ]

  private static let horizontal =
    #"\x{9}\x{20}\x{a0}\x{1680}\x{180e}\x{2000}-\x{200a}\x{202f}\x{205f}\x{3000}"#

  /// The members of POSIX's classes, in ASCII.
  static let posix = [
    "alpha": "A-Za-z", "lower": "a-z", "upper": "A-Z", "alnum": "0-9A-Za-z", "ascii": #"\x{0}-\x{7f}"#,
    "blank": #"\x{9}\x{20}"#, "cntrl": #"\x{0}-\x{1f}\x{7f}"#, "digit": "0-9", "graph": #"\x{21}-\x{7e}"#,
    "print": #"\x{20}-\x{7e}"#, "punct": #"\x{21}-\x{2f}\x{3a}-\x{40}\x{5b}-\x{60}\x{7b}-\x{7e}"#,
    "space": #"\x{9}-\x{d}\x{20}"#, "word": "0-9A-Z_a-z", "xdigit": "0-9A-Fa-f",
  ]

  /// A property for ICU; `nil` if it is not in the subset.
  static func property(_ name: String) -> String? {
    if categories.contains(name) { return "\\p{\(name)}" }
    if name == "L&" { return #"\p{LC}"# }
    guard name.hasPrefix("sc:"), scripts.contains(String(name.dropFirst(3))) else { return nil }
    return "\\p{sc=\(name.dropFirst(3))}"
  }

  static let categories = Set(
    """
    C Cc Cf Cn Co Cs L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs
    """.split(separator: " ").map(String.init))

  /// Scripts. PCRE2's `\p{Greek}` also has characters that scripts share, which differ by the version of Unicode.
  static let scripts = Set(
    """
    Arabic Armenian Bengali Cyrillic Devanagari Ethiopic Georgian Greek Gujarati Gurmukhi Han Hangul Hebrew Hiragana Kannada Katakana \
    Khmer Lao Latin Malayalam Mongolian Myanmar Sinhala Tamil Telugu Thai Tibetan
    """.split(separator: " ").map(String.init))
}
