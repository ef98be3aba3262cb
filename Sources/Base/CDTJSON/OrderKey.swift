import CDTPlatform

/// A value as bytes whose order, byte by byte, is the order of values.
///
/// Null < false < true < numbers < strings < arrays < objects. Equal values have equal keys, also 42 and 42.0, and no
/// key is a prefix of another, so keys can be concatenated. The keys of index rows are made of them; sorts without an
/// index compare them.
///
/// | value | bytes |
/// |---|---|
/// | null, false, true | `10`, `20`, `28` |
/// | 0 | `34` |
/// | a number above 0 and below 1 | `35`, the 8 bytes of the double |
/// | from 1, below 2^55 | `35` plus the number of the next bytes, 1 to 7: the integral part times 2, plus 1 if there is a fraction; then the fraction, seven bits a byte, in the highest; the lowest is 1 in all but the last |
/// | from 2^55 | `3D`, the greatest double not above it as 8 bytes, the difference as 2 |
/// | a negative number | its absolute value with the first byte subtracted from `68`, and the others inverted |
/// | string | `40`, its UTF-8 with `00` written `01 01` and `01` written `01 02`; `00` |
/// | array | `50`, the keys of its elements, `00` |
/// | object | `60`, for each member sorted by name: the name as a string, the value; then `00` |
///
/// With a collation, strings are written in their folded form, but not the names of members.
///
/// A bound of a range is such bytes, too: a whole key, or the beginning of keys.
package struct OrderKey: Sendable, Hashable {
  package var bytes: [UInt8] = []

  /// The whole key of null.
  package static let null: UInt8 = 0x10
  static let falseByte: UInt8 = 0x20
  static let trueByte: UInt8 = 0x28
  static let zero: UInt8 = 0x34
  static let belowOne: UInt8 = 0x35
  static let large: UInt8 = 0x3D
  static let negatives: ClosedRange<UInt8> = 0x2B...0x33
  static let positives: ClosedRange<UInt8> = 0x35...0x3D
  package static let string: UInt8 = 0x40
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
  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Creates the key of a string.
  package init(string: String) {
    var string = string
    string.withUTF8 { append(string: UnsafeRawBufferPointer($0)) }
  }

  /// Empties the key but keeps its memory.
  package mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
  }

  /// Appends a value as a part of a composite key.
  package mutating func append(_ value: JSONValue) {
    if case .string(var string) = value {
      return string.withUTF8 { append(string: UnsafeRawBufferPointer($0)) }
    }
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

  /// The numbers from which on the greatest double not above is written.
  private static let firstLarge = 0x1p55

  /// Appends the key of a number.
  package static func append(_ value: JSONNumber, to bytes: inout [UInt8]) {
    let start = bytes.count
    let isNegative: Bool
    switch value {
    case .int(let int):
      isNegative = int < 0
      if int.magnitude < UInt64(firstLarge) {
        append(whole: int.magnitude, fraction: 0, to: &bytes)
      } else {
        var floor = Double(int.magnitude)
        if UInt64(floor) > int.magnitude { floor = floor.nextDown }
        append(large, floor, to: &bytes)
        append(int.magnitude - UInt64(floor), bytes: 2, to: &bytes)
      }
    case .double(let double):
      let magnitude = double.magnitude
      isNegative = double < 0
      if magnitude >= 1 ? magnitude < firstLarge : magnitude == 0 {
        let whole = UInt64(magnitude)
        append(whole: whole, fraction: UInt64((magnitude - Double(whole)) * 0x1p56), to: &bytes)
      } else if magnitude < 1 {
        append(belowOne, magnitude, to: &bytes)
      } else {
        append(large, magnitude, to: &bytes)
        append(0, bytes: 2, to: &bytes)
      }
    }
    guard isNegative else { return }
    bytes[start] = 2 * zero - bytes[start]
    for index in start + 1..<bytes.count { bytes[index] = ~bytes[index] }
  }

  /// - Parameter fraction: In units of 2^-56.
  private static func append(whole: UInt64, fraction: UInt64, to bytes: inout [UInt8]) {
    guard whole > 0 else { return bytes.append(zero) }
    let value = whole << 1 | (fraction > 0 ? 1 : 0)
    let count = 8 - value.leadingZeroBitCount / 8
    bytes.append(belowOne + UInt8(count))
    append(value, bytes: count, to: &bytes)
    var rest = fraction << 8
    while rest > 0 {
      let next = rest << 7
      bytes.append(UInt8(rest >> 57) << 1 | (next > 0 ? 1 : 0))
      rest = next
    }
  }

  private static func append(_ type: UInt8, _ double: Double, to bytes: inout [UInt8]) {
    bytes.append(type)
    append(double.bitPattern, bytes: 8, to: &bytes)
  }

  private static func append(_ value: UInt64, bytes count: Int, to bytes: inout [UInt8]) {
    var shift = 8 * count
    while shift > 0 {
      shift -= 8
      bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
    }
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
    appendContent(string, to: &bytes)
    bytes.append(end)
  }

  /// Appends a string, or the beginning of one, without its type and end.
  private static func appendContent(_ string: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
    guard hasEscapes(string) else {
      // The end, and in a key of an index often an id.
      if bytes.capacity == bytes.count { bytes.reserveCapacity(bytes.count + string.count + 16) }
      return bytes.append(contentsOf: string)
    }
    for byte in string {
      if byte < 2 { bytes.append(1) }
      bytes.append(byte < 2 ? byte + 1 : byte)
    }
  }

  /// Whether a byte is 0 or 1.
  private static func hasEscapes(_ string: UnsafeRawBufferPointer) -> Bool {
    var offset = 0
    while offset + 8 <= string.count {
      let word = string.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      if (word &- 0x0202_0202_0202_0202) & ~word & 0x8080_8080_8080_8080 != 0 { return true }
      offset += 8
    }
    while offset < string.count {
      if string[offset] < 2 { return true }
      offset += 1
    }
    return false
  }

  /// The string of which these bytes are the whole key.
  package static func string(in key: UnsafeRawBufferPointer) -> String {
    var offset = 1
    return stringValue(in: JSONBytes(key), at: &offset)
  }

  // MARK: Bounds

  /// The bounds between types. Only that of the booleans is a key, which is that of false.
  package static let firstBoolean = OrderKey([falseByte])
  package static let firstNumber = OrderKey([negatives.lowerBound])
  package static let firstString = OrderKey([string])
  package static let firstArray = OrderKey([array])
  package static let firstObject = OrderKey([object])
  package static let afterObjects = OrderKey([object + 1])
  /// After all keys, also inverted ones.
  package static let afterAll = OrderKey([0xFF])

  /// The key of null.
  package static let nothing = OrderKey([null])

  /// Whether it is a bound between types.
  package var isTypeBound: Bool {
    guard bytes.count == 1 else { return false }
    return switch bytes[0] {
    case Self.falseByte, Self.negatives.lowerBound, Self.string, Self.array, Self.object, Self.object + 1:
      true
    default: false
    }
  }

  /// The least bound of the strings that begin with a prefix.
  package init(stringsWith prefix: [UInt8]) {
    bytes.append(Self.string)
    prefix.withUnsafeBytes { Self.appendContent($0, to: &bytes) }
  }

  /// The least bound after all keys that begin with these bytes.
  package var successor: OrderKey {
    guard let last = bytes.lastIndex(where: { $0 != 0xFF }) else { return Self.afterAll }
    var bytes = Array(bytes[...last])
    bytes[last] += 1
    return OrderKey(bytes)
  }

  /// The string of a bound of strings, and whether the bound is after its key.
  package var stringBound: (string: String, isAfter: Bool) {
    var text: [UInt8] = []
    var offset = 1
    while offset < bytes.count, bytes[offset] != Self.end {
      let isEscaped = bytes[offset] == 1
      if isEscaped { offset += 1 }
      guard offset < bytes.count else { return (String(decoding: text, as: UTF8.self), true) }
      text.append(isEscaped ? bytes[offset] - 1 : bytes[offset])
      offset += 1
    }
    return (String(decoding: text, as: UTF8.self), false)
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
