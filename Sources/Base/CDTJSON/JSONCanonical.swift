/// The canonical text that revision digests are computed from: no spaces, members sorted by UTF-16 code units, strings
/// with the stored escapes, 64-bit integers as their digits.
///
/// The input is stored text, whose strings already have that form.
package enum JSONCanonical {
  /// Appends the canonical text of the value at an offset.
  package static func write(_ bytes: JSONBytes, at start: Int, to buffer: inout [UInt8]) {
    var writer = CanonicalWriter(bytes, from: start)
    buffer += writer.write() ?? Array(bytes.slice(start, bytes.endOfValue(at: start)))
  }

  /// The canonical text of a stored body.
  package static func body(_ text: [UInt8]) -> [UInt8] {
    guard text.count > 2 else { return text }
    return text.withUnsafeBytes { bytes in
      var writer = CanonicalWriter(JSONBytes(bytes), from: 0)
      return writer.write()
    } ?? text
  }

  // MARK: Numbers

  /// Whether the text between two offsets is `-0`, the only integer whose digits are not canonical.
  @inline(__always)
  static func isMinusZero(_ start: Int, _ end: Int, in bytes: JSONBytes) -> Bool {
    end - start == 2 && bytes[start] == UInt8(ascii: "-") && bytes[start + 1] == UInt8(ascii: "0")
  }

  /// The canonical text of a number with a fraction or an exponent, or of `-0`, between two offsets; `nil` if it is
  /// unchanged.
  ///
  /// A plain decimal of at most 15 digits that does not end in zero is already canonical, as no shorter text means the
  /// same double. Other numbers are converted to a double and back.
  static func respelled(_ start: Int, _ end: Int, in bytes: JSONBytes) -> String? {
    if isShortest(bytes.slice(start, end)) { return nil }
    guard case .double(let double)? = bytes.number(at: start) else { return nil }
    return JSONDouble.canonicalText(double)
  }

  /// Whether the text of a number with a fraction is known to be the shortest one of its double.
  static func isShortest(_ text: UnsafeRawBufferPointer) -> Bool {
    guard text.count <= 16, text.last != UInt8(ascii: "0"),
      !text.contains(where: { $0 | 0x20 == UInt8(ascii: "e") })
    else { return false }
    // Below one ten-thousandth the shortest text has an exponent.
    let first = text.first == UInt8(ascii: "-") ? 1 : 0
    return text[first] != UInt8(ascii: "0") || !text.dropFirst(first).starts(with: "0.000".utf8)
  }

  // MARK: Order

  enum PrefixOrder { case ascending, descending, unknown }

  /// The order of two names as far as ``JSONBytes/prefix(_:_:)`` decides it.
  @inline(__always)
  static func order(_ left: UInt64, _ right: UInt64) -> PrefixOrder {
    guard left != right, JSONBytes.isPlainASCII(left), JSONBytes.isPlainASCII(right) else { return .unknown }
    return left < right ? .ascending : .descending
  }

  /// Whether the string at one offset precedes that at another by UTF-16 code units. This is the order of UTF-8 bytes
  /// except for characters beyond U+FFFF, whose surrogates precede U+E000.
  static func precedes(_ left: Int, _ right: Int, in bytes: JSONBytes) -> Bool {
    bytes.withStringBytes(at: left) { left in
      bytes.withStringBytes(at: right) { right in
        for (l, r) in zip(left, right) where l != r {
          if l >= 0xEE, r >= 0xEE, (l >= 0xF0) != (r >= 0xF0) { return l >= 0xF0 }
          return l < r
        }
        return left.count < right.count
      }
    }
  }

  /// Sorts the members of one object, which are the last ones.
  @inline(__always)
  static func sort<Member>(
    _ members: inout [Member], from first: Int, by precedes: (Member, Member) -> Bool
  ) {
    guard members.count - first <= 16 else { return members[first...].sort(by: precedes) }
    // A few members are sorted by insertion, which needs no memory.
    members.withUnsafeMutableBufferPointer { members in
      for position in first + 1..<max(first + 1, members.count) {
        let member = members[position]
        var place = position
        while place > first, precedes(member, members[place - 1]) {
          members[place] = members[place - 1]
          place -= 1
        }
        members[place] = member
      }
    }
  }
}

