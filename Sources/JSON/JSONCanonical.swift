/// The canonical text that revision digests are made of: no spaces, members sorted by UTF-16 code units, strings in
/// their one spelling, whole numbers without fraction.
///
/// It is made of stored text, whose strings have their spelling already.
///
/// Source: `docs/file-format.md`, Digests.
package enum JSONCanonical {
  /// Appends the canonical text of the value at an offset.
  package static func write(_ bytes: JSONBytes, at start: Int, to buffer: inout [UInt8]) {
    var writer = CanonicalWriter(bytes, from: start)
    buffer += writer.write() ?? Array(bytes.slice(start, bytes.endOfValue(at: start)))
  }

  /// The canonical text of a stored body; nothing for one without members.
  package static func body(_ text: [UInt8]) -> [UInt8] {
    guard text.count > 2 else { return [] }
    return text.withUnsafeBytes { bytes in
      var writer = CanonicalWriter(JSONBytes(bytes), from: 0)
      return writer.write()
    } ?? text
  }
}

/// Writes canonical text, which mostly is stored text in another order: so it is copied in runs, from one thing that is
/// spelled anew or left out to the next, and the members of an object are put in order where they have been copied to.
private struct CanonicalWriter {
  private let bytes: JSONBytes
  private var buffer: [UInt8] = []
  /// Where the run begins that is not in the buffer yet.
  private var run: Int
  /// The members of the objects that are open.
  private var members: [Member] = []
  private var unsorted: [UInt8] = []
  private var isAsStored = true

  private struct Member {
    let key: JSONBytes.Member
    /// The first bytes of the name, and whether they say which of two comes first.
    let prefix: UInt64
    let isPlain: Bool
    /// Where it lies in the buffer.
    let place: Range<Int>
  }

  private static let maximumDepth = 1_000

  init(_ bytes: JSONBytes, from start: Int) {
    self.bytes = bytes
    run = start
  }

  /// The canonical text, or `nil` when the value stands as it should.
  mutating func write() -> [UInt8]? {
    let end = value(at: run, depth: 0)
    if isAsStored { return nil }
    endRun(at: end)
    return buffer
  }

  // MARK: Runs

  /// Copies the run up to an offset; the next one begins there.
  private mutating func endRun(at end: Int) {
    if buffer.isEmpty { buffer.reserveCapacity(bytes.count - run) }
    buffer.append(contentsOf: bytes.slice(run, end))
    run = end
  }

  /// The offset past a byte; never beyond the text.
  private func offset(past offset: Int) -> Int { min(offset + 1, bytes.count) }

  /// Where an offset that lies in the run will be in the buffer.
  private func place(of offset: Int) -> Int { buffer.count + offset - run }

  /// Leaves out white space, which stored text does not have.
  @inline(__always)
  private mutating func skipSpace(_ start: Int) -> Int {
    let end = bytes.skipSpace(start)
    if end != start {
      endRun(at: start)
      run = end
      isAsStored = false
    }
    return end
  }

  // MARK: Values

  /// Goes over a value.
  ///
  /// - Returns: The offset past it; damaged text ends somewhere, too.
  private mutating func value(at start: Int, depth: Int) -> Int {
    switch bytes.kind(at: start) {
    case .object where depth < Self.maximumDepth: return object(at: start, depth: depth)
    case .array where depth < Self.maximumDepth: return array(at: start, depth: depth)
    case .number: return number(at: start)
    default: return bytes.endOfValue(at: start)
    }
  }

  private mutating func array(at start: Int, depth: Int) -> Int {
    var offset = skipSpace(self.offset(past: start))
    if bytes[offset] == UInt8(ascii: "]") { return self.offset(past: offset) }
    while offset < bytes.count {
      offset = skipSpace(value(at: offset, depth: depth + 1))
      guard bytes[offset] == UInt8(ascii: ",") else { break }
      offset = skipSpace(self.offset(past: offset))
    }
    return self.offset(past: offset)
  }

