/// A JSON value.
///
/// ```swift
/// let pet: JSONValue = ["species": "cat", "age": 3, "tags": ["red", nil]]
/// pet["species"]?.stringValue  // "cat"
/// JSONValue.int(42) == .double(42.0)  // true: numbers are equal by value
/// ```
///
/// Numbers keep the spelling in which they were parsed.
///
/// Strings are compared by their UTF-8 bytes. Objects are equal if they have the same members in any order.
public enum JSONValue: Sendable {
  case null
  case bool(Bool)
  /// A 64-bit integer, written without fraction and exponent.
  case int(Int64)
  /// A number in the range of a double that is written as the double's shortest text: `1.1`, `1.0`, `1e-05`. Always finite
  /// when parsed.
  case double(Double)
  /// Any other number: `1.10`, `1e3`, 123456789.123456789123, an integer beyond 64 bits. It keeps its text until another
  /// value is assigned. To read any number as a double, use ``doubleValue``.
  indirect case spelled(JSONSpelledNumber)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)
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
    case .spelled(let number): number.doubleValue
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
