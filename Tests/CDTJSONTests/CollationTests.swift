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

  /// Characters alone and with others; the table does not know those that are newer than it.
  @Test func `equivalent strings are equal by primary weights`() {
    var random = SeededGenerator(seed: testSeed(31))
    for value in stride(from: 0 as UInt32, to: 0x11_0000, by: 61) {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let folded = Collation.unicode.folded(String(scalar))
      if String(validating: folded.utf8, as: UTF8.self) == nil { Issue.record("\(scalar.value)") }
    }
    let known = (0..<0x3000).compactMap { Unicode.Scalar($0 as UInt32) }.filter { scalar in
      scalar.properties.age.map { $0.major <= 13 } ?? false
    }
    for _ in 0..<5_000 {
      let drawn = (0..<3).map { _ in known[Int.random(in: known.indices, using: &random)] }
      let string = String(String.UnicodeScalarView(drawn))
      // Swift compares strings by canonical equivalence.
      let swapped = String(String.UnicodeScalarView([drawn[0], drawn[2], drawn[1]]))
      guard string == swapped else { continue }
      #expect(Collation.unicode.folded(string) == Collation.unicode.folded(swapped), "\(drawn)")
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

  @Test(.timeLimit(.usual)) func `long strings and thousands of marks take linear time`() {
    let marks = String(String.UnicodeScalarView((0..<30_000).map { _ in "\u{F71}" as Unicode.Scalar }))
    for text in [
      "a" + marks, marks + "\u{F72}", String(repeating: "เ", count: 10_000),
      String(repeating: "e\u{301}\u{323}", count: 10_000),
    ] {
      for collation in Collation.allCases { #expect(!collation.folded(text).isEmpty) }
    }
    #expect(
      Collation.unicode.folded("a" + String(repeating: "\u{301}", count: 10_000))
        == Collation.unicode.folded("a"))
  }

  @Test func `invalid UTF-8 is folded like replacement characters`() {
    for bytes in [[0xFF], [0x61, 0xC3], [0xED, 0xA0, 0x80]] as [[UInt8]] {
      for collation in Collation.allCases {
        var folded: [UInt8] = []
        bytes.withUnsafeBytes { collation.fold($0, to: &folded) }
        #expect(folded == Array(collation.folded(String(decoding: bytes, as: UTF8.self)).utf8))
      }
    }
  }
}
