import CDTJSON
import Testing

/// Every message of refused text, word by word.
@Suite struct JSONErrorTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let text: [UInt8]
    let error: String

    init(_ name: String, _ text: String, _ error: String) {
      testDescription = name
      self.text = spelledBytes(text)
      self.error = error
    }
  }

  static let cases = [
    Case("nothing", "", "line 1, column 1: the text is empty; write a JSON value, such as null"),
    Case(
      "no value", "[1,]",
      "line 1, column 4: expected a value: an object, an array, a string in double quotes, a number, true, "
        + "false or null"),
    Case(
      "no key", "{\n  \"a\": 1,\n}",
      "line 3, column 1: expected a member name in double quotes; remove a comma after the last member"),
    Case(
      "a name in single quotes", "{'a': 1}",
      #"line 1, column 2: expected a member name in double quotes; put double quotes around each name, as in {"name": 1}"#
    ),
    Case(
      "a name without quotes", "{a: 1}",
      #"line 1, column 2: expected a member name in double quotes; put double quotes around each name, as in {"name": 1}"#
    ),
    Case(
      "a comment before a name", "{ // a\n\"a\": 1}", "line 1, column 3: JSON has no comments; remove them"),
    Case(
      "a comment behind a value", #"{"a": 1 /* a */}"#, "line 1, column 9: JSON has no comments; remove them"),
    Case("a comment before a value", "[// a\n1]", "line 1, column 2: JSON has no comments; remove them"),
    Case("a comment behind the text", "{} // a", "line 1, column 4: JSON has no comments; remove them"),
    Case("no colon", #"{"a" 1}"#, "line 1, column 6: expected a colon after the member name"),
    Case("no comma in an array", "[1 2]", #"line 1, column 4: expected a comma or "]""#),
    Case("no comma in an object", #"{"a":1 "b":2}"#, #"line 1, column 8: expected a comma or "}""#),
    Case(
      "cut off", #"{"a": [1"#, "line 1, column 9: the text ends inside a value; check that it is complete"),
    Case(
      "trailing text", "{} {}",
      "line 1, column 4: unexpected text after the value; remove it"),
    Case(
      "leading zero", "[012]",
      "line 1, column 3: invalid number; write numbers as 0, -1.5 or 2e10, with no leading zero and digits on both sides of the point"
    ),
    Case(
      "number beyond a double", "[1, 1e400]",
      "line 1, column 5: the number is out of the range of a double; write it as a string"),
    Case(
      "control character", #"["a‹09›b"]"#,
      #"line 1, column 4: the control character 09 is not allowed in a string; escape it as \u0009"#),
    Case(
      "escape", #"["\x41"]"#,
      #"line 1, column 3: invalid escape; after a backslash write one of "\/bfnrt, or u and four hexadecimal digits"#
    ),
    Case(
      "lone surrogate", #"["\ud800"]"#,
      "line 1, column 3: unpaired surrogate; escape the character as a surrogate pair, or write it unescaped"),
    Case(
      "invalid UTF-8", #"["ä‹ff›"]"#,
      "line 1, column 4: invalid UTF-8; convert the text to UTF-8"),
    Case(
      "byte order mark", "‹ef bb bf›{}",
      "line 1, column 1: the text begins with a byte order mark; remove it"),
    Case(
      "duplicate member", #"{"a\nb": 1, "a\u000ab": 2}"#,
      #"line 1, column 13: the object has two members named "a\nb"; name each once"#),
    Case(
      "long duplicate member", #"{"‹61›\#(zeros(99))":1,"a\#(zeros(99))":2}"#,
      #"line 1, column 107: the object has two members named "a\#(zeros(59))"…; name each once"#),
    Case(
      "too deep", nested("[", 513, "]"),
      "line 1, column 513: arrays and objects are nested deeper than 512 levels; flatten them"),
  ]

  @Test(arguments: cases) func saysWhatIsWrong(_ c: Case) {
    let error = #expect(throws: JSONError.self) { try JSONValue(parsing: c.text) }
    #expect(error?.description == c.error)
  }

  @Test func anObjectIsAskedFor() {
    let error = #expect(throws: JSONError.self) { try JSONObject(parsing: "\n [1]") }
    #expect(error?.description == "line 2, column 2: expected an object, in braces")
    #expect(error?.code == .notAnObject)
  }

  @Test func theOffsetCountsBytesAndTheColumnCharacters() {
    let error = #expect(throws: JSONError.self) { try JSONValue(parsing: "[\n\"äöü😀\", x]") }
    #expect(error?.offset == 16)
    #expect(error?.line == 2)
    #expect(error?.column == 9)
  }

  @Test func placesCountFromTheStartOfTheBytes() {
    let text = Array("{}\n{\"a\":x}".utf8)
    let error = #expect(throws: JSONError.self) {
      try text.withUnsafeBytes { try JSONText.normalize($0, from: 3) }
    }
    #expect(error?.line == 2)
    #expect(error?.column == 6)
  }

  @Test func theDepthBoundCanBeSet() throws {
    var options = JSONParsingOptions()
    options.maximumDepth = 3
    #expect(throws: Never.self) { try JSONValue(parsing: "[[[1]]]", options: options) }
    let error = #expect(throws: JSONError.self) { try JSONValue(parsing: "[[[[1]]]]", options: options) }
    #expect(error?.code == .tooDeep)
    #expect(error?.column == 4)
  }

  @Test func noDepthBoundExhaustsTheStack() throws {
    var options = JSONParsingOptions()
    options.maximumDepth = .max
    #expect(options.maximumDepth == 1_000)
    #expect(throws: JSONError.self) { try JSONValue(parsing: nested("[", 100_000, ""), options: options) }
    #expect(throws: Never.self) { try JSONValue(parsing: nested("[", 1_000, "]"), options: options) }
    options.maximumDepth = -1
    #expect(options.maximumDepth == 1)
  }
}
