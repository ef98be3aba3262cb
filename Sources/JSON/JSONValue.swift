/// A JSON value.
///
/// ```swift
/// let pet: JSONValue = ["species": "cat", "age": 3, "tags": ["red", nil]]
/// pet["species"]?.stringValue  // "cat"
/// JSONValue.int(42) == .double(42.0)  // true: numbers are equal by value
/// ```
///
/// Strings are equal, and ordered, by their UTF-8 bytes. Objects are equal with the same members in any order.
public enum JSONValue: Sendable {
  case null
  case bool(Bool)
  /// A whole number of 64 bits, written without fraction and exponent.
  case int(Int64)
  /// Any other number that a double holds; always finite when parsed.
  case double(Double)
  /// A whole number beyond 64 bits, which keeps its digits.
  case bigInteger(JSONBigInteger)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)
}

/// A whole number beyond 64 bits: its digits are kept, and it compares as the nearest double.
public struct JSONBigInteger: Sendable {
  /// The number as it was written: a sign if it is negative, then digits.
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

  /// The number as an integer, or `nil` when it has a fraction, is beyond 64 bits or is no number.
  public var intValue: Int64? {
    switch self {
    case .int(let int): int
    case .double(let double): Int64(exactly: double)
    default: nil
    }
  }

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

  /// A member of an object; `nil` when there is none, or no object. Setting one on anything but an object does nothing.
  public subscript(_ key: String) -> JSONValue? {
    get { objectValue?[key] }
    set {
      guard case .object(var object) = self else { return }
      self = .null  // so that the members are not copied
      object[key] = newValue
      self = .object(object)
    }
  }

  /// An element of an array; `nil` when there is none, or no array.
  public subscript(_ position: Int) -> JSONValue? {
    guard case .array(let elements) = self, elements.indices.contains(position) else { return nil }
    return elements[position]
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

  /// A whole number.
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

  /// An object; of a key that is repeated the last value stays.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(JSONObject(elements))
  }
}
