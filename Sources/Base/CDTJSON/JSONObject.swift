/// A JSON object: members in their written order.
///
/// ```swift
/// var body: JSONObject = ["description": "Buy milk", "completed": false]
/// body["completed"] = true
/// body["notes"] = nil  // removes the member; .null is a value
/// ```
///
/// Keys are compared by their UTF-8 bytes, so `é` as one scalar and `é` as two scalars are different keys.
public struct JSONObject: Sendable {
  /// A key with its value.
  public typealias Member = (key: String, value: JSONValue)

  /// The members in order.
  private(set) var members: [Member] = []
  /// The position of each key, once there are many.
  private var positions: [KeyBytes: Int]?

  /// Up to this number of members, keys are searched linearly.
  private static let fewMembers = 16

  /// Creates an empty object.
  public init() {}

  /// Creates an object from members in order. If a key is repeated, the last value is kept.
  ///
  /// ```swift
  /// JSONObject(zip(["name", "age"], ["Rex", 3])).text  // {"name":"Rex","age":3}
  /// ```
  public init(_ members: some Sequence<(String, JSONValue)>) {
    self.members.reserveCapacity(members.underestimatedCount)
    for (key, value) in members { self[key] = value }
  }

  /// Creates an object from members with distinct keys.
  package init(distinct members: [Member]) {
    self.members = members
    indexIfMany()
  }

  /// The value of a key, or `nil` if there is no such member.
  ///
  /// Setting a value keeps the member's position, or appends a new member; setting `nil` removes it. You can also set
  /// nested values in place; see `JSONValue.subscript(_:)`.
  ///
  /// ```swift
  /// var body: JSONObject = ["name": "Rex"]
  /// body["age"] = 3
  /// body["tags"][0] = "red"
  /// body["name"] = nil
  /// body.text  // {"age":3,"tags":["red"]}
  /// ```
  ///
  /// - Complexity: O(1) to read and to set, O(*n*) to remove.
  public subscript(_ key: String) -> JSONValue? {
    get { position(of: key).map { members[$0].value } }
    set { set(newValue, forKey: key, at: position(of: key)) }
    _modify {
      let position = position(of: key)
      var value = position.map { members[$0].value }
      if let position { members[position].value = .null }  // so that the value is not copied
      defer { set(value, forKey: key, at: position) }
      yield &value
    }
  }

  private mutating func set(_ value: JSONValue?, forKey key: String, at position: Int?) {
    switch (position, value) {
    case (let position?, let value?): members[position].value = value
    case (nil, let value?): append(key, value)
    case (let position?, nil): remove(at: position)
    case (nil, nil): break
    }
  }

  /// Removes a member and returns its value, or `nil` if there was none.
  ///
  /// ```swift
  /// var body: JSONObject = ["name": "Rex", "age": 3]
  /// body.removeValue(forKey: "age")  // 3
  /// ```
  @discardableResult
  public mutating func removeValue(forKey key: String) -> JSONValue? {
    guard let position = position(of: key) else { return nil }
    return remove(at: position)
  }

  @discardableResult
  private mutating func remove(at position: Int) -> JSONValue {
    let removed = members.remove(at: position)
    positions = nil
    indexIfMany()
    return removed.value
  }

  private mutating func append(_ key: String, _ value: JSONValue) {
    members.append((key, value))
    if positions != nil {
      positions?[KeyBytes(key)] = members.count - 1
    } else {
      indexIfMany()
    }
  }

  private mutating func indexIfMany() {
    guard members.count > Self.fewMembers else { return }
    var positions: [KeyBytes: Int] = [:]
    positions.reserveCapacity(members.count)
    for (position, member) in members.enumerated() { positions[KeyBytes(member.key)] = position }
    self.positions = positions
  }

  private func position(of key: String) -> Int? {
    if let positions { return positions[KeyBytes(key)] }
    return members.firstIndex { $0.key.hasSameBytes(as: key) }
  }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
  /// Creates an object from a literal. If a key is repeated, the last value is kept.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self.init(elements)
  }
}

/// A key that is compared and hashed by its bytes.
package struct KeyBytes: Hashable, Sendable {
  package let string: String

  package init(_ string: String) {
    self.string = string
  }

  package static func == (left: KeyBytes, right: KeyBytes) -> Bool {
    left.string.hasSameBytes(as: right.string)
  }

  package func precedes(_ other: KeyBytes) -> Bool { string.precedesInBytes(other.string) }

  package func hash(into hasher: inout Hasher) {
    var string = string
    string.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
