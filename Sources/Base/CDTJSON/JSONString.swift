import CDTPlatform

/// The stored form of strings: `"`, `\` and control characters are escaped, `\n` and `\r` in the short form and other
/// control characters as `\u00xx`; everything else is literal. So every string has exactly one form in stored text.
package enum JSONString {
  /// The escaped form of UTF-8, without quotation marks.
  package static func spelling(of utf8: [UInt8]) -> [UInt8] {
    var spelled: [UInt8] = []
    utf8.withUnsafeBytes { appendSpelling(of: $0, to: &spelled) }
    return spelled
  }

  /// The escaped form of a string, with quotation marks.
  package static func quoted(_ string: String) -> [UInt8] {
    var quoted: [UInt8] = []
    write(string, to: &quoted)
    return quoted
  }

  /// The escaped form of UTF-8, with quotation marks.
  package static func quoted(_ utf8: UnsafeRawBufferPointer) -> [UInt8] {
    var quoted: [UInt8] = []
    write(utf8, to: &quoted)
    return quoted
  }

  package static func write(_ string: String, to buffer: inout [UInt8]) {
    var string = string
    string.withUTF8 { write(UnsafeRawBufferPointer($0), to: &buffer) }
  }

  package static func write(_ utf8: UnsafeRawBufferPointer, to buffer: inout [UInt8]) {
    buffer.append(UInt8(ascii: "\""))
    appendSpelling(of: utf8, to: &buffer)
    buffer.append(UInt8(ascii: "\""))
  }

  /// Whether UTF-8 has nothing to escape.
  package static func isItsSpelling(_ utf8: UnsafeRawBufferPointer) -> Bool {
    let last = utf8.count - 8
    guard last >= 0 else {
      for byte in utf8 where byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
        return false
      }
      return true
    }
    // Eight bytes at a time; the last eight may overlap the previous ones.
    var found = escaped(in: utf8.loadUnaligned(fromByteOffset: last, as: UInt64.self))
    var offset = 0
    while offset < last {
      found |= escaped(in: utf8.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      offset += 8
    }
    return found & 0x8080_8080_8080_8080 == 0
  }

  /// The high bits of the bytes to escape, reliable up to the first such byte.
  @inline(__always)
  private static func escaped(in word: UInt64) -> UInt64 {
    let control = word &- 0x2020_2020_2020_2020
    let quote = (word ^ 0x2222_2222_2222_2222) &- 0x0101_0101_0101_0101
    let backslash = (word ^ 0x5C5C_5C5C_5C5C_5C5C) &- 0x0101_0101_0101_0101
    // Non-ASCII bytes, whose high bit is set, are never escaped.
    return (control | quote | backslash) & ~word
  }

  /// Appends the escaped form of UTF-8, without quotation marks.
  package static func appendSpelling(of utf8: UnsafeRawBufferPointer, to buffer: inout [UInt8]) {
    let bytes = JSONBytes(utf8)
    var start = 0
    var offset = 0
    while true {
      offset = bytes.nextSpecial(from: offset)
      guard offset < bytes.count else { break }
      let byte = bytes[offset]
      offset += 1
      if byte >= 0x80 { continue }
      buffer.append(contentsOf: bytes.slice(start, offset - 1))
      start = offset
      escape(byte, to: &buffer)
    }
    buffer.append(contentsOf: bytes.slice(start, bytes.count))
  }

  private static func escape(_ byte: UInt8, to buffer: inout [UInt8]) {
    buffer.append(UInt8(ascii: "\\"))
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): buffer.append(byte)
    case UInt8(ascii: "\n"): buffer.append(UInt8(ascii: "n"))
    case UInt8(ascii: "\r"): buffer.append(UInt8(ascii: "r"))
    default:
      buffer.append(contentsOf: "u00".utf8 + [Hexadecimal.digit(byte >> 4), Hexadecimal.digit(byte & 15)])
    }
  }

  /// The UTF-8 of a string with any of JSON's escapes. The text has been validated; damaged parts are omitted.
  package static func unescaped(_ spelling: UnsafeRawBufferPointer) -> [UInt8] {
    let bytes = JSONBytes(spelling)
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var offset = 0
    while offset < bytes.count {
      let start = offset
      while offset < bytes.count, bytes[offset] != UInt8(ascii: "\\") { offset += 1 }
      result.append(contentsOf: bytes.slice(start, offset))
      guard offset < bytes.count else { break }
      offset = appendEscape(at: offset, of: bytes, to: &result)
    }
    return result
  }

  private static func appendEscape(at offset: Int, of bytes: JSONBytes, to result: inout [UInt8]) -> Int {
    guard bytes[offset + 1] == UInt8(ascii: "u") else {
      if let byte = shortEscape(bytes[offset + 1]) { result.append(byte) }
      return offset + 2
    }
    guard let high = codeUnit(at: offset + 2, of: bytes) else { return offset + 2 }
    var scalar = UInt32(high)
    var end = offset + 6
    if high & 0xFC00 == 0xD800, bytes[end] == UInt8(ascii: "\\"), let low = codeUnit(at: end + 2, of: bytes) {
      scalar = 0x10000 + (UInt32(high & 0x3FF) << 10 | UInt32(low & 0x3FF))
      end += 6
    }
    if let scalar = Unicode.Scalar(scalar) { result.append(contentsOf: UTF8.encode(scalar) ?? .init()) }
    return end
  }

  /// The character of a short escape, or `nil` if there is no such escape.
  static func shortEscape(_ letter: UInt8) -> UInt8? {
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): letter
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "f"): 0x0C
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "r"): 0x0D
    case UInt8(ascii: "t"): 0x09
    default: nil
    }
  }

  /// The four hexadecimal digits at an offset.
  static func codeUnit(at offset: Int, of bytes: JSONBytes) -> UInt16? {
    var unit: UInt16 = 0
    for position in offset..<offset + 4 {
      guard let digit = Hexadecimal.value(of: bytes[position]) else { return nil }
      unit = unit << 4 | UInt16(digit)
    }
    return unit
  }
}
