/// A JSON object: members in the order in which they were written.
///
/// ```swift
/// var body: JSONObject = ["description": "Buy milk", "completed": false]
/// body["completed"] = true
/// body["notes"] = nil  // removes the member; .null is a value
/// ```
///
/// Keys are told apart by their UTF-8 bytes, so `é` written as one scalar or as two is two keys.
public struct JSONObject: Sendable {
  /// A key with its value.
  public typealias Member = (key: String, value: JSONValue)

  private var members: [Member] = []
  /// Where each key stands, once there are many.
  private var positions: [KeyBytes: Int]?

  /// Up to this many members a key is looked for among them in turn.
  private static let fewMembers = 16

  /// An object without members.
  public init() {}

  /// An object of members in their order; of a key that is repeated the last value stays.
  public init(_ members: some Sequence<(String, JSONValue)>) {
    self.members.reserveCapacity(members.underestimatedCount)
    for (key, value) in members { self[key] = value }
  }

  /// Takes members whose keys are known to be distinct.
  package init(distinct members: [Member]) {
    self.members = members
    indexIfMany()
  }

  /// How many members there are.
  public var count: Int { members.count }

  /// Whether there are none.
  public var isEmpty: Bool { members.isEmpty }

  /// The keys, in order.
  public var keys: [String] { members.map(\.key) }

  /// The value of a key, or `nil` when there is no such member.
  ///
  /// Setting a value keeps the member's place, or appends a new member; setting `nil` removes it.
  ///
  /// - Complexity: O(1) to read and to write, O(*n*) to remove.
  public subscript(_ key: String) -> JSONValue? {
    get { position(of: key).map { members[$0].value } }
    set {
      switch (position(of: key), newValue) {
      case (let position?, let value?): members[position].value = value
      case (nil, let value?): append(key, value)
      case (_?, nil): removeValue(forKey: key)
      case (nil, nil): break
      }
    }
  }

  /// Removes a member and gives its value, or `nil` when there was none.
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

extension JSONObject: Sequence {
  /// Goes through the members in order.
  public func makeIterator() -> IndexingIterator<[Member]> {
    members.makeIterator()
  }

  /// How many members there are.
  public var underestimatedCount: Int { members.count }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
  /// An object of members; of a key that is repeated the last value stays.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self.init(elements)
  }
}

/// A key that is equal, and hashed, by its bytes.
package struct KeyBytes: Hashable, Sendable {
  package let string: String

  package init(_ string: String) {
    self.string = string
  }

  package static func == (left: KeyBytes, right: KeyBytes) -> Bool {
    left.string.hasSameBytes(as: right.string)
  }

  package func hash(into hasher: inout Hasher) {
    var string = string
    string.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
