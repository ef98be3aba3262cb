extension JSONObject: RandomAccessCollection {
  /// The position of the first member.
  public var startIndex: Int { members.startIndex }

  /// The position after the last member.
  public var endIndex: Int { members.endIndex }

  /// The member at a position, which must be valid, as with an array.
  ///
  /// ```swift
  /// let body: JSONObject = ["name": "Rex", "age": 3]
  /// body[0].key  // "name"
  /// ```
  public subscript(position: Int) -> Member { members[position] }

  /// Creates an iterator over the members in order.
  public func makeIterator() -> IndexingIterator<[Member]> { members.makeIterator() }
}

extension JSONObject {
  /// The keys, in order.
  ///
  /// ```swift
  /// (["name": "Rex", "age": 3] as JSONObject).keys  // ["name", "age"]
  /// ```
  public var keys: [String] { members.map(\.key) }

  /// The values, in the order of their keys.
  ///
  /// ```swift
  /// (["name": "Rex", "age": 3] as JSONObject).values  // ["Rex", 3]
  /// ```
  public var values: [JSONValue] { members.map(\.value) }

  /// The members that satisfy a condition, in order.
  ///
  /// ```swift
  /// body.filter { !$0.value.isNull }
  /// ```
  public func filter(_ isIncluded: (Member) throws -> Bool) rethrows -> JSONObject {
    var kept: [Member] = []
    for member in members where try isIncluded(member) { kept.append(member) }
    return JSONObject(distinct: kept)
  }

  /// The object with every value transformed; keys and order are kept.
  ///
  /// ```swift
  /// body.mapValues { $0.isNull ? "unknown" : $0 }
  /// ```
  public func mapValues(_ transform: (JSONValue) throws -> JSONValue) rethrows -> JSONObject {
    var transformed: [Member] = []
    for (key, value) in members { transformed.append((key, try transform(value))) }
    return JSONObject(distinct: transformed)
  }

  /// Adds members. For an existing key the closure chooses the value, and its position is kept.
  ///
  /// ```swift
  /// var body: JSONObject = ["name": "Rex", "age": 3]
  /// body.merge(["age": 4, "size": "small"]) { old, new in new }
  /// body.text  // {"name":"Rex","age":4,"size":"small"}
  /// ```
  ///
  /// - Throws: The errors of the closure; the members before it have then been added.
  public mutating func merge(
    _ other: JSONObject, uniquingKeysWith combine: (_ old: JSONValue, _ new: JSONValue) throws -> JSONValue
  ) rethrows {
    for (key, value) in other {
      let old: JSONValue? = self[key]
      self[key] = if let old { try combine(old, value) } else { value }
    }
  }

  /// Returns the object with members added; see ``merge(_:uniquingKeysWith:)``.
  ///
  /// ```swift
  /// let body = defaults.merging(changes) { _, new in new }
  /// ```
  public func merging(
    _ other: JSONObject, uniquingKeysWith combine: (_ old: JSONValue, _ new: JSONValue) throws -> JSONValue
  ) rethrows -> JSONObject {
    var merged = self
    try merged.merge(other, uniquingKeysWith: combine)
    return merged
  }

  /// Removes the members that satisfy a condition.
  ///
  /// ```swift
  /// body.removeAll { $0.value.isNull }
  /// ```
  public mutating func removeAll(where shouldBeRemoved: (Member) throws -> Bool) rethrows {
    self = try filter { try !shouldBeRemoved($0) }
  }

  /// Removes every member.
  ///
  /// ```swift
  /// body.removeAll()
  /// ```
  public mutating func removeAll() {
    self = JSONObject()
  }
}
