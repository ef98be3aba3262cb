import CDTPlatform

extension MultipartHead {
  /// The maximum size of a head, with the empty line that ends it.
  package static let maximumSize = 16 * 1024

  /// The fields as lines, then an empty line. A control character in a value is written as a space, so that a value
  /// can't add fields.
  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    for field in fields {
      bytes += field.name.utf8
      bytes += ": ".utf8
      bytes += field.value.utf8.lazy.map { Self.isControl($0) ? UInt8(ascii: " ") : $0 }
      bytes += Self.newline
    }
    return bytes + Self.newline
  }

  /// Parses lines that end with CRLF, of which the last is empty. A line that begins with a space continues the one
  /// before.
  ///
  /// - Throws: ``CouchError`` with status 400 if the lines are not fields in UTF-8.
  package init(parsing bytes: [UInt8]) throws(CouchError) {
    self.init()
    var line: [UInt8] = []
    var rest = bytes[...]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      let next = rest[..<end].dropLast()  // the CR
      let isContinued = next.first.map(Self.isSpace) ?? false
      guard rest[..<end].last == UInt8(ascii: "\r"), !isContinued || !line.isEmpty else {
        throw .malformedPartHead
      }
      if !isContinued {
        if !line.isEmpty { fields.append(try Field(parsing: line)) }
        line = []
      }
      line += next
      rest = rest[(end + 1)...]
    }
    guard line.isEmpty, rest.isEmpty else { throw .malformedPartHead }
  }

  private static let newline: [UInt8] = [0x0D, 0x0A]

  fileprivate static func isSpace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }

  fileprivate static func isControl(_ byte: UInt8) -> Bool {
    (byte < 0x20 && byte != UInt8(ascii: "\t")) || byte == 0x7F
  }
}

extension MultipartHead.Field {
  fileprivate init(parsing line: [UInt8]) throws(CouchError) {
    let name = line.prefix { $0 != UInt8(ascii: ":") }
    var value = line.dropFirst(name.count + 1).drop(while: MultipartHead.isSpace)
    while let last = value.last, MultipartHead.isSpace(last) { value.removeLast() }
    guard !name.isEmpty, name.count < line.count, name.allSatisfy(Self.isAllowedInName),
      !value.contains(where: MultipartHead.isControl), let text = String(validating: value, as: UTF8.self)
    else { throw .malformedPartHead }
    self.init(String(decoding: name, as: UTF8.self), text)
  }

  /// Whether a byte is a character of RFC 9110's tokens.
  private static func isAllowedInName(_ byte: UInt8) -> Bool {
    byte.isLetter || byte.isDigit || "!#$%&'*+-.^_`|~".utf8.contains(byte)
  }
}
