/// The canonical text that revision digests are made of: no spaces, members sorted by UTF-16 code units, strings in
/// their one spelling, whole numbers without fraction.
///
/// It is made of stored text, whose strings have their spelling already.
///
/// Source: `docs/file-format.md`, Digests.
package enum JSONCanonical {
  /// Appends the canonical text of the value at an offset.
  package static func write(_ bytes: JSONBytes, at start: Int, to buffer: inout [UInt8]) {
    write(bytes, at: start, to: &buffer, depth: 0)
  }

  /// The canonical text of a stored body; nothing for one without members.
  package static func body(_ text: [UInt8]) -> [UInt8] {
    guard text.count > 2 else { return [] }
    var canonical: [UInt8] = []
    canonical.reserveCapacity(text.count)
    text.withUnsafeBytes { write(JSONBytes($0), at: 0, to: &canonical) }
    return canonical
  }

  private static let maximumDepth = 1_000

  private static func write(_ bytes: JSONBytes, at start: Int, to buffer: inout [UInt8], depth: Int) {
    guard depth < maximumDepth else { return }
    switch bytes.kind(at: start) {
    case .object: writeObject(bytes, at: start, to: &buffer, depth: depth)
    case .array:
      buffer.append(UInt8(ascii: "["))
      var elements = bytes.elements(at: start)
      var isFirst = true
      while let element = elements.next() {
        if !isFirst { buffer.append(UInt8(ascii: ",")) }
        isFirst = false
        write(bytes, at: element, to: &buffer, depth: depth + 1)
      }
      buffer.append(UInt8(ascii: "]"))
    case .number: writeNumber(bytes, at: start, to: &buffer)
    default: buffer.append(contentsOf: bytes.slice(start, bytes.endOfValue(at: start)))
    }
  }

  private static func writeObject(_ bytes: JSONBytes, at start: Int, to buffer: inout [UInt8], depth: Int) {
    var members: [JSONBytes.Member] = []
    var iterator = bytes.members(at: start)
    var isSorted = true
    while let member = iterator.next() {
      if isSorted, let last = members.last { isSorted = precedes(last, member, in: bytes) }
      members.append(member)
    }
    if !isSorted { members.sort { precedes($0, $1, in: bytes) } }
    buffer.append(UInt8(ascii: "{"))
    for (position, member) in members.enumerated() {
      if position > 0 { buffer.append(UInt8(ascii: ",")) }
      buffer.append(contentsOf: bytes.slice(member.keyStart - 1, member.keyEnd + 1))
      buffer.append(UInt8(ascii: ":"))
      write(bytes, at: member.value, to: &buffer, depth: depth + 1)
    }
    buffer.append(UInt8(ascii: "}"))
  }

  /// Whether one name comes before another by UTF-16 code units. That is the order of UTF-8 bytes but for characters
  /// beyond U+FFFF, whose surrogates come before U+E000.
  private static func precedes(_ left: JSONBytes.Member, _ right: JSONBytes.Member, in bytes: JSONBytes)
    -> Bool
  {
    let (leftKey, rightKey) = (
      bytes.slice(left.keyStart, left.keyEnd), bytes.slice(right.keyStart, right.keyEnd)
    )
    // Where two names part at plain ASCII, that decides; what is escaped or beyond ASCII is looked at closely.
    for offset in 0..<min(leftKey.count, rightKey.count) where leftKey[offset] != rightKey[offset] {
      let (l, r) = (leftKey[offset], rightKey[offset])
      if l >= 0x80 || r >= 0x80 || l == UInt8(ascii: "\\") || r == UInt8(ascii: "\\") { break }
      if offset > 0, leftKey[..<offset].contains(UInt8(ascii: "\\")) { break }
      return l < r
    }
    return bytes.withStringBytes(at: left.keyStart - 1) { left in
      bytes.withStringBytes(at: right.keyStart - 1) { right in
        for (l, r) in zip(left, right) where l != r {
          if l >= 0xEE, r >= 0xEE, (l >= 0xF0) != (r >= 0xF0) { return l >= 0xF0 }
          return l < r
        }
        return left.count < right.count
      }
    }
  }

  /// Digits of a whole number stand as they are; so does a plain decimal of at most 15 digits that ends in no zero, as
  /// no shorter text can mean the same double. Everything else goes through the double.
  private static func writeNumber(_ bytes: JSONBytes, at start: Int, to buffer: inout [UInt8]) {
    let text = bytes.slice(start, bytes.endOfValue(at: start))
    let isWhole = text.allSatisfy { $0 != UInt8(ascii: ".") && $0 | 0x20 != UInt8(ascii: "e") }
    if isWhole || isShortest(text) { return buffer.append(contentsOf: text) }
    guard case .double(let double)? = bytes.number(at: start) else { return buffer.append(contentsOf: text) }
    buffer += JSONDouble.canonicalText(double).utf8
  }

  private static func isShortest(_ text: UnsafeRawBufferPointer) -> Bool {
    guard text.count <= 16, text.last != UInt8(ascii: "0"),
      !text.contains(where: { $0 | 0x20 == UInt8(ascii: "e") })
    else { return false }
    // Below a ten-thousandth the shortest text has an exponent.
    return !text.starts(with: "0.000".utf8) && !text.starts(with: "-0.000".utf8)
  }
}

extension JSONValue {
  /// The canonical text, of which equal values have one: see `docs/file-format.md`, Digests.
  public var canonicalText: String {
    var buffer: [UInt8] = []
    utf8Text.withUnsafeBytes { JSONCanonical.write(JSONBytes($0), at: 0, to: &buffer) }
    return String(decoding: buffer, as: UTF8.self)
  }
}

extension JSONObject {
  /// The canonical text, of which equal objects have one.
  public var canonicalText: String { JSONValue.object(self).canonicalText }
}
