import CDTPlatform

/// A value as bytes whose order, byte by byte, is the order of values.
///
/// Null < false < true < numbers < strings < arrays < objects. Equal values have equal keys, also 42 and 42.0, and no
/// key is a prefix of another, so keys can be concatenated. Index tables store arrays and objects by their keys; sorts
/// without an index compare keys.
///
/// | value | bytes |
/// |---|---|
/// | null, false, true | `10`, `20`, `28` |
/// | number | `30`, the greatest double not above it as 8 order-preserving bytes, the difference as 2 |
/// | string | `40`, its UTF-8 with `00` written `00 FF`, `00 01` |
/// | array | `50`, the keys of its elements, `00` |
/// | object | `60`, for each member sorted by name: the name as a string, the value; then `00` |
///
/// With a collation, strings are written in their folded form, but not the names of members.
package struct OrderKey: Sendable, Hashable {
  package var bytes: [UInt8] = []

  /// The whole key of null.
  package static let null: UInt8 = 0x10
  static let falseByte: UInt8 = 0x20
  static let trueByte: UInt8 = 0x28
  static let number: UInt8 = 0x30
  static let string: UInt8 = 0x40
  static let array: UInt8 = 0x50
  static let object: UInt8 = 0x60
  static let end: UInt8 = 0x00

  /// Only damaged text is deeper; values below this depth are omitted from the key.
  static let maximumDepth = 600

  package init() {}

  package init(_ value: JSONValue) {
    append(value)
  }

  package init(_ text: JSONBytes, at start: Int, by collation: Collation? = nil) {
    append(text, at: start, by: collation)
  }

  /// Creates a key from its bytes.
  package init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = Array(bytes)
  }

  /// Empties the key but keeps its memory.
  package mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
  }

  /// Appends a value as a part of a composite key.
  package mutating func append(_ value: JSONValue) {
    let text = value.utf8Text
    text.withUnsafeBytes { append(JSONBytes($0), at: 0) }
  }

  /// Appends the value at an offset of stored text.
  package mutating func append(_ text: JSONBytes, at start: Int, by collation: Collation? = nil) {
    Self.append(text, at: start, by: collation, to: &bytes)
  }

  /// Appends the key of null, which is also that of a missing field.
  package mutating func appendNull() {
    bytes.append(Self.null)
  }

  /// Appends a string from outside the text.
  package mutating func append(string: UnsafeRawBufferPointer) {
    Self.append(string: string, to: &bytes)
  }

  /// Appends another key as a part of a composite key.
  package mutating func append(key: OrderKey) {
    bytes += key.bytes
  }

  /// Inverts the order of the part from `start` on.
  package mutating func invert(from start: Int) {
    for index in start..<bytes.count { bytes[index] = ~bytes[index] }
  }

  /// Whether all keys that begin with this part of one are after another key.
  package func isAfterPrefix(of other: OrderKey) -> Bool {
    bytes.withUnsafeBytes { bytes in
      other.bytes.withUnsafeBytes { other in
        Order(UnsafeRawBufferPointer(rebasing: other.prefix(bytes.count)), bytes).isAscending
      }
    }
  }

  // MARK: Bytes

  /// Appends the key of the value at an offset of stored text.
  package static func append(
    _ text: JSONBytes, at start: Int, by collation: Collation? = nil, to bytes: inout [UInt8], depth: Int = 0
  ) {
    guard depth < maximumDepth else { return bytes.append(null) }
    switch text.kind(at: start) {
    case .null, .invalid: bytes.append(null)
    case .false: bytes.append(falseByte)
    case .true: bytes.append(trueByte)
    case .number: append(text.number(at: start) ?? .int(0), to: &bytes)
    case .string: text.withStringBytes(at: start) { append(string: $0, by: collation, to: &bytes) }
    case .array:
      bytes.append(array)
      var elements = text.elements(at: start)
      while let element = elements.next() {
        append(text, at: element, by: collation, to: &bytes, depth: depth + 1)
      }
      bytes.append(end)
    case .object:
      bytes.append(object)
      appendMembers(of: text, at: start, by: collation, to: &bytes, depth: depth)
      bytes.append(end)
    }
  }

  private static func appendMembers(
    of text: JSONBytes, at start: Int, by collation: Collation?, to bytes: inout [UInt8], depth: Int
  ) {
    var named: [(name: OrderKey, value: Int)] = []
    var members = text.members(at: start)
    while let member = members.next() {
      var name = OrderKey()
      text.withStringBytes(at: member.keyStart - 1) { name.append(string: $0) }
      named.append((name, member.value))
    }
    named.sort { $0.name < $1.name }
    for member in named {
      bytes += member.name.bytes
      append(text, at: member.value, by: collation, to: &bytes, depth: depth + 1)
    }
  }

  /// Appends the key of an array of the values at some offsets.
  package static func append(_ text: JSONBytes, elementsAt offsets: [Int], to bytes: inout [UInt8]) {
    bytes.append(array)
    for offset in offsets { append(text, at: offset, to: &bytes, depth: 1) }
    bytes.append(end)
  }

  /// Appends the key of a boolean.
  package static func append(_ bool: Bool, to bytes: inout [UInt8]) {
    bytes.append(bool ? trueByte : falseByte)
  }

  /// Appends the key of a number: the greatest double not above it, and the difference, which is below 2^11.
  package static func append(_ value: JSONNumber, to bytes: inout [UInt8]) {
    var floor: Double
    var rest: UInt16 = 0
    switch value {
    case .double(let double): floor = double
    case .int(let int):
      floor = Double(int)
      if Order(.int(int), .double(floor)) == .ascending { floor = floor.nextDown }
      rest = UInt16(truncatingIfNeeded: int &- Int64(floor))
    }
    bytes.append(number)
    withUnsafeBytes(of: ordered(floor).bigEndian) { bytes.append(contentsOf: $0) }
    withUnsafeBytes(of: rest.bigEndian) { bytes.append(contentsOf: $0) }
  }

  /// A double's bits, transformed so that their order is that of the numbers.
  @inline(__always)
  private static func ordered(_ double: Double) -> UInt64 {
    let bits = (double == 0 ? 0.0 : double).bitPattern
    return bits >> 63 == 1 ? ~bits : bits | 1 << 63
  }

  /// Appends the key of a string.
  package static func append(
    string: UnsafeRawBufferPointer, by collation: Collation? = nil, to bytes: inout [UInt8]
  ) {
    if let collation {
      var folded: [UInt8] = []
      collation.fold(string, to: &folded)
      return folded.withUnsafeBytes { append(string: $0, to: &bytes) }
    }
    bytes.append(Self.string)
    if string.contains(0) {
      for byte in string {
        bytes.append(byte)
        if byte == 0 { bytes.append(0xFF) }
      }
    } else {
      bytes.append(contentsOf: string)
    }
    bytes.append(end)
    bytes.append(0x01)
  }

  /// The string of which these bytes are the whole key.
  package static func string(in key: UnsafeRawBufferPointer) -> String {
    let spelled = key.dropFirst().dropLast(2)
    guard spelled.contains(0) else {
      return String(decoding: UnsafeRawBufferPointer(rebasing: spelled), as: UTF8.self)
    }
    var text: [UInt8] = []
    var isAfterZero = false
    for byte in spelled {
      if !isAfterZero { text.append(byte) }
      isAfterZero = byte == 0 && !isAfterZero
    }
    return String(decoding: text, as: UTF8.self)
  }
}

extension OrderKey {
  package static func == (left: OrderKey, right: OrderKey) -> Bool {
    left.bytes.count == right.bytes.count
      && left.bytes.withUnsafeBytes { left in
        right.bytes.withUnsafeBytes { Bytes.compare(left, $0, count: left.count) == 0 }
      }
  }

  package func hash(into hasher: inout Hasher) {
    // As one run of bytes: an array would be hashed byte by byte.
    bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
  }
}

extension OrderKey: Comparable {
  package static func < (left: OrderKey, right: OrderKey) -> Bool {
    left.bytes.withUnsafeBytes { left in right.bytes.withUnsafeBytes { Order(left, $0).isAscending } }
  }
}
