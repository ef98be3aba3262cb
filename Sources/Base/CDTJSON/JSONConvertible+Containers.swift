extension Optional: JSONConvertible where Wrapped: JSONConvertible {
  /// The wrapped value, or null for `nil`.
  ///
  /// Assigning `nil` to a member removes it instead: after `body["age"] = age` the object has no null member.
  public var jsonValue: JSONValue { self?.jsonValue ?? .null }

  /// `nil` for null, otherwise the wrapped value; fails if its conversion fails.
  public init?(jsonValue: JSONValue) {
    if case .null = jsonValue {
      self = .none
    } else {
      guard let wrapped = Wrapped(jsonValue: jsonValue) else { return nil }
      self = .some(wrapped)
    }
  }
}

extension Array: JSONConvertible where Element: JSONConvertible {
  /// An array of the elements' values.
  public var jsonValue: JSONValue { .array(map(\.jsonValue)) }

  /// The elements of an array, if all can be converted; otherwise `nil`.
  public init?(jsonValue: JSONValue) {
    guard case .array(let values) = jsonValue else { return nil }
    var elements: [Element] = []
    elements.reserveCapacity(values.count)
    for value in values {
      guard let element = Element(jsonValue: value) else { return nil }
      elements.append(element)
    }
    self = elements
  }
}

extension Dictionary: JSONConvertible where Key == String, Value == (any JSONConvertible)? {
  // For `any JSONConvertible`, so that the values of an inner literal may have different types. See decision 21.
  /// An object with the members sorted by key, so that equal dictionaries have the same text.
  public var jsonValue: JSONValue {
    let members = sorted { $0.key.precedesInBytes($1.key) }
    return .object(JSONObject(distinct: members.map { ($0.key, $0.value?.jsonValue ?? .null) }))
  }

  /// The members of an object, as ``JSONValue``s; `nil` for other types.
  ///
  /// A dictionary treats keys that differ only in Unicode normalization as equal; of those, the last value is kept.
  public init?(jsonValue: JSONValue) {
    guard case .object(let object) = jsonValue else { return nil }
    self.init(object.map { ($0.key, $0.value) }) { $1 }
  }
}

/// An object as a literal in which constants and variables of any types are mixed, at any depth.
///
/// ```swift
/// let name = "Rex", now = Date.now
/// let literal: JSONLiteral = ["$or": [["name": name], ["due": ["$lt": now], "age": nil]]]
/// ```
///
/// The elements of one array have the same type; write `[JSONValue(name), 3]` for others. The members of inner objects
/// are sorted by key.
public typealias JSONLiteral = KeyValuePairs<String, (any JSONConvertible)?>

extension JSONObject {
  /// Creates an object from variables, in the order of the literal. If a key is repeated, the last value is kept.
  ///
  /// ```swift
  /// let name = "Rex", age: Int? = nil
  /// JSONObject(["name": name, "age": age]).text  // {"name":"Rex","age":null}
  /// ```
  public init(_ members: JSONLiteral) {
    self.init(members.lazy.map { ($0.key, $0.value?.jsonValue ?? .null) })
  }

  // Disfavored, as a literal would otherwise become a dictionary and lose its order.
  /// Creates an object from a dictionary, sorted by key.
  ///
  /// ```swift
  /// let counts = ["b": 2, "a": 1]
  /// JSONObject(counts).text  // {"a":1,"b":2}
  /// ```
  ///
  /// - Complexity: O(*n* log *n*)
  @_disfavoredOverload
  public init(_ members: [String: some JSONConvertible]) {
    self.init(
      distinct: members.sorted { $0.key.precedesInBytes($1.key) }.map { ($0.key, $0.value.jsonValue) })
  }
}
