import CDTJSON
import Foundation
import Testing

@Suite struct FoundationCodingTests {
  enum Level: Int, Codable { case low = 1, high }

  struct Record: Codable, Equatable {
    var date: Date
    var data: Data
    var url: URL
    var id: UUID
    var price: Decimal
    var level: Level
  }

  struct Nested: Codable, Equatable {
    var record: Record
    var optional: Date?
    var absent: Data?
    var dates: [Date]
    var optionals: [Data?]
    var urls: [String: URL]
    var prices: [String: [Decimal]]
    var levels: [Level]
    var records: [String: [Record]]
  }

  private static let record = Record(
    date: Date(timeIntervalSince1970: 1_714_566_600.25), data: Data([0, 1, 255]),
    url: URL(string: "https://example.com/a?b=c#d") ?? URL(filePath: "/"),
    id: UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)),
    price: Decimal(string: "19.99") ?? 0, level: .high)

  private static let nested = Nested(
    record: record, optional: record.date, absent: nil, dates: [record.date, Date(timeIntervalSince1970: 0)],
    optionals: [record.data, nil], urls: ["home": record.url], prices: ["EUR": [1, record.price]],
    levels: [.low, .high], records: ["all": [record, record]])

  static let options: [JSONCodingOptions] = [
    .init(), .init(dates: .secondsSince1970), .init(dates: .millisecondsSince1970), .init(dates: .deferred),
    .init(data: .deferred), .init(dates: .deferred, data: .deferred),
  ]

  @Test(arguments: options) func `a type comes back as it went, however deep`(
    _ options: JSONCodingOptions
  ) throws {
    let body = try JSONObject(encoding: Self.nested, options: options)
    #expect(try body.decode(Nested.self, options: options) == Self.nested)
    #expect(try JSONObject(parsing: body.text).decode(options: options) == Self.nested)
    let value = try JSONValue(encoding: Self.record.date, options: options)
    #expect(try value.decode(Date.self, options: options) == Self.record.date)
  }

  @Test func `the usual spellings are the default`() throws {
    #expect(
      try JSONObject(encoding: Self.record).text
        == #"{"date":"2024-05-01T12:30:00.250Z","data":"AAH/","url":"https://example.com/a?b=c#d","#
        + #""id":"01020304-0506-0708-090A-0B0C0D0E0F10","price":19.99,"level":2}"#)
  }

  @Test func `dates and data are spelled as the options say`() throws {
    func text(_ options: JSONCodingOptions) throws -> String {
      let body = try JSONObject(encoding: Self.record, options: options)
      return [body["date"], body["data"]].compactMap { $0?.text }.joined(separator: " ")
    }
    #expect(try text(.init(dates: .secondsSince1970)) == #"1714566600.25 "AAH/""#)
    #expect(try text(.init(dates: .millisecondsSince1970)) == #"1714566600250.0 "AAH/""#)
    #expect(try text(.init(dates: .deferred, data: .deferred)) == "736259400.25 [0,1,255]")
  }

  @Test func `values of another type or spelling are refused with their path`() {
    struct Owner: Decodable { var records: [Record] }
    let good: JSONObject = [
      "date": "2024-05-01T12:30:00Z", "data": "", "url": "a", "id": "01020304-0506-0708-090A-0B0C0D0E0F10",
      "price": 1, "level": 1,
    ]
    let bad: [(String, JSONValue, String)] = [
      ("date", 5, "expected a string, found a number"),
      (
        "date", "May 1", #""May 1" is not a date in ISO 8601, such as 2024-05-01T12:30:00Z"#
      ),
      ("data", "?", "the string is not in Base64"), ("data", nil, "expected a string, found null"),
      ("url", "", #""" is not a URL"#), ("url", 1, "expected a string, found a number"),
      ("price", "1 euro", #""1 euro" is not a decimal number"#),
      ("price", true, "expected a number, found a boolean"),
    ]
    for (key, value, message) in bad {
      var record = good
      record[key] = value
      let body: JSONObject = ["records": [.object(good), .object(record)]]
      let error = #expect(throws: DecodingError.self) { try body.decode(Owner.self) }
      switch error {
      case .typeMismatch(_, let context), .dataCorrupted(let context), .valueNotFound(_, let context):
        if case .valueNotFound = error { #expect(value == .null) } else { #expect(value != .null) }
        #expect(context.codingPath.map(\.stringValue) == ["records", "Index 1", key])
        #expect(context.debugDescription == message)
      default: Issue.record("\(error as Any)")
      }
    }
  }

  @Test(arguments: [
    (Double.infinity, "the date is not finite; encode a finite one, or null"),
    (1e300, "the date is outside of the years 0 to 9999 of ISO 8601; encode it as seconds"),
  ]) func `a date that can't be written is refused`(_ seconds: Double, _ message: String) {
    let dates = ["a": [Date(timeIntervalSinceReferenceDate: seconds)]]
    let error = #expect(throws: EncodingError.self) { try JSONObject(encoding: dates) }
    guard case .invalidValue(_, let context)? = error else {
      Issue.record("\(error as Any)")
      return
    }
    #expect(context.codingPath.map(\.stringValue) == ["a", "Index 0"])
    #expect(context.debugDescription == message)
  }

  @Test func `dates that are not finite are refused in every spelling`() {
    for options in Self.options {
      #expect(throws: EncodingError.self, "\(options)") {
        try JSONValue(encoding: Date(timeIntervalSinceReferenceDate: .nan), options: options)
      }
    }
    #expect(throws: EncodingError.self) { try JSONValue(encoding: Decimal.nan) }
  }

  // MARK: Decimals

  /// Those that a number holds with every digit are numbers.
  static let decimals: [(String, String)] = [
    ("0", "0"), ("-5", "-5"), ("0.1", "0.1"), ("-19.99", "-19.99"), ("123456789012.345", "123456789012.345"),
    ("9223372036854775807", "9223372036854775807"),
    ("10000000000000000000000000", "10000000000000000000000000"),
  ]

  static let longDecimals = [
    "9223372036854775809", "12345678901234567890123456789012345678", "0.12345678901234567890",
    "-1234567890123.45678901", "\(Decimal.pi)", "\(Decimal.greatestFiniteMagnitude)",
  ]

  /// Numbers are compared and summed as 64-bit integers and doubles.
  @Test(arguments: longDecimals) func `a decimal with more digits than a number keeps is refused`(
    _ decimal: String
  ) throws {
    let decimal = try #require(Decimal(string: decimal))
    let error = #expect(throws: EncodingError.self) { try JSONValue(encoding: ["price": decimal]) }
    guard case .invalidValue(_, let context)? = error else { return }
    #expect(context.codingPath.map(\.stringValue) == ["price"])
    #expect(
      context.debugDescription
        == "the decimal \(decimal) has more digits than a number in JSON keeps, which is about 15; round it, or encode its "
        + "description as a string")
    #expect(decimal.jsonValue.doubleValue?.isNaN == true)
    // As it was stored formerly.
    #expect(try JSONValue("\(decimal)").decode(Decimal.self) == decimal)
  }

  @Test(arguments: decimals) func `decimals keep every digit`(_ decimal: String, _ text: String) throws {
    let decimal = try #require(Decimal(string: decimal))
    let value = try JSONValue(encoding: decimal)
    #expect(value.text == text)
    #expect(try value.decode(Decimal.self) == decimal)
    #expect(try JSONValue(parsing: value.text).decode(Decimal.self) == decimal)
    #expect(try JSONValue(encoding: [decimal]).decode([Decimal?].self) == [decimal])
  }

  @Test func `the largest and the smallest decimals come back`() throws {
    for sign in [FloatingPointSign.plus, .minus] {
      for exponent in stride(from: -128, through: 127, by: 5) {
        let decimal = Decimal(sign: sign, exponent: exponent, significand: 123_456_789)
        #expect(try JSONValue(encoding: decimal).decode(Decimal.self) == decimal, "\(decimal)")
      }
    }
    for decimal in [Decimal.leastNonzeroMagnitude, Decimal(sign: .minus, exponent: 127, significand: 1)] {
      #expect(try JSONValue(encoding: decimal).decode(Decimal.self) == decimal, "\(decimal)")
    }
  }

  @Test func `a decimal is taken from a number or from a string that is one`() throws {
    #expect(try JSONValue(5).decode(Decimal.self) == 5)
    #expect(try JSONValue(1e-7).decode(Decimal.self) == Decimal(string: "0.0000001"))
    #expect(try JSONValue("1e3").decode(Decimal.self) == 1_000)
    for text in ["", " 1", "1 ", "1x", "+1", "0x10", "NaN", "1,5", "1e9999", "[1]", "null"] {
      #expect(throws: DecodingError.self, "\(text)") { try JSONValue.string(text).decode(Decimal.self) }
    }
    #expect(throws: DecodingError.self) { try JSONValue(1e300).decode(Decimal.self) }
  }
}