/// Writes canonical text. It is mostly stored text in another order, so it is copied in runs that end where something
/// changes or is omitted, and the members of an object are then sorted in the copy.
private struct CanonicalWriter {
  private let bytes: JSONBytes
  private var buffer: [UInt8] = []
  /// The start of the run that is not copied yet.
  private var run: Int
  /// The members of the open objects.
  private var members: [Member] = []
  private var unsorted: [UInt8] = []
  private var isAsStored = true

  private struct Member {
    /// The offset of its name in the text.
    let name: Int
    /// The first bytes of the name.
    let prefix: UInt64
    /// Its range in the buffer.
    let place: Range<Int>
  }

  private static let maximumDepth = 1_000

  init(_ bytes: JSONBytes, from start: Int) {
    self.bytes = bytes
    run = start
  }

  /// The canonical text, or `nil` if the value is already canonical.
  mutating func write() -> [UInt8]? {
    let end = value(at: run, depth: 0)
    if isAsStored { return nil }
    endRun(at: end)
    return buffer
  }

  // MARK: Runs

  /// Copies the run up to an offset, where the next run begins.
  private mutating func endRun(at end: Int) {
    if buffer.isEmpty { buffer.reserveCapacity(bytes.count - run) }
    buffer.append(contentsOf: bytes.slice(run, end))
    run = end
  }

  /// The offset after a byte, limited to the text.
  private func offset(past offset: Int) -> Int { min(offset + 1, bytes.count) }

  /// The position in the buffer of an offset in the current run.
  private func place(of offset: Int) -> Int { buffer.count + offset - run }

  /// Omits white space, which stored text does not have.
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

  /// Processes a value.
  ///
  /// - Returns: The offset after it. Processing ends for damaged text, too.
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
      let member = Member(
        name: offset, prefix: bytes.prefix(offset + 1, keyEnd - 1),
        place: place..<max(place, self.place(of: end)))
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

  /// Sorts the members of the innermost object, which are the end of the buffer.
  private mutating func sort(from first: Int) {
    isAsStored = false
    let start = members[first].place.lowerBound
    unsorted.removeAll(keepingCapacity: true)
    unsorted.append(contentsOf: buffer[start...])
    buffer.removeLast(buffer.count - start)
    let bytes = bytes
    JSONCanonical.sort(&members, from: first) { Self.precedes($0, $1, in: bytes) }
    for position in first..<members.count {
      if position > first { buffer.append(UInt8(ascii: ",")) }
      let place = members[position].place
      buffer.append(contentsOf: unsorted[place.lowerBound - start..<place.upperBound - start])
    }
  }

  /// The digits of an integer are canonical, except for `-0`.
  private mutating func number(at start: Int) -> Int {
    let end = bytes.endOfValue(at: start)
    let isWhole = bytes.slice(start, end).allSatisfy {
      $0 != UInt8(ascii: ".") && $0 | 0x20 != UInt8(ascii: "e")
    }
    if isWhole, !JSONCanonical.isMinusZero(start, end, in: bytes) { return end }
    guard let canonical = JSONCanonical.respelled(start, end, in: bytes) else { return end }
    endRun(at: start)
    buffer += canonical.utf8
    run = end
    isAsStored = false
    return end
  }

  @inline(__always)
  private static func precedes(_ left: Member, _ right: Member, in bytes: JSONBytes) -> Bool {
    switch JSONCanonical.order(left.prefix, right.prefix) {
    case .ascending: true
    case .descending: false
    case .unknown: JSONCanonical.precedes(left.name, right.name, in: bytes)
    }
  }
}

extension JSONValue {
  /// The canonical text, see `docs/file-format.md`, Digests. Equal values have the same text, except for integers
  /// beyond 64 bits: they keep their digits, but are equal if they have the same nearest double.
  public var canonicalText: String {
    var buffer: [UInt8] = []
    utf8Text.withUnsafeBytes { JSONCanonical.write(JSONBytes($0), at: 0, to: &buffer) }
    return String(decoding: buffer, as: UTF8.self)
  }
}

extension JSONObject {
  /// The canonical text. See ``JSONValue/canonicalText``.
  public var canonicalText: String { JSONValue.object(self).canonicalText }
}
