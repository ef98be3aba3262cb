/// Borrowed JSON text that was validated when it was stored, and is read in place.
///
/// It contains a pointer, so it is valid only during the call that lent the bytes. The caller need not check offsets:
/// bytes beyond either end read as 0, which never occurs in JSON text. Damaged text can yield a wrong value, but never
/// a read outside the buffer or a trap.
@usableFromInline
package struct JSONBytes {
  @usableFromInline let base: UnsafeRawPointer?
  @usableFromInline package let count: Int

  @inlinable
  package init(_ buffer: UnsafeRawBufferPointer) {
    base = buffer.baseAddress
    count = buffer.baseAddress == nil ? 0 : buffer.count
  }

  /// The byte at an offset, or 0 outside of the text.
  @inlinable @inline(__always)
  package subscript(_ offset: Int) -> UInt8 {
    // An unsigned comparison also rejects negative offsets.
    guard UInt(bitPattern: offset) < UInt(bitPattern: count), let base else { return 0 }
    return base.load(fromByteOffset: offset, as: UInt8.self)
  }

  /// The bytes between two offsets, limited to the text.
  @inlinable @inline(__always)
  package func slice(_ start: Int, _ end: Int) -> UnsafeRawBufferPointer {
    let start = max(0, min(start, count))
    let end = max(start, min(end, count))
    return UnsafeRawBufferPointer(start: base.map { $0 + start }, count: end - start)
  }

  /// The first eight bytes between two offsets as a big-endian integer, padded with zeros. The order of such integers
  /// is the order of the bytes, except for ties.
  @inline(__always)
  package func prefix(_ start: Int, _ end: Int) -> UInt64 {
    if let base, start >= 0, start <= count - 8 {
      let word = word(at: start, base).byteSwapped
      let length = end - start
      if length >= 8 { return word }
      return length <= 0 ? 0 : word & ~(UInt64.max >> UInt64(8 * length))
    }
    var prefix: UInt64 = 0
    for offset in start..<start + 8 { prefix = prefix << 8 | UInt64(offset < end ? self[offset] : 0) }
    return prefix
  }

  /// Whether eight bytes are ASCII without backslashes, so that their order is that of the unescaped string.
  @inline(__always)
  static func isPlainASCII(_ word: UInt64) -> Bool {
    (zeroBytes(word ^ 0x5C5C_5C5C_5C5C_5C5C) | word & 0x8080_8080_8080_8080) == 0
  }

  /// Eight bytes from an offset as a little-endian integer; the caller has checked the bounds.
  @inlinable @inline(__always)
  func word(at offset: Int, _ base: UnsafeRawPointer) -> UInt64 {
    UInt64(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  /// The offset of the first byte with a value at or after an offset, or `count`.
  func position(of byte: UInt8, from start: Int) -> Int {
    var offset = max(0, start)
    if let base {
      let wanted = UInt64(byte) &* 0x0101_0101_0101_0101
      while offset + 8 <= count {
        let found = Self.zeroBytes(word(at: offset, base) ^ wanted)
        if found != 0 { return offset + found.trailingZeroBitCount / 8 }
        offset += 8
      }
    }
    while offset < count, self[offset] != byte { offset += 1 }
    return offset
  }

  /// The offset of the first quotation mark or backslash at or after an offset, or `count`.
  @inlinable @inline(__always)
  package func nextQuoteOrBackslash(from start: Int) -> Int {
    var offset = max(0, start)
    if let base {
      while offset + 8 <= count {
        let word = word(at: offset, base)
        let found =
          Self.zeroBytes(word ^ 0x2222_2222_2222_2222) | Self.zeroBytes(word ^ 0x5C5C_5C5C_5C5C_5C5C)
        if found != 0 { return offset + found.trailingZeroBitCount / 8 }
        offset += 8
      }
    }
    while offset < count, self[offset] != UInt8(ascii: "\""), self[offset] != UInt8(ascii: "\\") {
      offset += 1
    }
    return offset
  }

  /// The offset of the first byte at or after an offset that is not plain ASCII in a string: a quotation mark, a
  /// backslash, a control character or a non-ASCII byte; or `count`.
  @inlinable @inline(__always)
  package func nextSpecial(from start: Int) -> Int {
    var offset = max(0, start)
    if let base {
      while offset + 8 <= count {
        let word = word(at: offset, base)
        let quotes = (word ^ 0x2222_2222_2222_2222) &- 0x0101_0101_0101_0101
        let backslashes = (word ^ 0x5C5C_5C5C_5C5C_5C5C) &- 0x0101_0101_0101_0101
        let controls = word &- 0x2020_2020_2020_2020
        // Bits above the lowest one may be wrong; the lowest one marks one of these bytes.
        let found = (quotes | backslashes | controls | word) & 0x8080_8080_8080_8080
        if found != 0 { return offset + found.trailingZeroBitCount / 8 }
        offset += 8
      }
    }
    while offset < count {
      let byte = self[offset]
      if byte < 0x20 || byte >= 0x80 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { break }
      offset += 1
    }
    return offset
  }

  /// The high bit of each byte that is zero; bytes above the first zero may be wrong.
  @inlinable @inline(__always)
  static func zeroBytes(_ word: UInt64) -> UInt64 {
    (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
  }
}

/// The type of a value, by its first byte.
package enum JSONKind: Sendable, Hashable {
  case null, `false`, `true`, number, string, array, object
  /// Not the start of a value.
  case invalid
}

extension JSONBytes {
  package func kind(at offset: Int) -> JSONKind {
    switch self[offset] {
    case UInt8(ascii: "n"): .null
    case UInt8(ascii: "f"): .false
    case UInt8(ascii: "t"): .true
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): .number
    case UInt8(ascii: "\""): .string
    case UInt8(ascii: "["): .array
    case UInt8(ascii: "{"): .object
    // The members of a stored body follow those of its ids, see `StoredText`.
    case UInt8(ascii: ",") where offset == 0: .object
    default: .invalid
    }
  }

  /// The first offset at or after a given one that is not white space.
  @inlinable @inline(__always)
  package func skipSpace(_ start: Int) -> Int {
    var offset = start
    while true {
      switch self[offset] {
      case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): offset += 1
      default: return offset
      }
    }
  }

  /// The offset after the string whose opening quotation mark is at an offset, or `count`.
  @inlinable @inline(__always)
  package func endOfString(at start: Int) -> Int {
    var offset = start + 1
    while true {
      offset = nextQuoteOrBackslash(from: offset)
      guard offset < count else { return count }
      if self[offset] == UInt8(ascii: "\"") { return offset + 1 }
      offset += 2
    }
  }

  /// The offset after the value at an offset. It is greater than the start, so that loops end.
  package func endOfValue(at start: Int) -> Int {
    switch self[start] {
    case UInt8(ascii: "\""): return endOfString(at: start)
    case UInt8(ascii: "{"), UInt8(ascii: "["): return endOfContainer(at: start)
    default:
      var offset = start + 1
      while offset < count, !Self.endsScalar(self[offset]) { offset += 1 }
      return min(offset, count)
    }
  }

  private func endOfContainer(at start: Int) -> Int {
    var depth = 0
    var offset = start
    while offset < count {
      switch self[offset] {
      case UInt8(ascii: "\""):
        offset = endOfString(at: offset)
        continue
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        if depth == 0 { return offset + 1 }
      default: break
      }
      offset += 1
    }
    return count
  }

  private static func endsScalar(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: " "), UInt8(ascii: "\n"),
      UInt8(ascii: "\r"), UInt8(ascii: "\t"):
      true
    default: false
    }
  }
}

