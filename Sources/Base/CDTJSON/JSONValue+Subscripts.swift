// Reading and setting members and elements. A value is moved out of its place while it is changed, so that it is
// uniquely referenced and not copied.

extension JSONValue {
  /// A member of an object; `nil` if it does not exist or the value is not an object.
  ///
  /// Setting a member of null or of a scalar replaces it with an object with that member; setting a member of an array
  /// has no effect. Setting `nil` removes the member and never creates an object.
  ///
  /// ```swift
  /// var pet: JSONValue = ["name": "Rex"]
  /// pet["owner"]["name"] = "Mia"
  /// pet.text  // {"name":"Rex","owner":{"name":"Mia"}}
  /// ```
  public subscript(_ key: String) -> JSONValue? {
    get { objectValue?[key] }
    _modify {
      if case .object(var object) = self {
        self = .null
        defer { self = .object(object) }
        yield &object[key]
      } else {
        var value: JSONValue?
        yield &value
        if let value, arrayValue == nil { self = .object([key: value]) }
      }
    }
  }

  /// An element of an array; `nil` if it does not exist or the value is not an array.
  ///
  /// Setting the element after the last one appends it, and turns null into an array. Setting `nil` removes the
  /// element. At other positions, and on other values, setting has no effect.
  ///
  /// ```swift
  /// var tags: JSONValue = ["red"]
  /// tags[0] = "blue"
  /// tags[1] = "small"
  /// tags[7] = "lost"
  /// tags.text  // ["blue","small"]
  /// ```
  ///
  /// - Complexity: O(1) to read and to set, O(*n*) to remove.
  public subscript(_ position: Int) -> JSONValue? {
    get {
      guard case .array(let elements) = self, elements.indices.contains(position) else { return nil }
      return elements[position]
    }
    _modify {
      if case .array(var elements) = self, elements.indices.contains(position) {
        self = .null
        var value: JSONValue? = elements[position]
        elements[position] = .null
        defer {
          if let value { elements[position] = value } else { elements.remove(at: position) }
          self = .array(elements)
        }
        yield &value
      } else {
        var value: JSONValue?
        yield &value
        if let value, position == endOfArray { append(value) }
      }
    }
  }

  /// The position at which an element can be appended.
  private var endOfArray: Int? {
    switch self {
    case .array(let elements): elements.count
    case .null: 0
    default: nil
    }
  }

  /// Appends to an array; null becomes an array.
  private mutating func append(_ value: JSONValue) {
    var elements = arrayValue ?? []
    self = .null
    elements.append(value)
    self = .array(elements)
  }
}

extension Optional where Wrapped == JSONValue {
  /// A member of an object that may be missing; see `JSONValue.subscript(_:)`.
  ///
  /// Setting a member of a missing value creates an object.
  ///
  /// ```swift
  /// var body: JSONObject = [:]
  /// body["pet"]["owner"]["name"] = "Mia"
  /// body["pet"]["owner"]["name"]  // "Mia"
  /// body.text  // {"pet":{"owner":{"name":"Mia"}}}
  /// ```
  public subscript(_ key: String) -> JSONValue? {
    get { self?[key] }
    _modify {
      if var value = self {
        self = .none
        defer { self = value }
        yield &value[key]
      } else {
        var value = JSONValue.null
        yield &value[key]
        if !value.isNull { self = value }
      }
    }
  }

  /// An element of an array that may be missing; see `JSONValue.subscript(_:)`.
  ///
  /// Setting element 0 of a missing value creates an array.
  ///
  /// ```swift
  /// var body: JSONObject = [:]
  /// body["tags"][0] = "red"
  /// body["tags"][0]  // "red"
  /// body.text  // {"tags":["red"]}
  /// ```
  public subscript(_ position: Int) -> JSONValue? {
    get { self?[position] }
    _modify {
      if var value = self {
        self = .none
        defer { self = value }
        yield &value[position]
      } else {
        var value = JSONValue.null
        yield &value[position]
        if !value.isNull { self = value }
      }
    }
  }
}
