/// A JSON value.
///
/// ```swift
/// let pet: JSONValue = ["species": "cat", "age": 3, "tags": ["red", nil]]
/// pet["species"]?.stringValue  // "cat"
/// JSONValue.int(42) == .double(42.0)  // true: numbers are equal by value
/// ```
///
/// Strings are compared by their UTF-8 bytes. Objects are equal if they have the same members in any order.
public enum JSONValue: Sendable {
  case null
  case bool(Bool)
  /// A 64-bit integer, written without fraction and exponent.
  case int(Int64)
  /// Any other number in the range of a double; always finite when parsed.
  case double(Double)
  /// An integer beyond 64 bits, which keeps its digits.
  case bigInteger(JSONBigInteger)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)
}

/// An integer beyond 64 bits: it keeps its digits, and is compared as the nearest double.
public struct JSONBigInteger: Sendable {
  /// The number as written: a minus sign if it is negative, then digits.
  public let text: String

  /// The nearest double; always finite when parsed.
  public let doubleValue: Double

  package init(text: String, doubleValue: Double) {
    self.text = text
    self.doubleValue = doubleValue
  }
}

extension JSONValue {
  /// Whether the value is null.
  public var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// The boolean, or `nil` for any other type.
  public var boolValue: Bool? {
    if case .bool(let bool) = self { bool } else { nil }
  }

  /// The number as an integer, or `nil` if it has a fraction, exceeds 64 bits or is not a number.
  ///
  /// ```swift
  /// JSONValue.double(3).intValue  // 3
  /// JSONValue.double(3.5).intValue  // nil
  /// ```
  public var intValue: Int? { Int(jsonValue: self) }

  /// The number as the nearest double, or `nil` for any other type.
  public var doubleValue: Double? {
    switch self {
    case .int(let int): Double(int)
    case .double(let double): double
    case .bigInteger(let big): big.doubleValue
    default: nil
    }
  }

  /// The string, or `nil` for any other type.
  public var stringValue: String? {
    if case .string(let string) = self { string } else { nil }
  }

  /// The elements, or `nil` for any other type.
  public var arrayValue: [JSONValue]? {
    if case .array(let array) = self { array } else { nil }
  }

  /// The members, or `nil` for any other type.
  public var objectValue: JSONObject? {
    if case .object(let object) = self { object } else { nil }
  }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  /// Null.
  public init(nilLiteral: ()) {
    self = .null
  }

  /// A boolean.
  public init(booleanLiteral value: Bool) {
    self = .bool(value)
  }

  /// An integer.
  public init(integerLiteral value: Int64) {
    self = .int(value)
  }

  /// A number.
  public init(floatLiteral value: Double) {
    self = .double(value)
  }

  /// A string.
  public init(stringLiteral value: String) {
    self = .string(value)
  }

  /// An array.
  public init(arrayLiteral elements: JSONValue...) {
    self = .array(elements)
  }

  /// An object. If a key is repeated, the last value is kept.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(JSONObject(elements))
  }
}
