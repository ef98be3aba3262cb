import CDTJSON
import CDTTestSupport
import Foundation
import Testing

/// A number keeps the spelling in which it was parsed, and is equal to every other spelling of its value.
@Suite struct NumberSpellingTests {
  @Test func `a number is written as it was spelled, wherever it is read`() throws {
    let seed = testSeed(31)
    var random = SpelledNumbers(seed: seed)
    for _ in 0..<5_000 {
      let text = random.number()
      let value = try JSONValue(parsing: text)
      #expect(value.text == text && value.prettyText == text, "seed \(seed): \(text)")
      let bytes = Array(text.utf8)
      #expect(bytes.withUnsafeBytes { JSONBytes($0).value(at: 0) }.text == text, "seed \(seed): \(text)")
      #expect(value.doubleValue == Double(text), "seed \(seed): \(text)")
    }
  }

  @Test func `an object is written as it was spelled, and has the canonical text of its bytes`() throws {
    let seed = testSeed(32)
    var random = SpelledNumbers(seed: seed)
    for _ in 0..<500 {
      let text = random.body()
      let object = try JSONObject(parsing: text)
      #expect(object.text == text, "seed \(seed)")
      #expect(try JSONObject(encoding: object).text == text, "seed \(seed)")
      #expect(try object.decode(JSONObject.self).text == text, "seed \(seed)")
      #expect(
        try object.decode([String: JSONValue].self)["list"]?.text == object["list"]?.text, "seed \(seed)")
      let normal = try Array(text.utf8).withUnsafeBytes { try JSONText.normalize(whole: $0) }
      #expect(normal.text.elementsEqual(text.utf8), "seed \(seed): \(text)")
      #expect(normal.canonical.elementsEqual(object.canonicalText.utf8), "seed \(seed): \(text)")
    }
  }

  @Test func `a spelling does not change what a number is equal to`() throws {
    let seed = testSeed(33)
    var random = SpelledNumbers(seed: seed)
    for _ in 0..<2_000 {
      let text = random.number()
      let value = try JSONValue(parsing: text)
      guard case .spelled(let number) = value else { continue }
      let double = JSONValue.double(number.doubleValue)
      #expect(
        value == double && double == value && value.hashValue == double.hashValue, "seed \(seed): \(text)")
      #expect(!(value < double) && !(double < value), "seed \(seed): \(text)")
      #expect(OrderKey(value) == OrderKey(double), "seed \(seed): \(text)")
    }
    #expect(try JSONValue(parsing: "4.20e1") == 42)
    #expect(Set([42, try JSONValue(parsing: "4.20e1"), 42.0]).count == 1)
    #expect(try JSONValue(parsing: "1e-400") == 0)
  }

  @Test func `the text that a double is written as is read as a double`() throws {
    let seed = testSeed(34)
    var random = RandomValues(seed: seed)
    var doubles: [Double] = [
      0, -0.0, 1, -1, 100, 0.0001, 0.00001, 123_456_789_012_345, 1e15, 1e16, 0x1p53, 0x1p63,
    ]
    for _ in 0..<5_000 { doubles.append(random.double()) }
    for _ in 0..<5_000 { doubles.append(Double(random.number(below: 1_000_000_000)) / 10_000) }
    for double in doubles {
      let text = JSONValue.double(double).text
      guard case .double(let read) = try JSONValue(parsing: text) else {
        Issue.record("seed \(seed): \(text)")
        continue
      }
      #expect(read == double && read.sign == double.sign, "seed \(seed): \(text)")
    }
  }

  @Test func `every spelling of a whole number is one`() throws {
    #expect(try JSONValue(parsing: "1e2").intValue == 100)
    #expect(try JSONValue(parsing: "2.00").intValue == 2)
    #expect(try JSONValue(parsing: "1.10").intValue == nil)
    #expect(try JSONValue(parsing: "9223372036854775808").intValue == nil)
    #expect(try Int128(jsonValue: JSONValue(parsing: "-170141183460469231731687303715884105729")) == nil)
    #expect(try UInt64(jsonValue: JSONValue(parsing: "1.8e19")) == 18_000_000_000_000_000_000)
    #expect(try WholeNumber(truncating: JSONValue(parsing: "7.90"))?.int64 == 7)
  }

  @Test func `a decimal has every digit that was written`() throws {
    let value = try JSONValue(parsing: "123456789.123456789123")
    #expect(try value.decode(Decimal.self) == Decimal(string: "123456789.123456789123"))
    #expect(try value.decode(Double.self) == 123456789.12345679)
  }

  @Test func `a value is as small as the text it holds allows`() {
    #expect(MemoryLayout<JSONValue>.stride <= 24)
  }

  @Test func `only a change of spelling or value tells two values apart`() throws {
    func isSpelled(_ left: String, like right: String) throws -> Bool {
      try JSONValue(parsing: left).isSpelled(like: JSONValue(parsing: right))
    }
    #expect(try isSpelled(#"{"a":[1.10,null],"b":{"c":1}}"#, like: #"{"b":{"c":1},"a":[1.10,null]}"#))
    for (left, right) in [
      ("1.10", "1.1"), ("1", "1.0"), ("12345678901234567890", "12345678901234567891"), ("1e3", "1E3"),
      ("[1,2]", "[1]"), (#"{"a":1}"#, #"{"a":1,"b":1}"#), (#"{"a":1}"#, #"{"b":1}"#), ("null", "false"),
      (#""1""#, "1"), (#"{"a":[1.0]}"#, #"{"a":[1.00]}"#),
    ] {
      #expect(try !isSpelled(left, like: right) && !isSpelled(right, like: left), "\(left), \(right)")
    }
  }
}
