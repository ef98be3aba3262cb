/// A type whose values can be converted to JSON: strings, booleans, numbers, `Date`, `UUID`, `URL`, `Decimal`, `Data`, and
/// optionals and arrays of them.
///
/// A `Date` is an ISO 8601 string, a `UUID` or `URL` is a string, `Data` is Base64, and a `Decimal` is a number, as `Codable` encodes them.
/// A date outside the years 0 to 9999, and a decimal with more digits than a number keeps, can be neither stored nor queried.
///
/// ```swift
/// let age = 3, tags = ["red", "small"]
/// var body = JSONObject(["name": "Rex", "age": age])
/// body["tags"] = tags
/// let first: String? = body["tags"][0]  // "red"
/// ```
///
/// An enumeration with raw values conforms without further code; other types implement both requirements:
///
/// ```swift
/// enum Size: String, JSONConvertible { case small, large }
///
/// struct Weight: JSONConvertible {
///   var grams: Int
///   var jsonValue: JSONValue { .init(grams) }
///
///   init?(jsonValue: JSONValue) {
///     guard let grams = jsonValue.intValue, grams > 0 else { return nil }
///     self.grams = grams
///   }
/// }
///
/// body["size"] = Size.small
/// let size: Size? = body["size"]  // .small
/// let weight: Weight? = body["weight"]  // nil when it is missing, or 0
/// ```
///
/// For a structure with many members use `Codable`; see ``JSONObject/init(encoding:options:)``.
public protocol JSONConvertible: Sendable {
  /// The value as JSON.
  ///
  /// ```swift
  /// [1, 2].jsonValue  // [1,2]
  /// UInt64.max.jsonValue  // 18446744073709551615, with every digit
  /// ```
  var jsonValue: JSONValue { get }

  /// Converts a JSON value; fails if it has another type or is out of range.
  ///
  /// ```swift
  /// Int8(jsonValue: 5)  // 5
  /// Int8(jsonValue: 300)  // nil
  /// Int8(jsonValue: "5")  // nil
  /// ```
  init?(jsonValue: JSONValue)
}

extension JSONValue {
  /// Creates a JSON value from a variable, for use where a literal is possible.
  ///
  /// ```swift
  /// let age = 3
  /// let pet: JSONValue = ["name": "Rex", "age": .init(age)]
  /// ```
  public init(_ value: some JSONConvertible) {
    self = value.jsonValue
  }
}

extension JSONValue: JSONConvertible {
  /// The value itself.
  public var jsonValue: JSONValue { self }

  /// The value itself.
  public init(jsonValue: JSONValue) {
    self = jsonValue
  }
}

extension JSONObject: JSONConvertible {
  /// The object as a value.
  public var jsonValue: JSONValue { .object(self) }

  /// Converts an object; fails for other types.
  public init?(jsonValue: JSONValue) {
    guard case .object(let object) = jsonValue else { return nil }
    self = object
  }
}

extension JSONConvertible where Self: RawRepresentable, RawValue: JSONConvertible {
  /// The raw value.
  public var jsonValue: JSONValue { rawValue.jsonValue }

  /// The case with the raw value, or `nil` if there is none.
  public init?(jsonValue: JSONValue) {
    guard let rawValue = RawValue(jsonValue: jsonValue) else { return nil }
    self.init(rawValue: rawValue)
  }
}
