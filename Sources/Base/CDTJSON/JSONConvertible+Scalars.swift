extension Bool: JSONConvertible {
  /// The boolean as a value.
  public var jsonValue: JSONValue { .bool(self) }

  /// Converts a boolean; fails for other types.
  public init?(jsonValue: JSONValue) {
    guard case .bool(let bool) = jsonValue else { return nil }
    self = bool
  }
}

extension String: JSONConvertible {
  /// The string as a value.
  public var jsonValue: JSONValue { .string(self) }

  /// Converts a string; fails for other types.
  public init?(jsonValue: JSONValue) {
    guard case .string(let string) = jsonValue else { return nil }
    self = string
  }
}

extension Substring: JSONConvertible {
  /// The characters as a string.
  public var jsonValue: JSONValue { .string(String(self)) }

  /// Converts a whole string; fails for other types.
  public init?(jsonValue: JSONValue) {
    guard case .string(let string) = jsonValue else { return nil }
    self = Substring(string)
  }
}

extension Double: JSONConvertible {
  /// The number as a value. JSON has neither infinity nor NaN: they are written as null, and can't be stored.
  public var jsonValue: JSONValue { .double(self) }

  /// Converts any number; one that a double can't represent exactly becomes the nearest double.
  public init?(jsonValue: JSONValue) {
    guard let double = jsonValue.doubleValue else { return nil }
    self = double
  }
}

extension Float: JSONConvertible {
  /// The number with its own shortest text: 0.1, not the digits of the nearest double.
  public var jsonValue: JSONValue { .double(Double(description) ?? Double(self)) }

  /// Converts a number to the nearest float; fails if it exceeds the largest float.
  public init?(jsonValue: JSONValue) {
    guard let double = jsonValue.doubleValue else { return nil }
    self = Float(double)
    guard isFinite else { return nil }
  }
}

extension JSONConvertible where Self: FixedWidthInteger {
  /// The integer with every digit: beyond 64 bits it is a ``JSONSpelledNumber``.
  public var jsonValue: JSONValue {
    Int64(exactly: self).map(JSONValue.int)
      ?? .spelled(JSONSpelledNumber(text: String(self), doubleValue: Double(self)))
  }

  /// Converts an integral number in range, whether written as `5`, `5.0` or `5e0`; fails otherwise.
  public init?(jsonValue: JSONValue) {
    let integer: Self? =
      switch jsonValue {
      case .int(let int): Self(exactly: int)
      case .double(let double): Self(exactly: double)
      case .spelled(let number): number.isInteger ? Self(number.text) : Self(exactly: number.doubleValue)
      default: nil
      }
    guard let integer else { return nil }
    self = integer
  }
}

extension Int: JSONConvertible {}
extension Int8: JSONConvertible {}
extension Int16: JSONConvertible {}
extension Int32: JSONConvertible {}
extension Int64: JSONConvertible {}
extension Int128: JSONConvertible {}
extension UInt: JSONConvertible {}
extension UInt8: JSONConvertible {}
extension UInt16: JSONConvertible {}
extension UInt32: JSONConvertible {}
extension UInt64: JSONConvertible {}
extension UInt128: JSONConvertible {}
