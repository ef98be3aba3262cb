import CDTPlatform

/// Splits untrusted text into tokens by the grammar of RFC 8259, and throws at the first error.
struct JSONScanner {
  private(set) var bytes: JSONBytes
  private(set) var position: Int
  private var depth = 0
  /// The skipped white space, if recorded; the user of this list empties it.
  var gaps: [Range<Int>]?
  private(set) var options: JSONParsingOptions

  init(_ bytes: JSONBytes, from start: Int, options: JSONParsingOptions = .init()) {
    self.bytes = bytes
    position = start
    self.options = options
  }

  /// Restarts with other bytes.
  mutating func begin(_ bytes: JSONBytes, from start: Int, options: JSONParsingOptions) {
    self.bytes = bytes
    position = start
    depth = 0
    self.options = options
  }

  /// The type of the value at the position. Only in what was stored does an object begin with a comma.
  var kind: JSONKind { bytes[position] == UInt8(ascii: ",") ? .invalid : bytes.kind(at: position) }

  func fault(_ fault: JSONError.Fault, at offset: Int? = nil) -> JSONError {
    let offset = min(offset ?? position, bytes.count)
    return JSONError(reason(fault, at: offset), at: offset, in: bytes)
  }

  /// The error where a token is expected; it may instead be the end of the text or invalid UTF-8.
  private func reason(_ fault: JSONError.Fault, at offset: Int) -> JSONError.Fault {
    switch fault {
    case .expectedValue, .expectedKey, .expectedColon, .expectedCommaOrEnd, .invalidEscape, .invalidNumber,
      .trailingText:
      if offset == bytes.count { return .unexpectedEnd }
      if bytes[offset] == UInt8(ascii: "/"),
        [UInt8(ascii: "/"), UInt8(ascii: "*")].contains(bytes[offset + 1])
      {
        return .comment(fault.code)
      }
      if fault == .expectedKey, bytes[offset] == UInt8(ascii: "'") || bytes[offset].isLetter {
        return .unquotedKey
      }
      return bytes[offset] >= 0x80 && bytes.lengthOfCharacter(at: offset) == nil ? .invalidUTF8 : fault
    default: return fault
    }
  }

  @inline(__always)
  mutating func skipSpace() {
    let start = position
    position = bytes.skipSpace(start)
    if position != start { gaps?.append(start..<position) }
  }

  /// Throws unless only white space follows the value.
  mutating func finish() throws(JSONError) {
    skipSpace()
    guard position == bytes.count else { throw fault(.trailingText) }
  }

  func checkByteOrderMark() throws(JSONError) {
    guard bytes[position] == 0xEF, bytes[position + 1] == 0xBB, bytes[position + 2] == 0xBF else { return }
    throw fault(.byteOrderMark)
  }

  // MARK: Arrays and objects

  mutating func enter() throws(JSONError) {
    depth += 1
    guard depth <= options.maximumDepth else { throw fault(.tooDeep(options.maximumDepth)) }
    position += 1
    skipSpace()
  }

  /// Consumes the closing bracket of an empty array or object.
  mutating func leaveIfEmpty(_ end: UInt8) -> Bool {
    guard bytes[position] == end else { return false }
    position += 1
    depth -= 1
    return true
  }

  /// Consumes a comma, or the closing bracket, which ends the array or object.
  mutating func nextItem(before end: UInt8) throws(JSONError) -> Bool {
    skipSpace()
    switch bytes[position] {
    case UInt8(ascii: ","):
      position += 1
      skipSpace()
      return true
    case end:
      position += 1
      depth -= 1
      return false
    default: throw fault(.expectedCommaOrEnd(end))
    }
  }

  /// Consumes a member's name and its colon.
  mutating func key() throws(JSONError) -> StringToken {
    guard bytes[position] == UInt8(ascii: "\"") else { throw fault(.expectedKey) }
    let key = try string()
    skipSpace()
    guard bytes[position] == UInt8(ascii: ":") else { throw fault(.expectedColon) }
    position += 1
    skipSpace()
    return key
  }

  // MARK: Literals

  mutating func literal(_ text: StaticString) throws(JSONError) {
    let start = position
    let matches = text.withUTF8Buffer { wanted in
      wanted.indices.allSatisfy { bytes[start + $0] == wanted[$0] }
    }
    guard matches else { throw fault(.expectedValue) }
    position += text.utf8CodeUnitCount
  }

  // MARK: Numbers

  /// A number as written.
  struct NumberToken {
    let start: Int
    let end: Int
    let isWhole: Bool
  }