// MARK: - Members and elements

/// Iterates over the members of an object. The value of a member is skipped only when the next one is requested.
package struct MemberIterator {
  private let bytes: JSONBytes
  /// The offset of the last member's value; of the object's opening brace before the first.
  private var last: Int
  private var isFirst = true

  fileprivate init(_ bytes: JSONBytes, at start: Int) {
    self.bytes = bytes
    last = start
  }

  @inlinable @inline(__always)
  package mutating func next() -> JSONBytes.Member? {
    guard let start = bytes.nextItem(after: &last, isFirst: &isFirst, opening: UInt8(ascii: "{")),
      bytes[start] == UInt8(ascii: "\"")
    else {
      last = bytes.count
      return nil
    }
    let end = bytes.endOfString(at: start)
    let colon = bytes.skipSpace(end)
    guard bytes[colon] == UInt8(ascii: ":") else {
      last = bytes.count
      return nil
    }
    last = bytes.skipSpace(colon + 1)
    return JSONBytes.Member(keyStart: start + 1, keyEnd: end - 1, value: last)
  }
}

/// Iterates over the offsets of an array's elements.
package struct ElementIterator {
  private let bytes: JSONBytes
  private var last: Int
  private var isFirst = true

  fileprivate init(_ bytes: JSONBytes, at start: Int) {
    self.bytes = bytes
    last = start
  }

  package mutating func next() -> Int? {
    bytes.nextItem(after: &last, isFirst: &isFirst, opening: UInt8(ascii: "["))
  }
}

