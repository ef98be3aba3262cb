import CDTJSON
import Testing

@Suite struct JSONValueTests {
  @Test func `text other than numbers has a place in the order, before every number`() {
    let values: [JSONValue] = [1, .double(2.5), .double(.nan), .int(.min), .double(-.infinity), true, "a"]
    #expect(
      values.sorted().map(\.text) == ["true", "null", "null", "-9223372036854775808", "1", "2.5", "\"a\""])
    #expect(JSONValue.double(.nan) == .double(.nan) && JSONValue.double(.nan) != 0)
    #expect(Set([JSONValue.double(.nan), .double(-.nan), 1]).count == 2)
  }

  @Test func literalsMakeValues() {
    let value: JSONValue = ["a": nil, "b": true, "c": 1, "d": 1.5, "e": "s", "f": [1, "\(2)"], "g": [:]]
    #expect(value.text == #"{"a":null,"b":true,"c":1,"d":1.5,"e":"s","f":[1,"2"],"g":{}}"#)
  }

  @Test func accessorsGiveTheirTypeOnly() {
    let values: [JSONValue] = [nil, true, 1, 1.5, "s", [], [:]]
    #expect(values.map(\.isNull) == [true, false, false, false, false, false, false])
    #expect(values.map(\.boolValue) == [nil, true, nil, nil, nil, nil, nil])
    #expect(values.map(\.intValue) == [nil, nil, 1, nil, nil, nil, nil])
    #expect(values.map(\.doubleValue) == [nil, nil, 1, 1.5, nil, nil, nil])
    #expect(values.map(\.stringValue) == [nil, nil, nil, nil, "s", nil, nil])
    #expect(values.map { $0.arrayValue != nil } == [false, false, false, false, false, true, false])
    #expect(values.map { $0.objectValue != nil } == [false, false, false, false, false, false, true])
  }

  @Test func wholeDoublesAreIntegersToo() {
    #expect(JSONValue.double(42).intValue == 42)
    #expect(JSONValue.double(0x1p63).intValue == nil)
    #expect(JSONValue.double(-0x1p63).intValue == Int.min)
    #expect(JSONValue.double(.nan).intValue == nil)
  }

  // MARK: Equality

  static let equal: [(JSONValue, JSONValue)] = [
    (42, 42.0), (0, -0.0), (["a": 1, "b": 2], ["b": 2.0, "a": 1]), ([[1], [:]], [[1.0], [:]]),
    (.int(.min), .double(-0x1p63)),
  ]

  @Test(arguments: equal) func equalValuesHashAlike(_ left: JSONValue, _ right: JSONValue) {
    #expect(left == right)
    #expect(left.hashValue == right.hashValue)
    #expect(!(left < right) && !(right < left))
  }

  @Test func integersBeyond64BitsAreEqualToTheNearestDouble() throws {
    let big = try JSONValue(parsing: "9223372036854775808")
    #expect(big == .double(0x1p63))
    #expect(big.hashValue == JSONValue.double(0x1p63).hashValue)
    #expect(big > .int(.max))
    #expect(big.text == "9223372036854775808")
    #expect(try JSONValue(parsing: "9223372036854775809") == big)
  }

  static let unequal: [(JSONValue, JSONValue)] = [
    (1, true), (0, false), (1, "1"), (nil, false), (nil, 0), ("", nil), ([], [:]), ("é", "e\u{301}"),
    (["é": 1], ["e\u{301}": 1]), ([1, 2], [2, 1]), ([1], [1, 1]), (["a": nil], [:]),
    (.int(.max), .double(0x1p63)), (.int(9_007_199_254_740_993), .double(9_007_199_254_740_992)),
  ]

  @Test(arguments: unequal) func unequalValuesAreOrdered(_ left: JSONValue, _ right: JSONValue) {
    #expect(left != right)
    #expect((left < right) != (right < left))
  }

  // MARK: Order

  /// Each value comes before the next one.
  static let ascending: [JSONValue] = [
    nil, false, true,
    -1e300, .int(.min), -1.5, -1, -0.5, 0, .double(.leastNonzeroMagnitude), 0.5, 1, 1.5,
    .int(9_007_199_254_740_992),
    .int(9_007_199_254_740_993), .double(9_007_199_254_740_994), .int(.max), .double(0x1p63), 1e300,
    "", "\u{0}", "A", "Z", "a", "aa", "b", "e\u{301}", "z", "é", "ﬀ", "\u{FFFF}", "😀",
    [], [nil], [nil, nil], [false], [1], [1, "a"], [1, []], [2], ["a"], [[]], [[], []], [[1]], [[:]],
    [:], ["a": nil], ["a": nil, "b": 1], ["a": 1], ["b": 1, "a": 1], ["a": 1, "b": 2], ["a": ["b": 1]],
    ["b": nil],
  ]

  @Test func valuesHaveOneOrder() {
    for (position, left) in Self.ascending.enumerated() {
      for (other, right) in Self.ascending.enumerated() {
        #expect((left < right) == (position < other), "\(left) < \(right)")
        #expect((left == right) == (position == other), "\(left) == \(right)")
      }
    }
  }

  /// If a level were looked at twice, a value of 500 levels would never be done.
  @Test func deepValuesAreComparedInOneWalk() throws {
    let array = { try JSONValue(parsing: nested("[", 500, "]", around: $0)) }
    let object = { try JSONValue(parsing: nested(#"{"a":"#, 500, "}", around: $0)) }
    for deep in [array, object] {
      let (one, two) = (try deep("1"), try deep("2"))
      #expect(one < two && two > one && one == one && one != two)
      #expect(!(one < one))
    }
  }

  // MARK: Writing

  @Test func doublesAreToldFromIntegers() {
    let doubles: [Double] = [1, -0.0, 0.1, 1e21, 1e-7, .leastNonzeroMagnitude, 1.7976931348623157e308, 100]
    #expect(
      doubles.map { JSONValue.double($0).text } == [
        "1.0", "-0", "0.1", "1e+21", "1e-07", "5e-324", "1.7976931348623157e+308", "100.0",
      ])
    #expect(JSONValue.double(.infinity).text == "null")
    #expect(JSONValue.double(.nan).text == "null")
  }

  @Test func everyCharacterHasOneSpelling() {
    for scalar in (0...0x2FF).compactMap(Unicode.Scalar.init) {
      let expected: String
      switch scalar {
      case "\"": expected = #""\"""#
      case "\\": expected = #""\\""#
      case "\n": expected = #""\n""#
      case "\r": expected = #""\r""#
      case "\0"..." " where scalar != " ":
        expected = "\"\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16) + "\""
      default: expected = "\"\(scalar)\""
      }
      #expect(JSONValue.string(String(scalar)).text.utf8.elementsEqual(expected.utf8))
    }
  }

  @Test func prettyTextIndentsByTwo() {
    let value: JSONValue = ["a": [1, [:], []], "b": ["c": "d"]]
    #expect(
      value.prettyText == """
        {
          "a": [
            1,
            {},
            []
          ],
          "b": {
            "c": "d"
          }
        }
        """)
    #expect(JSONObject().prettyText == "{}")
  }
}
