// Subscripts for typed variables. They are disfavored, so that a literal is a `JSONValue` and `let name =
// body["name"]` is a `JSONValue?`: otherwise `body["name"] ?? "none"` would be a `String`, and `body["pair"] = ["b":
// 1, "a": 2]` would become a dictionary and lose its order.

extension JSONObject {
  /// Reads or sets a member as a variable; `nil` if it does not exist or has another type.
  ///
  /// Setting `nil` removes the member.
  ///
  /// ```swift
  /// var body: JSONObject = [:]
  /// let age: Int? = 3
  /// body["age"] = age
  /// let stored: Int? = body["age"]  // 3
  /// let text: String? = body["age"]  // nil: it is a number
  /// ```
  @_disfavoredOverload
  public subscript<T: JSONConvertible>(_ key: String) -> T? {
    get { (self[key] as JSONValue?).flatMap(T.init(jsonValue:)) }
    set { self[key] = newValue?.jsonValue as JSONValue? }
  }

  /// Reads or sets a member as a dictionary whose values have one type; `nil` if any has another type.
  @_disfavoredOverload
  public subscript<T: JSONConvertible>(_ key: String) -> [String: T]? {
    get {
      guard case .object(let object)? = self[key] as JSONValue? else { return nil }
      let members = object.compactMap { key, value in T(jsonValue: value).map { (key, $0) } }
      return members.count == object.count ? Dictionary(members) { $1 } : nil
    }
    set { self[key] = newValue.map { .object(JSONObject($0)) } }
  }
}

extension JSONValue {
  /// Reads or sets a member as a variable; `nil` if it does not exist or has another type.
  ///
  /// ```swift
  /// let name = "Mia"
  /// pet["name"] = name
  /// let stored: String? = pet["name"]  // "Mia"
  /// ```
  @_disfavoredOverload
  public subscript<T: JSONConvertible>(_ key: String) -> T? {
    get { (self[key] as JSONValue?).flatMap(T.init(jsonValue:)) }
    set { self[key] = newValue?.jsonValue as JSONValue? }
  }

  /// Reads or sets an element as a variable; `nil` if it does not exist or has another type.
  ///
  /// ```swift
  /// let tag = "red"
  /// tags[0] = tag
  /// let first: String? = tags[0]  // "red"
  /// ```
  @_disfavoredOverload
  public subscript<T: JSONConvertible>(_ position: Int) -> T? {
    get { (self[position] as JSONValue?).flatMap(T.init(jsonValue:)) }
    set { self[position] = newValue?.jsonValue as JSONValue? }
  }
}

extension Optional where Wrapped == JSONValue {
  /// Reads or sets a member of an object, which may be missing, as a variable.
  ///
  /// ```swift
  /// let name = "Mia"
  /// body["pet"]["owner"]["name"] = name
  /// let stored: String? = body["pet"]["owner"]["name"]  // "Mia"
  /// ```
  @_disfavoredOverload
  public subscript<T: JSONConvertible>(_ key: String) -> T? {
    get { (self[key] as JSONValue?).flatMap(T.init(jsonValue:)) }
    set { self[key] = newValue?.jsonValue as JSONValue? }
  }

  /// Reads or sets an element of an array, which may be missing, as a variable.
  ///
  /// ```swift
  /// let tag = "red"
  /// body["tags"][0] = tag
  /// let first: String? = body["tags"][0]  // "red"
  /// ```
  @_disfavoredOverload
  public subscript<T: JSONConvertible>(_ position: Int) -> T? {
    get { (self[position] as JSONValue?).flatMap(T.init(jsonValue:)) }
    set { self[position] = newValue?.jsonValue as JSONValue? }
  }
}