extension JSONBytes {
  /// A member of an object: its key as escaped in the text, and the offset of its value.
  package struct Member {
    package let keyStart: Int
    package let keyEnd: Int
    package let value: Int
  }

  /// The members of the object at an offset; empty if it is not an object.
  package func members(at start: Int) -> MemberIterator {
    MemberIterator(self, at: start)
  }

  /// The elements of the array at an offset; empty if it is not an array.
  package func elements(at start: Int) -> ElementIterator {
    ElementIterator(self, at: start)
  }

  /// The offset of the next member's key or the next element. After the last it is `nil`, and `last` is moved to the
  /// end.
  @inline(__always)
  fileprivate func nextItem(after last: inout Int, isFirst: inout Bool, opening: UInt8) -> Int? {
    let start: Int
    if isFirst {
      isFirst = false
      start = self[last] == opening || opens(opening, at: last) ? skipSpace(last + 1) : count
      if self[start] == UInt8(ascii: "}") || self[start] == UInt8(ascii: "]") {
        last = count
        return nil
      }
    } else {
      guard last < count else { return nil }
      let comma = skipSpace(endOfValue(at: last))
      start = self[comma] == UInt8(ascii: ",") ? skipSpace(comma + 1) : count
    }
    last = start
    return start < count ? start : nil
  }

  /// Whether an object's members begin after a comma, as those of a body in a document's text.
  @inline(__always)
  private func opens(_ opening: UInt8, at offset: Int) -> Bool {
    offset == 0 && opening == UInt8(ascii: "{") && self[offset] == UInt8(ascii: ",")
  }

  /// The value of the member with an escaped key, or `nil` if the value at an offset is not an object or has no such
  /// member.
  package func member(spelled key: [UInt8], at start: Int) -> Int? {
    var members = members(at: start)
    while let member = members.next() {
      if equals(key, from: member.keyStart, to: member.keyEnd) { return member.value }
    }
    return nil
  }

  /// The element at a position of the array at an offset, or `nil` if it does not exist.
  package func element(at position: Int, of start: Int) -> Int? {
    var elements = elements(at: start)
    var passed = 0
    while let element = elements.next() {
      if passed == position { return element }
      passed += 1
    }
    return nil
  }

  /// Whether the bytes between two offsets equal given ones.
  @inlinable @inline(__always)
  package func equals(_ wanted: [UInt8], from start: Int, to end: Int) -> Bool {
    end - start == wanted.count && hasPrefix(wanted, at: start)
  }

  /// Whether the bytes at an offset begin with given ones.
  @inlinable @inline(__always)
  package func hasPrefix(_ wanted: [UInt8], at start: Int) -> Bool {
    guard let base, start >= 0, start <= count - wanted.count else { return false }
    return wanted.withUnsafeBytes { wanted in
      for index in 0..<wanted.count
      where base.load(fromByteOffset: start + index, as: UInt8.self) != wanted[index] { return false }
      return true
    }
  }

  /// Whether the bytes between two offsets equal those of a literal.
  func hasBytes(of wanted: StaticString, from start: Int, to end: Int) -> Bool {
    guard end - start == wanted.utf8CodeUnitCount else { return false }
    return wanted.withUTF8Buffer { wanted in
      for offset in 0..<wanted.count where self[start + offset] != wanted[offset] { return false }
      return true
    }
  }
}
