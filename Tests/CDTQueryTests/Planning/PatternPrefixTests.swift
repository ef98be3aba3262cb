import CDTDatastore
import Testing

@testable import CDTQuery
@testable import CDTSelector

/// The literal start of a pattern's matches, which becomes a range of an index.
@Suite struct PatternPrefixTests {
  @Test(arguments: [
    ("^ab", "ab"), ("^ab.*", "ab"), ("^ab$", "ab"), (#"^ab\d"#, "ab"), ("^ab(c)?", "ab"), ("^é😀[x]", "é😀"),
    ("^ab?", "a"), ("^ab*c", "a"), ("^a{0}", nil), ("^a?", nil), ("ab", nil), ("^", nil), ("^a|b", nil),
    // A quantifier belongs to the character before these, which match nothing.
    (#"^ab\E?"#, "a"), (#"^ab\Q\E*c"#, "a"), (#"^ab\E\E{0}c"#, "a"), ("^ab(?#comment)?c", "a"),
    ("^ab(*ACCEPT)?c", "ab"), ("^ab(?i)c", "a"), ("^ab(?m)$", "a"), ("^(a|b)", nil), ("^ab{,1}c", "a"),
  ])
  func `every match starts with the literal start of its pattern`(_ pattern: String, _ prefix: String?) throws
  {
    let expression = try RegularExpression(pattern: pattern)
    #expect(expression.literalPrefix == prefix)
    for subject in ["", "a", "b", "ab", "abb", "ac", "c", "abc", "ab1", "é😀x"] where prefix != nil {
      if try Array(subject.utf8).withUnsafeBytes({ try expression.matches($0) }) {
        #expect(subject.utf8.starts(with: (prefix ?? "").utf8))
      }
    }
  }

  @Test(arguments: ["i", "m", "s", "x"])
  func `a pattern with an option has no literal start`(_ option: String) throws {
    let expression = try RegularExpression(pattern: "^ab", options: option)
    #expect(expression.literalPrefix == nil)
  }

  @Test(arguments: [#"^ab\E?$"#, #"^ab\Q\E?$"#, "^ab(?#comment)?$"])
  func `an index finds what a pattern matches without its optional character`(_ pattern: String) throws {
    try withTemporaryDatastore { store in
      try store.ensureIndexed(["s"])
      _ = try store.createDocument(from: DocumentDraft(id: "x", body: ["s": "a"]))
      #expect(try store.find(["s": ["$regex": .string(pattern)]]).map(\.id) == ["x"])
    }
  }
}