  private mutating func object(at start: Int, depth: Int) -> Int {
    let first = members.count
    var isSorted = true
    var offset = skipSpace(self.offset(past: start))
    if members.isEmpty { members.reserveCapacity(16) }
    while bytes[offset] == UInt8(ascii: "\"") {
      let place = place(of: offset)
      let keyEnd = bytes.endOfString(at: offset)
      let colon = skipSpace(keyEnd)
      let value = skipSpace(self.offset(past: colon))
      let end = self.value(at: value, depth: depth + 1)
      let prefix = bytes.prefix(offset + 1, keyEnd - 1)
      let member = Member(
        key: JSONBytes.Member(keyStart: offset + 1, keyEnd: keyEnd - 1, value: value), prefix: prefix,
        isPlain: JSONBytes.isPlainASCII(prefix), place: place..<max(place, self.place(of: end)))
      if isSorted, members.count > first, let last = members.last {
        isSorted = Self.precedes(last, member, in: bytes)
      }
      members.append(member)
      offset = skipSpace(end)
      guard bytes[offset] == UInt8(ascii: ",") else { break }
      offset = skipSpace(self.offset(past: offset))
    }
    if !isSorted {
      endRun(at: offset)
      sort(from: first)
    }
    members.removeLast(members.count - first)
    return self.offset(past: offset)
  }

  /// Puts the members of the innermost object in order; the buffer ends with the last of them.
  private mutating func sort(from first: Int) {
    isAsStored = false
    let start = members[first].place.lowerBound
    unsorted.removeAll(keepingCapacity: true)
    unsorted.append(contentsOf: buffer[start...])
    buffer.removeLast(buffer.count - start)
    sortMembers(from: first)
    for position in first..<members.count {
      if position > first { buffer.append(UInt8(ascii: ",")) }
      let place = members[position].place
      buffer.append(contentsOf: unsorted[place.lowerBound - start..<place.upperBound - start])
    }
  }

  private mutating func sortMembers(from first: Int) {
    let bytes = bytes
    guard members.count - first <= 16 else {
      return members[first...].sort { Self.precedes($0, $1, in: bytes) }
    }
    // Few are put where they belong one by one, which needs no room.
    for position in first + 1..<members.count {
      let member = members[position]
      var place = position
      while place > first, Self.precedes(member, members[place - 1], in: bytes) {
        members[place] = members[place - 1]
        place -= 1
      }
      members[place] = member
    }
  }

  /// Digits of a whole number stand as they are; so does a plain decimal of at most 15 digits that ends in no zero, as
  /// no shorter text can mean the same double. Everything else goes through the double.
  private mutating func number(at start: Int) -> Int {
    let end = bytes.endOfValue(at: start)
    let text = bytes.slice(start, end)
    let isWhole = text.allSatisfy { $0 != UInt8(ascii: ".") && $0 | 0x20 != UInt8(ascii: "e") }
    if isWhole || Self.isShortest(text) { return end }
    guard case .double(let double)? = bytes.number(at: start) else { return end }
    endRun(at: start)
    buffer += JSONDouble.canonicalText(double).utf8
    run = end
    isAsStored = false
    return end
  }

  private static func isShortest(_ text: UnsafeRawBufferPointer) -> Bool {
    guard text.count <= 16, text.last != UInt8(ascii: "0"),
      !text.contains(where: { $0 | 0x20 == UInt8(ascii: "e") })
    else { return false }
    // Below a ten-thousandth the shortest text has an exponent.
    return !text.starts(with: "0.000".utf8) && !text.starts(with: "-0.000".utf8)
  }

  @inline(__always)
  private static func precedes(_ left: Member, _ right: Member, in bytes: JSONBytes) -> Bool {
    if left.prefix != right.prefix, left.isPlain, right.isPlain { return left.prefix < right.prefix }
    return precedes(left.key, right.key, in: bytes)
  }

  /// Whether one name comes before another by UTF-16 code units. That is the order of UTF-8 bytes but for characters
  /// beyond U+FFFF, whose surrogates come before U+E000.
  private static func precedes(
    _ left: JSONBytes.Member, _ right: JSONBytes.Member, in bytes: JSONBytes
  ) -> Bool {
    bytes.withStringBytes(at: left.keyStart - 1) { left in
      bytes.withStringBytes(at: right.keyStart - 1) { right in
        for (l, r) in zip(left, right) where l != r {
          if l >= 0xEE, r >= 0xEE, (l >= 0xF0) != (r >= 0xF0) { return l >= 0xF0 }
          return l < r
        }
        return left.count < right.count
      }
    }
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
