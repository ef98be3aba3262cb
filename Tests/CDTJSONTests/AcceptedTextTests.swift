import CDTJSON
import Testing

/// Text that RFC 8259 allows, in the families that the public conformance suites have.
@Suite struct AcceptedTextTests {
  /// Text, and what it is when it is written again.
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let text: [UInt8]
    let written: [UInt8]

    init(_ name: String, _ text: String, _ written: String? = nil) {
      testDescription = name
      self.text = spelledBytes(text)
      self.written = spelledBytes(written ?? text)
    }
  }

  static let arrays = [
    Case("spaces in and around arrays", "[[]   ]", "[[]]"),
    Case("empty array", "[]"),
    Case("array holding an empty string", #"[""]"#),
    Case("array closed on another line", "[1‹0a›]", "[1]"),
    Case("false in an array", "[false]"),
    Case("null in an array", "[null]"),
    Case("several types in an array", #"[null, 1, "1", {}]"#, #"[null,1,"1",{}]"#),
    Case("space before an array", " [1]", "[1]"),
    Case("space after an array", "[2] ", "[2]"),
    Case("several nulls", "[1,null,null,null,2]"),
    Case("array of arrays", "[[1],[2,[3]]]"),
    Case("every white space around everything", "‹09 0d 0a› [ ‹09 0d 0a›1 ‹0a›,‹0d›2‹09›] ‹0a›", "[1,2]"),
  ]

  static let numbers = [
    Case("zero", "0"),
    Case("minus zero", "-0"),
    Case("minus zero in an array", "[-0]"),
    Case("one digit", "7"),
    Case("negative one", "-1"),
    Case("negative integer", "-123"),
    Case("integer", "123"),
    Case("simple decimal", "123.456789"),
    Case("decimal near zero", "-0." + zeros(77) + "1"),
    Case("exponent of zero", "0e1"),
    Case("exponent of zero with plus", "0e+1"),
    Case("capital exponent", "1E22"),
    Case("capital exponent with minus", "1E-2"),
    Case("capital exponent with plus", "1E+2"),
    Case("exponent", "123e45"),
    Case("decimal with exponent", "123.456e78"),
    Case("exponent with minus", "1e-2"),
    Case("exponent with plus", "1e+2"),
    Case("exponent with leading zeros", "1e0005"),
    Case("minus zero with fraction", "-0.0"),
    Case("minus zero with exponent", "-0e5"),
    Case("zero with fraction", "0.0"),
    Case("trailing zeros of a fraction", "1.500"),
    Case("largest 64-bit integer", "9223372036854775807"),
    Case("smallest 64-bit integer", "-9223372036854775808"),
    Case("one beyond the largest 64-bit integer", "9223372036854775808"),
    Case("one below the smallest 64-bit integer", "-9223372036854775809"),
    Case("integer of 20 digits", "12345678901234567890"),
    Case("integer of 21 digits", "100000000000000000000"),
    Case("negative integer of 21 digits", "-123123123123123123123"),
    Case("integer of 300 digits", "1" + zeros(299)),
    Case("integer of 309 digits within range", "1" + zeros(308)),
    Case("largest double", "1.7976931348623157e308"),
    Case("most negative double", "-1.7976931348623157e308"),
    Case("smallest normal double", "2.2250738585072014e-308"),
    Case("smallest subnormal double", "5e-324"),
    Case("below the smallest double", "1e-400"),
    Case("negative below the smallest double", "-1e-400"),
    Case("far below the smallest double", "123.456e-789"),
    Case("zero with a huge exponent", "0e999999999999"),
    Case("huge negative exponent", "1e-999999999999"),
    Case("integer that a double cannot hold", "9007199254740993"),
    Case("decimal of many digits", "0.1234567890123456789012345678901234567890"),
    Case("decimal that rounds half to even", "9007199254740993.0"),
    Case("number of 400 zeros after the point", "0." + zeros(400) + "1"),
    Case("whole number with fraction", "1.0"),
    Case("whole number with exponent", "1e3"),
    Case("number before a newline", "[1‹0a›]", "[1]"),
  ]

  static let objects = [
    Case("empty object", "{}"),
    Case("empty key", #"{"":0}"#),
    Case("one member", #"{"a":1}"#),
    Case("two members", #"{"asd":"sdf", "dfg":"fgh"}"#, #"{"asd":"sdf","dfg":"fgh"}"#),
    Case("NUL in a key", #"{"foo\u0000bar": 42}"#, #"{"foo\u0000bar":42}"#),
    Case(
      "extreme numbers in an object", #"{ "min": -1.0e+28, "max": 1.0e+28 }"#,
      #"{"min":-1.0e+28,"max":1.0e+28}"#),
    Case("escaped key", #"{"\u0041\n":1}"#, #"{"A\n":1}"#),
    Case("object over several lines", #"{‹0a›"a": "b"‹0a›}"#, #"{"a":"b"}"#),
    Case("keys that differ in case", #"{"a":1,"A":2}"#),
    Case("keys that differ in normal form", #"{"é":1,"e‹cc 81›":2}"#),
    Case("key that is a number as text", #"{"1":1}"#),
    Case("objects in objects", #"{"a":{"b":{"c":{}}}}"#),
    Case("the same key on two levels", #"{"a":{"a":1}}"#),
    Case("key beyond the basic plane", #"{"😀":1}"#),
    Case("twenty members", manyMembers(20)),
  ]

  static let strings = [
    Case("accepted surrogate pair", #"["\uD801\udc37"]"#, #"["𐐷"]"#),
    Case("two surrogate pairs", #"["\ud83d\ude39\ud83d\udc8d"]"#, #"["😹💍"]"#),
    Case("every short escape", #"["\"\\\/\b\f\n\r\t"]"#, #"["\"\\/\u0008\u000c\n\r\u0009"]"#),
    Case("escaped backslash", #"["\\"]"#),
    Case("escaped quote", #"["\""]"#),
    Case("backslash and u as text", #"["\\u0000"]"#),
    Case("backslashes and n as text", #"["\\n"]"#),
    Case("escaped line feed", #"["\u000A"]"#, #"["\n"]"#),
    Case("escaped control", #"["\u0012"]"#),
    Case("escaped NUL", #"["\u0000"]"#),
    Case("escaped noncharacter U+FFFF", #"["\uFFFF"]"#, #"["‹ef bf bf›"]"#),
    Case("noncharacter U+FFFF", #"["‹ef bf bf›"]"#),
    Case("escaped noncharacter U+10FFFF", #"["\uDBFF\uDFFF"]"#, #"["‹f4 8f bf bf›"]"#),
    Case("noncharacter U+10FFFF", #"["‹f4 8f bf bf›"]"#),
    Case("escaped noncharacter U+1FFFE", #"["\uD83F\uDFFE"]"#, #"["‹f0 9f bf be›"]"#),
    Case("escaped U+FDD0", #"["\uFDD0"]"#, #"["‹ef b7 90›"]"#),
    Case("comment as text", #"["a/*b*/c/*d//e"]"#),
    Case("in an array", #"["asd"]"#),
    Case("in an array after a space", #"[ "asd"]"#, #"["asd"]"#),
    Case("last surrogates", #"["‹f4 8f bf bf›"]"#),
    Case("no-break space escaped", #"["new\u00A0line"]"#, #"["new‹c2 a0›line"]"#),
    Case("one byte of UTF-8", #"["\u002c"]"#, #"[","]"#),
    Case("two bytes of UTF-8", #"["£"]"#),
    Case("three bytes of UTF-8", #"["€"]"#),
    Case("four bytes of UTF-8", #"["𝄞"]"#),
    Case("pi", #"["π"]"#),
    Case("CJK", #"["⍂㈴⍂"]"#),
    Case("reserved character U+9BEF F", #"["‹f0 9b bf bf›"]"#),
    Case("a string alone", #"" ""#),
    Case("an empty string alone", "\"\""),
    Case("delete character", #"["‹7f›"]"#),
    Case("escaped delete character", #"["\u007F"]"#, #"["‹7f›"]"#),
    Case("line separator U+2028", #"["‹e2 80 a8›"]"#),
    Case("paragraph separator U+2029", #"["‹e2 80 a9›"]"#),
    Case("byte order mark within a string", #"["‹ef bb bf›"]"#),
    Case("escaped byte order mark", #"["\uFEFF"]"#, #"["‹ef bb bf›"]"#),
    Case("escape of both cases", #"["\u00aB\u00Ab"]"#, #"["««"]"#),
    Case("double escape", #"["\"\\a\""]"#),
    Case("zero width characters", #"["‹e2 80 8b e2 80 8d e2 81 a0›"]"#),
    Case("combining marks", #"["e‹cc 81 cc a3›"]"#),
    Case("right-to-left marks", #"["‹e2 80 ae›א"]"#),
    Case("last character before the surrogates", #"["‹ed 9f bf›"]"#),
    Case("first character after the surrogates", #"["‹ee 80 80›"]"#),
    Case("escaped character before the surrogates", #"["\ud7ff"]"#, #"["‹ed 9f bf›"]"#),
    Case("escaped character after the surrogates", #"["\ue000"]"#, #"["‹ee 80 80›"]"#),
    Case("eight plain bytes", #""12345678""#),
    Case("quote as the ninth byte", #""1234567\"9""#),
    Case("long text of ASCII", "\"" + String(repeating: "abcdefghij", count: 20) + "\""),
    Case("long text of other characters", #""äöüäöüäöüäöüäöüäöüäöüäöüäöüäöüäöüäöüäöüäöüäöüäöüäöüäöüäöüäöü""#),
    Case("slash", #"["/"]"#),
    Case("escaped slash", #"["\/"]"#, #"["/"]"#),
    Case("surrogate pair of both cases", #"["\uD83d\uDe00"]"#, #"["😀"]"#),
    Case("surrogate pair after text", #""abcdefg\ud83d\ude00xyz""#, #""abcdefg😀xyz""#),
  ]

  static let structure = [
    Case("false alone", "false"),
    Case("true alone", "true"),
    Case("null alone", "null"),
    Case("integer alone", "42"),
    Case("negative real alone", "-0.1"),
    Case("string alone", #""asd""#),
    Case("trailing newline", #"["a"]‹0a›"#, #"["a"]"#),
    Case("true in an array", "[true]"),
    Case("space around a value", " [] ", "[]"),
    Case("nested to the bound", nested("[", 512, "]")),
    Case("objects nested to the bound", nested(#"{"a":"#, 511, "}", around: "{}")),
  ]

  static let all = arrays + numbers + objects + strings + structure

  @Test(arguments: all) func parses(_ c: Case) throws {
    #expect(try JSONValue(parsing: c.text).utf8Text == c.written)
  }

  @Test(arguments: all) func writesWhatItReadsAgain(_ c: Case) throws {
    let value = try JSONValue(parsing: c.text)
    #expect(try JSONValue(parsing: value.text).isSpelled(like: value))
    #expect(try JSONValue(parsing: value.prettyText).isSpelled(like: value))
  }

  /// Numbers keep their spelling, everything else has one.
  @Test(arguments: all) func normalizes(_ c: Case) throws {
    let options = deeper
    let body = Array(#" { "k" : "#.utf8) + c.text + Array(" } ".utf8)
    let normal = try body.withUnsafeBytes { try JSONText.normalize($0, options: options) }
    #expect(normal.end == body.count - 1)
    let value = try JSONValue(parsing: c.text)
    #expect(normal.text == (["k": value] as JSONObject).utf8Text)
    #expect(normal.text.withUnsafeBytes { JSONBytes($0).value(at: 0) }.isSpelled(like: ["k": value]))
    #expect(try JSONValue(parsing: normal.text, options: options) == ["k": value])
    let again = try normal.text.withUnsafeBytes { try JSONText.normalize($0, options: options) }
    #expect(again.text == normal.text)
  }

  private var deeper: JSONParsingOptions {
    var options = JSONParsingOptions()
    options.maximumDepth += 1
    return options
  }
}
