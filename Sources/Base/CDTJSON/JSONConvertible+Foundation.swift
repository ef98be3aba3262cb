public import CDTPlatform

// Foundation's types as `Codable` encodes them here, so that a variable in a selector equals the member of a document.

extension Date: JSONConvertible {
  /// The date as an ISO 8601 string. One outside the years 0 to 9999 can be neither stored nor queried.
  public var jsonValue: JSONValue { JSONValue(foundation: self) }

  /// Converts an ISO 8601 string.
  public init?(jsonValue: JSONValue) { self.init(foundation: jsonValue) }
}

extension UUID: JSONConvertible {
  /// The UUID as a string.
  public var jsonValue: JSONValue { JSONValue(foundation: self) }

  /// Converts the string of a UUID.
  public init?(jsonValue: JSONValue) { self.init(foundation: jsonValue) }
}

extension URL: JSONConvertible {
  /// The URL as a string.
  public var jsonValue: JSONValue { JSONValue(foundation: self) }

  /// Converts the string of a URL.
  public init?(jsonValue: JSONValue) { self.init(foundation: jsonValue) }
}

extension Decimal: JSONConvertible {
  /// The decimal as a number. One with more digits than a number keeps can be neither stored nor queried.
  public var jsonValue: JSONValue { JSONValue(foundation: self) }

  /// Converts a number or a numeric string.
  public init?(jsonValue: JSONValue) { self.init(foundation: jsonValue) }
}

extension Data: JSONConvertible {
  /// The bytes as a Base64 string.
  public var jsonValue: JSONValue { JSONValue(foundation: self) }

  /// Converts a Base64 string.
  public init?(jsonValue: JSONValue) { self.init(foundation: jsonValue) }
}

extension JSONValue {
  /// NaN, which stores and selectors refuse, for a value that has no JSON, such as an infinite date.
  fileprivate init(foundation value: some Encodable) {
    self = (try? JSONValue(encoding: value)) ?? .double(.nan)
  }
}

extension Decodable {
  fileprivate init?(foundation value: JSONValue) {
    guard let decoded = try? value.decode(Self.self) else { return nil }
    self = decoded
  }
}
