import CDTFoundationPattern
import CDTJSON
import CDTTestSupport
import Testing

@testable import CDTSelector

/// The subset of PCRE2 that every system's engine decides alike.
@Suite struct PortablePatternTests {
  // MARK: The guide

  private struct Row {
    let pattern: String
    let matching, other: JSONValue

    /// A row such as "| `\d` | a digit | `^\d$` | `"1"` | `"٣"` |", in which a bar is escaped.
    init?(_ line: Substring) throws {
      let cells = line.replacing(#"\|"#, with: "\0").split(separator: "|").map {
        $0.replacing("\0", with: "|").trimmingPrefix { $0 == " " }
      }
      guard cells.count == 5, cells[2].hasPrefix("`") else { return nil }
      let codes = try cells[2...].map { cell in
        try #require(cell.split(separator: "`", maxSplits: 1).first.map(String.init))
      }
      pattern = codes[0]
      (matching, other) = (try JSONValue(parsing: codes[1]), try JSONValue(parsing: codes[2]))
    }
  }

  @Test func `the examples of the guide are true for both engines`() throws {
    let page = try Repository.page("query.md")
    let table = try #require(page.split(separator: "<!-- patterns -->").dropFirst().first)
    let rows = try table.split(separator: "\n").compactMap(Row.init)
    #expect(rows.count == 22)
    for row in rows {
      #expect(
        try Self.decisions(row.pattern, on: #require(row.matching.stringValue)) == [true, true], "\(row)")
      #expect(
        try Self.decisions(row.pattern, on: #require(row.other.stringValue)) == [false, false], "\(row)")
    }
    for name in PatternSet.scripts.union(PatternSet.categories) { #expect(table.contains(name), "\(name)") }
  }

  // MARK: Both engines

  static func decisions(_ pattern: String, options: String = "", on subject: String) throws -> [Bool] {
    let expression = try RegularExpression(pattern: pattern, options: options)
    let engine = try FoundationEngine(pattern, options: options)
    return try Array(subject.utf8).withUnsafeBytes {
      [try expression.matches($0), try engine.matches($0, MatchBudget())]
    }
  }

  /// What ICU would decide differently, or optimizations of PCRE2 10.42 miss.
  @Test(arguments: [
    ("(?i)STRASSE", "straße", false), ("(?i)straße", "STRAẞE", true), ("(?i)k", "\u{212A}", true),
    ("(?i)[a-z]", "ſ", true), ("(?i)[[:alpha:]]", "ſ", false), ("(?i)[[:upper:]]", "a", true),
    (#"\w"#, "é", false), (#"\d"#, "٣", false), (#"\bé"#, "é", false), ("a.b", "a\u{2028}b", true),
    ("a$", "a\r", false), ("a$", "a\n", true), ("(?m)^$", "a\n", false), ("(?m)^b", "a\rb", false),
    ("[&&]", "&", true), ("[]-a]", "^", true), ("[^]]", "]", false), (#"\p{sc:Greek}"#, "\u{300}", false),
    ("(a)|\\1b", "b", false), (#"(?=(a))\1s"#, "as", true), (#"(a)\g{1}1"#, "aa1", true), ("", "a", true),
    ("a\0", "a\0", true), (#"(?<=(ab)|(b))\2"#, "abb", false), ("(?x)a +  b # c", "aab", true),
    ("(a(?i)b|c)d", "Cd", true), (#"\Qa\E+$"#, "aa", true), (#"^\R$"#, "\r\n", true),
    (#"^\R\n"#, "\r\n", false),
    (#"^\S\W\D$"#, "éé🇩", true), ("(?>[ab]+?)c", "abc", true), ("[ab]+(?>|_)b", "ab", true),
    ("(?=a)(?:b|)a", "a", true), ("(?:xy|x)s*y", "xy", true),
    (#".*\R"#, "\r", true), (#"\S+\R"#, "\u{85}\u{85}", true),
  ])
  func `both engines mean the same`(_ pattern: String, _ subject: String, _ matches: Bool) throws {
    #expect(try Self.decisions(pattern, on: subject) == [matches, matches])
  }

  /// All characters that have a case in Unicode 13, which both engines know.
  @Test func `case is ignored as PCRE2 ignores it`() throws {
    let cased = (UInt32(0)...0x1_FFFF).compactMap(Unicode.Scalar.init).filter {
      let properties = $0.properties
      return (properties.isCased || properties.changesWhenCaseMapped) && properties.age?.major ?? 99 <= 13
    }
    #expect(cased.count > 2_500)
    func text(_ scalars: [Unicode.Scalar]) -> [UInt8] {
      Array(String(String.UnicodeScalarView(scalars)).utf8)
    }
    let known = Set(cased.map(\.value))
    // Unicode 15.1 made these pairs equal, so it depends on the version of PCRE2.
    let pairs: [UInt32: UInt32] = [0x390: 0x1FD3, 0x3B0: 0x1FE3, 0xFB05: 0xFB06]
    let later = pairs.merging(pairs.map { ($1, $0) }) { old, _ in old }
    // Each eighth, and all that others than two characters equal.
    for (number, scalar) in cased.enumerated() {
      let others = (CaseClasses.others[scalar.value] ?? []).intersection(known)
      guard number % 8 == 0 || others.count != 1 else { continue }
      let expression = try RegularExpression(pattern: "\\x{\(String(scalar.value, radix: 16))}", options: "i")
      let different = text(
        cased.filter { $0 != scalar && !others.contains($0.value) && later[scalar.value] != $0.value })
      #expect(try different.withUnsafeBytes { try !expression.matches($0) }, "\(scalar)")
      for other in others.compactMap(Unicode.Scalar.init) {
        #expect(try text([other]).withUnsafeBytes { try expression.matches($0) }, "\(scalar) \(other)")
      }
    }
  }

  @Test func `both engines decide some random patterns alike`() {
    var tally = PatternLaw.Tally()
    for seed in 0..<1_500 {
      if let difference = PatternLaw.check(seed: UInt64(seed), &tally) { Issue.record("\(difference)") }
    }
    #expect(tally.portable > 500 && tally.matches > 3_000 && tally.limits * 100 < tally.texts, "\(tally)")
  }

  // MARK: Limits

  private static func outcome(_ pattern: String, on subject: String, _ budget: MatchBudget) -> Bool? {
    guard let engine = try? FoundationEngine(pattern, options: "") else { return nil }
    return Array(subject.utf8).withUnsafeBytes { try? engine.matches($0, budget) }
  }

  @Test(.timeLimit(.usual), arguments: ["^(a+)+$", "^(a|aa)+$", "(x+x+)+y|^(a|a?)+$"])
  func `Foundation gives up a match with too many steps`(_ pattern: String) {
    #expect(Self.outcome(pattern, on: String(repeating: "a", count: 60) + "b", MatchBudget()) == nil)
  }

  /// ICU gives up by itself, as if there were no match.
  @Test(.timeLimit(.usual), arguments: [10, 40, 400])
  func `Foundation gives up a match with too many operations at each step`(_ count: Int) {
    let letters = String(repeating: "[ab]", count: count)
    let text = String(repeating: "a", count: 60 * count) + "b"
    #expect(Self.outcome("^(?:\(letters)|\(letters))*c", on: text, MatchBudget()) == nil)
  }

  @Test(.timeLimit(.usual)) func `Foundation gives up what is slow in a long string`() {
    let text = String(repeating: "a", count: 1_000_000)
    #expect(Self.outcome("(?=a*[^a])", on: text, MatchBudget()) == nil)
    #expect(Self.outcome("[b-z]|aa$", on: text, MatchBudget()) == true)
  }

  @Test func `Foundation gives up a match that needs too much memory`() {
    let text = String(repeating: "ab", count: 1_000_000)
    #expect(Self.outcome("^(?:(a)(b))*c", on: text, MatchBudget()) == nil)
  }

  @Test func `the end of a query ends a match of Foundation`() {
    let budget = MatchBudget(QueryStop(timeLimit: .zero))
    #expect(Self.outcome("^(a+)+$", on: String(repeating: "a", count: 60) + "b", budget) == nil)
  }

  // MARK: Refusals

  static let refusals: [(pattern: String, refusal: String)] = [
    (#"é\K"#, #"2: it has "\K"; put what precedes it in a look-behind (?<=…)"#),
    (#"\X"#, #"0: it has "\X"; write \P{M}\p{M}*"#),
    (#"a\N{U+41}"#, #"1: it has "\N"; write [^\n]"#),
    (#"\C"#, #"0: it has "\C"; write ".""#),
    (#"\Ga"#, #"0: it has "\G"; write \A"#),
    (#"\012"#, #"0: it has "\0"; write \x{…} for a character"#),
    (#"\u0041"#, #"0: it has "\u"; write it with the syntax that docs/query.md lists"#),
    (#"(a)\g1"#, #"3: it has "\g"; write \g{n}"#),
    (#"[\Qa\E]"#, #"1: it has "\Q"; escape each character of the set with a backslash"#),
    ("(?|a|b)", #"0: it has "(?|"; write (?:…), with a group in each alternative"#),
    ("a(?R)", #"1: it has "(?R"; write it with the syntax that docs/query.md lists"#),
    ("(?(1)a)", #"0: it has "(?("; write alternatives that begin with (?=…) and (?!…)"#),
    ("(*COMMIT)", #"0: it has "(*"; write it with the syntax that docs/query.md lists"#),
    (#"(?i)\p{Lu}"#, #"4: it has "\p{Lu}" with the option "i"; write (?-i:\p{Lu})"#),
    (#"(?i)(a)\1"#, #"7: it has the reference "\1" with the option "i"; write (?-i:\1)"#),
    (
      #"\p{Greek}"#,
      #"0: it has "\p{Greek}"; name a general category or a script that docs/query.md lists"#
    ),
    (
      #"[\W\d]"#,
      #"0: it has the set "[\W\d]" of several classes, one of them a complement; write the classes as alternatives: (?:\W|\p{L})"#
    ),
    (
      "(a|)*?b",
      #"4: it has "*?" after a group that can match nothing; leave out the question mark, or the alternative that matches nothing"#
    ),
    (
      "a{,2}",
      #"1: it has a "{" that does not begin a quantifier; write "\{" for a brace, and {0,n} for up to n repetitions"#
    ),
    (#"[\d-z]"#, #"3: it has a "-" in a set that is not part of a range; write "\-""#),
    (
      "(?<=a+)",
      "0: it has a look-behind of variable or more than 255 characters; give all its alternatives fixed lengths"
    ),
    ("x(", #"1: it has "(" without its end; complete it"#),
    ("a\\", #"1: it has "\" without its end; write "\\" for a backslash"#),
    ("a)", #"1: it has a ")" without a "("; write "\)" for a parenthesis"#),
    (
      "*a",
      #"0: it has "*" with nothing before it that can be repeated; escape it with a backslash, or remove it"#
    ),
    (
      #"\b+"#,
      #"2: it has "+" with nothing before it that can be repeated; escape it with a backslash, or remove it"#
    ),
    ("a**", #"2: it has the quantifier "*" after a quantifier; put what is repeated in a group (?:…)"#),
    (
      "a{3,1}",
      #"1: it has the quantifier "{3,1}", which has no valid numbers; write {n}, {n,} or {n,m} with numbers up to 65535"#
    ),
    ("[b-a]", #"1: it has the range "b-a", whose ends are in the wrong order; exchange them"#),
    (
      "[[:foo:]]",
      #"1: it has "[:foo:]", which is not a class of characters; write a class such as [[:alpha:]], or escape the bracket"#
    ),
    (
      #"(a\1)"#,
      #"2: it has "\1", which does not refer to a group that ends before it; refer to a group before it, with \g{n} if a digit follows"#
    ),
    (
      "(?<a>b)(?<a>c)",
      #"7: it has the name "a", which is used twice or not valid; choose a name of up to 32 ASCII letters, digits and underscores"#
    ),
    (
      #"\x{110000}"#,
      #"0: it has "\x{110000}", which is not a character; write \x{…} with one to six hexadecimal digits"#
    ),
    (
      String(repeating: "(", count: 41) + String(repeating: ")", count: 41),
      "40: it has groups in more than 40 levels; use a smaller pattern"
    ),
    ("(a{9}b){9999}", "13: it has repetitions that make it too large; use a smaller pattern"),
  ]

  @Test(arguments: refusals)
  func `a construct outside of the subset is refused`(_ pattern: String, _ expected: String) {
    let refusal = #expect(throws: RegularExpression.Refusal.self) { try PortablePattern(pattern) }
    #expect(refusal.map { "\($0.offset): \($0.message); \($0.remedy)" } == expected)
  }

  @Test func `a query may have patterns outside of the subset`() throws {
    let selector = try QuerySelector(["a": ["$regex": #"(?|(a)|(b))\1(*ACCEPT)"#]])
    #expect(try selector.matches(["a": "bb"]))
  }
}
