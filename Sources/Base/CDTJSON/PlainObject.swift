import CDTPlatform

/// A quick check of an object that is written plainly, for readers that need few of many objects in stored form.
///
/// A plain object is valid JSON whose strings are in stored form, without exponents, names that begin with `$`, and reserved members
/// other than an `_id` without escapes. Its names differ, it has few of them, and it is not deep. All other text, valid or not, is left to
/// ``JSONNormalizer``.
struct PlainObject {
  /// The offset after the object.
  let end: Int
  /// The bytes of its `_id`.
  let id: Range<Int>?

  private static let maximumNames = 128
  private static let maximumNamesOfObject = 64

  /// - Returns: `nil` if there is no plain object at the offset.
  init?(_ bytes: JSONBytes, from start: Int) {
    var scan = (end: Self.failed, id: Range<Int>?.none)
    withUnsafeTemporaryAllocation(of: UInt64.self, capacity: Self.maximumNames) { names in
      var reader = Reader(bytes: bytes, names: names)
      scan.end = bytes[start] == UInt8(ascii: "{") ? reader.object(at: start, depth: 0) : Self.failed
      scan.id = reader.id
    }
    guard scan.end > start else { return nil }
    (end, id) = scan
  }

  private static let failed = -1

  /// Its functions return the offset after what they read, or ``failed``.
  private struct Reader {
    let bytes: JSONBytes
    /// Numbers made of the names in the open objects. Names with the same number may be equal.
    let names: UnsafeMutableBufferPointer<UInt64>
    var used = 0
    var id: Range<Int>?

    private static let deepest = 32
    private static let longestNumber = 300

    mutating func object(at start: Int, depth: Int) -> Int {
      guard depth < Self.deepest else { return failed }
      let first = used
      defer { used = first }
      var offset = bytes.skipSpace(start + 1)
      if bytes[offset] == UInt8(ascii: "}") { return offset + 1 }
      while true {
        let nameStart = offset + 1
        guard bytes[offset] == UInt8(ascii: "\"") else { return failed }
        offset = string(at: offset)
        guard offset > 0, bytes[nameStart] != UInt8(ascii: "$"), isNew(nameStart, offset - 1, since: first)
        else { return failed }
        let nameEnd = offset - 1
        offset = bytes.skipSpace(offset)
        guard bytes[offset] == UInt8(ascii: ":") else { return failed }
        let valueStart = bytes.skipSpace(offset + 1)
        offset = value(at: valueStart, depth: depth + 1)
        guard offset > 0 else { return failed }
        if depth == 0, bytes[nameStart] == UInt8(ascii: "_") {
          guard bytes.hasBytes(of: "_id", from: nameStart, to: nameEnd),
            bytes[valueStart] == UInt8(ascii: "\"")
          else { return failed }
          let spelling = bytes.slice(valueStart + 1, offset - 1)
          guard !spelling.contains(UInt8(ascii: "\\")) else { return failed }
          id = valueStart + 1..<offset - 1
        }
        offset = bytes.skipSpace(offset)
        if bytes[offset] == UInt8(ascii: "}") { return offset + 1 }
        guard bytes[offset] == UInt8(ascii: ",") else { return failed }
        offset = bytes.skipSpace(offset + 1)
      }
    }

    private mutating func array(at start: Int, depth: Int) -> Int {
      guard depth < Self.deepest else { return failed }
      var offset = bytes.skipSpace(start + 1)
      if bytes[offset] == UInt8(ascii: "]") { return offset + 1 }
      while true {
        offset = value(at: offset, depth: depth + 1)
        guard offset > 0 else { return failed }
        offset = bytes.skipSpace(offset)
        if bytes[offset] == UInt8(ascii: "]") { return offset + 1 }
        guard bytes[offset] == UInt8(ascii: ",") else { return failed }
        offset = bytes.skipSpace(offset + 1)
      }
    }

    private mutating func value(at start: Int, depth: Int) -> Int {
      switch bytes.kind(at: start) {
      case .string: string(at: start)
      case .number: number(at: start)
      case .object: object(at: start, depth: depth)
      case .array: array(at: start, depth: depth)
      case .null: bytes.hasBytes(of: "null", from: start, to: start + 4) ? start + 4 : failed
      case .true: bytes.hasBytes(of: "true", from: start, to: start + 4) ? start + 4 : failed
      case .false: bytes.hasBytes(of: "false", from: start, to: start + 5) ? start + 5 : failed
      case .invalid: failed
      }
    }

    private func string(at start: Int) -> Int {
      var offset = bytes.nextSpecial(from: start + 1)
      while true {
        switch bytes[offset] {
        case UInt8(ascii: "\""): return offset + 1
        case 0x80...:
          guard let length = bytes.lengthOfCharacter(at: offset) else { return failed }
          offset += length
        case UInt8(ascii: "\\"):
          // The only short escapes of the stored form.
          switch bytes[offset + 1] {
          case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "n"), UInt8(ascii: "r"): offset += 2
          default: return failed
          }
        default: return failed
        }
        offset = bytes.nextSpecial(from: offset)
      }
    }

    private func number(at start: Int) -> Int {
      var offset = start
      if bytes[offset] == UInt8(ascii: "-") { offset += 1 }
      let first = offset
      while bytes[offset].isDigit { offset += 1 }
      guard offset > first, bytes[first] != UInt8(ascii: "0") || offset == first + 1 else { return failed }
      if bytes[offset] == UInt8(ascii: ".") {
        let point = offset
        offset += 1
        while bytes[offset].isDigit { offset += 1 }
        guard offset > point + 1 else { return failed }
      }
      let hasExponent = bytes[offset] | 0x20 == UInt8(ascii: "e")
      return hasExponent || offset - start > Self.longestNumber ? failed : offset
    }

    /// Whether a name differs from those of its object, which is added to them.
    private mutating func isNew(_ start: Int, _ end: Int, since first: Int) -> Bool {
      guard used < names.count, used - first < maximumNamesOfObject else { return false }
      let number = bytes.prefix(start, end) &+ UInt64(end - start) &* 0x9E37_79B9_7F4A_7C15
      for position in first..<used where names[position] == number { return false }
      names.initializeElement(at: used, to: number)
      used += 1
      return true
    }
  }
}
