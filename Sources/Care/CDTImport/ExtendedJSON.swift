import CDTDatastore
import CDTJSON
import CDTPlatform

/// MongoDB's Extended JSON, of version 1 and 2, as `mongoexport` writes it.
///
/// ```
/// {"$oid": "5f1b…"}                      →  "5f1b…"
/// {"$numberLong": "5"}                   →  5
/// {"$date": {"$numberLong": "0"}}        →  "1970-01-01T00:00:00.000Z"
/// {"$numberDouble": "Infinity"}          →  "Infinity"
/// ```
///
/// Types that JSON has nothing for, such as `$binary`, stay as they are.
struct ExtendedJSON {
  private let text: JSONBytes
  private var output: [UInt8] = []
  /// The start of the text that is not in the output yet.
  private var run = 0

  /// The plain JSON of compact text; `nil` if it has none of the types.
  static func converted(_ text: [UInt8]) -> [UInt8]? {
    guard mayHaveTypes(text) else { return nil }
    return text.withUnsafeBytes { bytes in
      var conversion = ExtendedJSON(text: JSONBytes(bytes))
      let end = conversion.value(at: 0)
      guard conversion.run > 0 else { return nil }
      conversion.endRun(at: end)
      return conversion.output
    }
  }

  private init(text: JSONBytes) {
    self.text = text
  }

  /// Whether there is `"$` and a letter. Prices begin with `"$` and a digit.
  private static func mayHaveTypes(_ text: [UInt8]) -> Bool {
    text.withUnsafeBytes { bytes in
      var start = 1
      while let dollar = Bytes.firstIndex(of: UInt8(ascii: "$"), in: bytes, from: start, to: bytes.count) {
        let next = dollar + 1 < bytes.count ? bytes[dollar + 1] : 0
        if bytes[dollar - 1] == UInt8(ascii: "\""), (0x61...0x7A).contains(next) { return true }
        start = dollar + 1
      }
      return false
    }
  }

  private mutating func endRun(at end: Int) {
    output.append(contentsOf: text.slice(run, end))
    run = end
  }

  /// Converts the value at an offset.
  ///
  /// - Returns: The offset after it.
  private mutating func value(at start: Int) -> Int {
    switch text.kind(at: start) {
    case .object:
      if let (plain, end) = plain(at: start) {
        endRun(at: start)
        output += plain
        run = end
        return end
      }
      return items(at: start, areMembers: true)
    case .array: return items(at: start, areMembers: false)
    default: return text.endOfValue(at: start)
    }
  }

  private mutating func items(at start: Int, areMembers: Bool) -> Int {
    var offset = start + 1
    if text[offset] == UInt8(ascii: "}") || text[offset] == UInt8(ascii: "]") { return offset + 1 }
    while offset < text.count {
      // A colon follows the name.
      offset = value(at: areMembers ? text.endOfString(at: offset) + 1 : offset)
      guard text[offset] == UInt8(ascii: ",") else { return offset + 1 }
      offset += 1
    }
    return offset
  }

  /// The plain JSON of an object that is one of the types.
  private func plain(at start: Int) -> (text: [UInt8], end: Int)? {
    guard text[start + 1] == UInt8(ascii: "\""), text[start + 2] == UInt8(ascii: "$") else { return nil }
    let nameEnd = text.endOfString(at: start + 1)
    let name = String(decoding: text.slice(start + 3, nameEnd - 1), as: UTF8.self)
    let end = text.endOfValue(at: nameEnd + 1)
    guard text[end] == UInt8(ascii: "}"), let plain = Self.plain(name, text, nameEnd + 1) else { return nil }
    return (plain, end + 1)
  }

  private static func plain(_ type: String, _ text: JSONBytes, _ value: Int) -> [UInt8]? {
    let kind = text.kind(at: value)
    let spelled = Array(text.slice(value, text.endOfValue(at: value)))
    switch (type, kind) {
    case ("oid", .string) where spelled.count == 26, ("symbol", .string), ("uuid", .string),
      ("date", .string):
      return spelled
    case ("numberInt", .string), ("numberLong", .string), ("numberDouble", .string),
      ("numberDecimal", .string):
      let digits = Array(spelled.dropFirst().dropLast())
      return isNumber(digits) ? digits : spelled
    case ("numberInt", .number), ("numberLong", .number), ("numberDouble", .number),
      ("numberDecimal", .number):
      return spelled
    case ("date", .number): return date(spelled)
    case ("date", .object):
      guard let inner = text.member(spelled: Array("$numberLong".utf8), at: value) else { return nil }
      let milliseconds = Array(text.slice(inner, text.endOfValue(at: inner)))
      return date(text.kind(at: inner) == .string ? Array(milliseconds.dropFirst().dropLast()) : milliseconds)
    case ("undefined", .true): return Array("null".utf8)
    default: return nil
    }
  }

  private static func isNumber(_ text: [UInt8]) -> Bool {
    guard let first = text.first, first == UInt8(ascii: "-") || first.isDigit else {
      return false
    }
    return (try? JSONValue(parsing: text)) != nil
  }

  /// The date of milliseconds since 1970; `nil` outside the years 0 to 9999.
  private static func date(_ milliseconds: [UInt8]) -> [UInt8]? {
    guard let milliseconds = Int64(String(decoding: milliseconds, as: UTF8.self)) else { return nil }
    let date = Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
    return ISO8601.text(of: date).map(JSONString.quoted)
  }
}
