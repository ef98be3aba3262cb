import CDTTestSupport
import Testing

@testable import CDTJSON

@Suite struct CollationTests {
  struct Pair: Sendable, CustomTestStringConvertible {
    let left, right: String
    let nocase, unicode: Order
    var testDescription: String { "\(left) \(right)" }

    init(_ left: String, _ right: String, nocase: Order, unicode: Order) {
      (self.left, self.right, self.nocase, self.unicode) = (left, right, nocase, unicode)
    }
  }

  static let pairs = [
    Pair("anna", "Anna", nocase: .same, unicode: .same),
    Pair("anna", "annb", nocase: .ascending, unicode: .ascending),
    Pair("Åland", "Zimbabwe", nocase: .descending, unicode: .ascending),
    Pair("ΣΑΣ", "σας", nocase: .same, unicode: .same),
    Pair("ẞ", "ß", nocase: .same, unicode: .same),
    Pair("ß", "ss", nocase: .descending, unicode: .same),
    Pair("é", "e\u{301}", nocase: .descending, unicode: .same),
    Pair("é", "e", nocase: .descending, unicode: .same),
    Pair("e\u{301}\u{327}", "e\u{327}\u{301}", nocase: .ascending, unicode: .same),
    // A letter of its own in this table.
    Pair("и", "й", nocase: .ascending, unicode: .ascending),
    Pair("и\u{306}", "й", nocase: .ascending, unicode: .same),
    Pair("и\u{323}\u{306}", "й\u{323}", nocase: .ascending, unicode: .same),
    // Thai vowels are written before the consonant and sorted after it.
    Pair("เก", "ข", nocase: .descending, unicode: .ascending),
    Pair("가", "\u{1100}\u{1161}", nocase: .descending, unicode: .same),
    Pair("가", "각", nocase: .ascending, unicode: .ascending),
    Pair("日", "本", nocase: .ascending, unicode: .ascending),
    Pair("\u{4E00}", "\u{20000}", nocase: .ascending, unicode: .ascending),
    Pair("\u{17000}", "一", nocase: .descending, unicode: .ascending),
    Pair("x-y", "xy", nocase: .ascending, unicode: .ascending),
    Pair("x 1", "x-1", nocase: .ascending, unicode: .ascending),
    Pair("10", "9", nocase: .ascending, unicode: .ascending),
    Pair("9", "a", nocase: .ascending, unicode: .ascending),
    Pair("z", "α", nocase: .ascending, unicode: .ascending),
    Pair("ﬁn", "fin", nocase: .descending, unicode: .same),
    Pair("", "\u{0}", nocase: .ascending, unicode: .same),
    Pair("\u{E000}", "\u{10FFFF}", nocase: .ascending, unicode: .ascending),
  ]

  @Test(arguments: pairs) func `two strings have this order`(_ pair: Pair) {
    #expect(Self.order(pair.left, pair.right, .nocase) == pair.nocase)
    #expect(Self.order(pair.left, pair.right, .unicode) == pair.unicode)
  }

  static func order(_ left: String, _ right: String, _ collation: Collation) -> Order {
    let (left, right) = (
      OrderKey(collation.folded(.string(left))), OrderKey(collation.folded(.string(right)))
    )
    return left < right ? .ascending : left == right ? .same : .descending
  }

  /// Every character alone and in pairs: the folded form is UTF-8, and canonically equivalent strings have the same.
  @Test func `equivalent strings are equal by primary weights`() {
    var random = SeededGenerator(seed: testSeed(31))
    let scalars = (0..<0x11_0000).compactMap { Unicode.Scalar($0 as UInt32) }
    for scalar in scalars {
      let string = String(scalar)
      let folded = Collation.unicode.folded(string)
      if String(validating: folded.utf8, as: UTF8.self) == nil { Issue.record("\(scalar.value)") }
    }
    for _ in 0..<20_000 {
      let common = (0..<3).map { _ in scalars[Int.random(in: 0..<0x3000, using: &random)] }
      let string = String(String.UnicodeScalarView(common))
      // Swift compares strings by canonical equivalence; a character gives its marks in canonical order.
      let swapped = String(String.UnicodeScalarView([common[0], common[2], common[1]]))
      if string == swapped {
        #expect(Collation.unicode.folded(string) == Collation.unicode.folded(swapped), "\(common)")
      }
    }
  }

  @Test func `a folded prefix is a prefix of the folded string`() {
    for (prefix, string) in [("AN", "ännchen"), ("x-", "X-ray"), ("", "a"), ("ΑΒ", "αβγ"), ("日", "日本")] {
      #expect(Collation.unicode.folded(string).hasBytePrefix(Collation.unicode.folded(prefix)))
    }
    #expect(!Collation.unicode.folded("ab").hasBytePrefix(Collation.unicode.folded("b")))
    #expect(!Collation.unicode.folded("-").hasBytePrefix(Collation.unicode.folded("_")))
  }

  @Test func `values within arrays and objects are folded and names are not`() {
    let value: JSONValue = ["Name": ["A", 1, nil, ["B": "C"]]]
    #expect(Collation.nocase.folded(value) == ["Name": ["a", 1, nil, ["B": "c"]]])
    let text = value.utf8Text
    let key = text.withUnsafeBytes { OrderKey(JSONBytes($0), at: 0, by: .nocase) }
    #expect(key == OrderKey(Collation.nocase.folded(value)))
  }

  @Test(.timeLimit(.minutes(5))) func `long strings and thousands of marks take linear time`() {
    let marks = String(String.UnicodeScalarView((0..<300_000).map { _ in "\u{F71}" as Unicode.Scalar }))
    for text in [
      "a" + marks, marks + "\u{F72}", String(repeating: "เ", count: 100_000),
      String(repeating: "e\u{301}\u{323}", count: 100_000),
    ] {
      for collation in Collation.allCases { #expect(!collation.folded(text).isEmpty) }
    }
    #expect(
      Collation.unicode.folded("a" + String(repeating: "\u{301}", count: 100_000))
        == Collation.unicode.folded("a"))
  }

  @Test func `bytes that are no UTF-8 are folded like replacement characters`() {
    for bytes in [[0xFF], [0x61, 0xC3], [0xED, 0xA0, 0x80]] as [[UInt8]] {
      for collation in Collation.allCases {
        var folded: [UInt8] = []
        bytes.withUnsafeBytes { collation.fold($0, to: &folded) }
        #expect(folded == Array(collation.folded(String(decoding: bytes, as: UTF8.self)).utf8))
      }
    }
  }
}
