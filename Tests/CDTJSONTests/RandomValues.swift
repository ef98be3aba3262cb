import CDTJSON
import CDTTestSupport

/// Draws values of every kind from a seed that a failing test can print.
struct RandomValues: RandomNumberGenerator {
  private var generator: SeededGenerator

  init(seed: UInt64) {
    generator = SeededGenerator(seed: seed)
  }

  mutating func next() -> UInt64 { generator.next() }

  mutating func number(below bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

  mutating func value(depth: Int = 0) -> JSONValue {
    switch number(below: depth > 4 ? 7 : 10) {
    case 0: .null
    case 1: .bool(Bool.random(using: &self))
    case 2: .int(Int64(bitPattern: next() >> UInt64(number(below: 64))))
    case 3, 4: .double(double())
    case 5, 6: .string(string())
    case 7, 8: .array((0..<number(below: 5)).map { _ in value(depth: depth + 1) })
    default: .object(object(depth: depth + 1))
    }
  }

  mutating func object(depth: Int = 0) -> JSONObject {
    JSONObject((0..<number(below: depth == 1 ? 24 : 5)).map { _ in (string(), value(depth: depth)) })
  }

  /// Any finite double, by its bits or as a short decimal.
  mutating func double() -> Double {
    if number(below: 2) == 0 { return Double(number(below: 100_000)) / 1_000 }
    while true {
      let double = Double(bitPattern: next())
      if double.isFinite { return double }
    }
  }

  /// Text in which every class of character is likely.
  mutating func string() -> String {
    var scalars = String.UnicodeScalarView()
    for _ in 0..<number(below: 12) {
      let bound = [0x20, 0x7F, 0x7F, 0x7F, 0x800, 0x1_0000, 0x11_0000][number(below: 7)]
      if let scalar = Unicode.Scalar(UInt32(number(below: bound))) { scalars.append(scalar) }
    }
    return String(scalars)
  }

  /// The value's text with white space, escapes and other spellings strewn in, none of which changes what it says.
  mutating func spelling(of value: JSONValue) -> String {
    let text =
      switch value {
      case .string(let string): spelling(of: string)
      case .array(let elements):
        "[" + elements.map { spelling(of: $0) }.joined(separator: ",") + space() + "]"
      case .object(let object):
        "{"
          + object.map { space() + spelling(of: $0.key) + space() + ":" + spelling(of: $0.value) }
          .joined(separator: ",") + space() + "}"
      default: value.text
      }
    return space() + text + space()
  }

  private mutating func space() -> String {
    number(below: 4) == 0 ? [" ", "\n", "\t", "\r\n", "   "][number(below: 5)] : ""
  }

  private mutating func spelling(of string: String) -> String {
    var text = "\""
    for scalar in string.unicodeScalars {
      if number(below: 4) == 0 || scalar.value < 0x20 || scalar == "\"" || scalar == "\\" {
        for unit in String(scalar).utf16 {
          let digits = String(unit, radix: 16, uppercase: number(below: 2) == 0)
          text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
    return text + "\""
  }
}
