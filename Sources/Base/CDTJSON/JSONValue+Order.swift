import CDTPlatform

extension JSONNumber {
  /// The number of a value, or `nil` for any other type; numbers with a spelling of their own become the nearest doubles.
  package init?(_ value: JSONValue) {
    switch value {
    case .int(let int): self = .int(int)
    case .double(let double): self = .double(double)
    case .spelled(let number): self = .double(number.doubleValue)
    default: return nil
    }
  }
}

extension JSONValue: Comparable {
  /// Whether both are equal: numbers by value, strings by bytes, objects regardless of the order of members.
  public static func == (left: JSONValue, right: JSONValue) -> Bool {
    switch (left, right) {
    case (.null, .null): return true
    case (.bool(let left), .bool(let right)): return left == right
    case (.string(let left), .string(let right)): return left.hasSameBytes(as: right)
    case (.array(let left), .array(let right)): return left == right
    case (.object(let left), .object(let right)): return left == right
    default:
      guard let left = JSONNumber(left), let right = JSONNumber(right) else { return false }
      return left == right
    }
  }

  /// The order of values: null < false < true < numbers < strings < arrays < objects.
  ///
  /// Arrays are compared by their elements, a prefix first; objects by their members sorted by name, first name, then
  /// value.
  public static func < (left: JSONValue, right: JSONValue) -> Bool {
    left.order(to: right) < 0
  }

  /// Negative if the value precedes the other, zero if they are equal.
  ///
  /// One comparison per element: calling `<` and then `>` would double the work at every level.
  fileprivate func order(to other: JSONValue) -> Int {
    switch (self, other) {
    case (.bool(let left), .bool(let right)): return (left ? 1 : 0) - (right ? 1 : 0)
    case (.string(let left), .string(let right)): return left.byteOrder(to: right)
    case (.array(let left), .array(let right)):
      for (left, right) in zip(left, right) {
        let order = left.order(to: right)
        if order != 0 { return order }
      }
      return left.count - right.count
    case (.object(let left), .object(let right)): return left.order(to: right)
    default:
      guard let left = JSONNumber(self), let right = JSONNumber(other) else { return rank - other.rank }
      return left < right ? -1 : left == right ? 0 : 1
    }
  }

  private static let rankOfNumbers = 2

  private var rank: Int {
    switch self {
    case .null: 0
    case .bool: 1
    case .int, .double, .spelled: Self.rankOfNumbers
    case .string: 3
    case .array: 4
    case .object: 5
    }
  }
}

extension JSONValue {
  /// Whether both are equal and their numbers have the same spelling. The order of members may differ.
  package func isSpelled(like other: JSONValue) -> Bool {
    switch (self, other) {
    case (.array(let left), .array(let right)):
      left.count == right.count && zip(left, right).allSatisfy { $0.isSpelled(like: $1) }
    case (.object(let left), .object(let right)): left.isSpelled(like: right)
    case (.int, .int), (.double, .double): self == other
    case (.spelled(let left), .spelled(let right)): left.text == right.text
    default: self == other && rank != Self.rankOfNumbers
    }
  }
}

extension JSONObject {
  /// Whether both are equal and their numbers have the same spelling. The order of members may differ.
  package func isSpelled(like other: JSONObject) -> Bool {
    count == other.count && allSatisfy { other[$0.key]?.isSpelled(like: $0.value) == true }
  }
}

extension JSONValue: Hashable {
  /// Equal values hash equally: 42, 42.0 and 4.2e1, and objects regardless of the order of members.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .bool(let bool): hasher.combine(bool)
    case .int(let int): hasher.combine(JSONNumber.int(int))
    case .double(let double): hasher.combine(JSONNumber.double(double))
    case .spelled(let number): hasher.combine(JSONNumber.double(number.doubleValue))
    case .string(let string): hasher.combine(KeyBytes(string))
    case .array(let elements): hasher.combine(elements)
    case .object(let object): hasher.combine(object)
    }
  }
}

extension JSONObject: Hashable {
  /// Whether both have the same members, in any order.
  public static func == (left: JSONObject, right: JSONObject) -> Bool {
    guard left.count == right.count else { return false }
    for (key, value) in left where right[key] != value { return false }
    return true
  }

  /// Hashes the members regardless of their order.
  public func hash(into hasher: inout Hasher) {
    var combined = 0
    for (key, value) in self {
      var member = Hasher()
      member.combine(KeyBytes(key))
      member.combine(value)
      combined ^= member.finalize()
    }
    hasher.combine(combined)
  }

  fileprivate func order(to other: JSONObject) -> Int {
    let left = sorted { $0.key.precedesInBytes($1.key) }
    let right = other.sorted { $0.key.precedesInBytes($1.key) }
    for (left, right) in zip(left, right) {
      let names = left.key.byteOrder(to: right.key)
      if names != 0 { return names }
      let values = left.value.order(to: right.value)
      if values != 0 { return values }
    }
    return count - other.count
  }
}

extension String {
  /// Whether both have the same UTF-8; `==` also treats canonically equivalent strings as equal.
  package func hasSameBytes(as other: String) -> Bool {
    guard utf8.count == other.utf8.count else { return false }
    let isSame = utf8.withContiguousStorageIfAvailable { left in
      other.utf8.withContiguousStorageIfAvailable { right in
        Bytes.compare(UnsafeRawBufferPointer(left), UnsafeRawBufferPointer(right), count: left.count) == 0
      }
    }
    return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
  }

  /// Whether the string begins with the UTF-8 of a prefix. `hasPrefix` compares characters: it is false if a combining
  /// character follows the prefix.
  package func hasBytePrefix(_ prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }

  /// The part of the string after a prefix, compared as UTF-8; `nil` if the string does not begin with it.
  package func afterBytePrefix(_ prefix: String) -> String? {
    hasBytePrefix(prefix) ? String(Substring(utf8.dropFirst(prefix.utf8.count))) : nil
  }

  /// The parts between the occurrences of an ASCII character. `split` keeps a character together with combining ones that
  /// follow it, and finds it only alone.
  package func splitBytes(at separator: Unicode.Scalar) -> [String] {
    utf8.split(omittingEmptySubsequences: false) { UInt32($0) == separator.value }
      .map { String(decoding: $0, as: UTF8.self) }
  }

  /// Whether the string precedes another by its UTF-8.
  package func precedesInBytes(_ other: String) -> Bool {
    utf8.lexicographicallyPrecedes(other.utf8)
  }

  fileprivate func byteOrder(to other: String) -> Int {
    hasSameBytes(as: other) ? 0 : precedesInBytes(other) ? -1 : 1
  }
}