  mutating func number() throws(JSONError) -> NumberToken {
    let start = position
    if bytes[position] == UInt8(ascii: "-") { position += 1 }
    if bytes[position] == UInt8(ascii: "0") {
      position += 1
      if bytes[position].isDigit { throw fault(.invalidNumber) }
    } else {
      try digits()
    }
    var isWhole = true
    var hasExponent = false
    if bytes[position] == UInt8(ascii: ".") {
      isWhole = false
      position += 1
      try digits()
    }
    if bytes[position] | 0x20 == UInt8(ascii: "e") {
      isWhole = false
      hasExponent = true
      position += 1
      if bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-") { position += 1 }
      try digits()
    }
    // Without an exponent, only a number of more than 308 digits exceeds the range of a double.
    if hasExponent || position - start > 300 {
      let value = Double(String(decoding: bytes.slice(start, position), as: UTF8.self))
      guard let value, value.isFinite else { throw fault(.numberOutOfRange, at: start) }
    }
    return NumberToken(start: start, end: position, isWhole: isWhole)
  }

  private mutating func digits() throws(JSONError) {
    guard bytes[position].isDigit else { throw fault(.invalidNumber) }
    while bytes[position].isDigit { position += 1 }
  }

  // MARK: Strings

  /// A string with its escapes, without quotation marks.
  struct StringToken {
    let start: Int
    let end: Int
    let hasEscapes: Bool
  }

  @inline(__always)
  mutating func string() throws(JSONError) -> StringToken {
    let start = position + 1
    position = bytes.nextSpecial(from: start)
    guard bytes[position] == UInt8(ascii: "\"") else { return try string(from: start) }
    position += 1
    return StringToken(start: start, end: position - 1, hasEscapes: false)
  }

  /// A string that is not plain ASCII, from the first other byte on.
  private mutating func string(from start: Int) throws(JSONError) -> StringToken {
    var hasEscapes = false
    while true {
      guard position < bytes.count else { throw fault(.unexpectedEnd) }
      let byte = bytes[position]
      switch byte {
      case UInt8(ascii: "\""):
        position += 1
        return StringToken(start: start, end: position - 1, hasEscapes: hasEscapes)
      case UInt8(ascii: "\\"):
        hasEscapes = true
        try escape()
      case 0x80...: try multibyte()
      default: throw fault(.controlCharacter(byte))
      }
      position = bytes.nextSpecial(from: position)
    }
  }

  private mutating func escape() throws(JSONError) {
    guard bytes[position + 1] == UInt8(ascii: "u") else {
      guard JSONString.shortEscape(bytes[position + 1]) != nil else { throw fault(.invalidEscape) }
      position += 2
      return
    }
    guard let unit = JSONString.codeUnit(at: position + 2, of: bytes) else { throw fault(.invalidEscape) }
    switch unit & 0xFC00 {
    case 0xD800:
      guard bytes[position + 6] == UInt8(ascii: "\\"), bytes[position + 7] == UInt8(ascii: "u"),
        let low = JSONString.codeUnit(at: position + 8, of: bytes), low & 0xFC00 == 0xDC00
      else { throw fault(.loneSurrogate) }
      position += 12
    case 0xDC00: throw fault(.loneSurrogate)
    default: position += 6
    }
  }

  /// Consumes one non-ASCII character.
  private mutating func multibyte() throws(JSONError) {
    guard let length = bytes.lengthOfCharacter(at: position) else { throw fault(.invalidUTF8) }
    position += length
  }
}

extension JSONBytes {
  /// The length of a non-ASCII character, if its bytes are the shortest encoding of a scalar, as RFC 3629 requires.
  func lengthOfCharacter(at start: Int) -> Int? {
    let length: Int
    let seconds: ClosedRange<UInt8>
    switch self[start] {
    case 0xC2...0xDF: (length, seconds) = (2, 0x80...0xBF)
    case 0xE0: (length, seconds) = (3, 0xA0...0xBF)
    case 0xED: (length, seconds) = (3, 0x80...0x9F)
    case 0xE1...0xEF: (length, seconds) = (3, 0x80...0xBF)
    case 0xF0: (length, seconds) = (4, 0x90...0xBF)
    case 0xF1...0xF3: (length, seconds) = (4, 0x80...0xBF)
    case 0xF4: (length, seconds) = (4, 0x80...0x8F)
    default: return nil
    }
    guard seconds.contains(self[start + 1]) else { return nil }
    for offset in 2..<max(2, length) where self[start + offset] & 0xC0 != 0x80 { return nil }
    return length
  }
}
