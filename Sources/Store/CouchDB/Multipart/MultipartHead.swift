import CDTGzip
import CDTPlatform

/// The header of a part of a multipart body.
package struct MultipartHead: Sendable, Hashable {
  package struct Field: Sendable, Hashable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The fields in their written order.
  package var fields: [Field]

  package init(_ fields: [Field] = []) {
    self.fields = fields
  }

  /// The value of the first field with a name, in upper or lower case.
  package subscript(_ name: String) -> String? {
    let name = name.lowercased()
    return fields.first { $0.name.lowercased() == name }?.value
  }

  /// The media type in lower case, without its parameters; `nil` if there is none.
  package var mediaType: String? { self["Content-Type"].flatMap(HeaderValue.init)?.value }

  /// The `filename` of the `Content-Disposition`. CouchDB escapes nothing in it, so a name with quotation marks or
  /// backslashes may be wrong or missing.
  package var fileName: String? {
    self["Content-Disposition"].flatMap(HeaderValue.init)?["filename"]
  }
}

extension MultipartHead {
  /// The head of the part with the document.
  package static let document = MultipartHead([Field("Content-Type", "application/json")])

  /// The head of the part with an attachment, with the fields that CouchDB writes.
  ///
  /// - Parameters:
  ///   - name: The attachment's name. Control characters are written as `_`.
  ///   - length: The number of bytes of the part, compressed or not.
  package static func attachment(
    named name: String, contentType: String, length: Int64, encoding: ContentEncoding = .identity
  ) -> MultipartHead {
    var head = MultipartHead([
      Field("Content-Disposition", "attachment; filename=\(HeaderValue.quoted(name))"),
      Field("Content-Type", contentType),
      Field("Content-Length", String(length)),
    ])
    if encoding == .gzip { head.fields.append(Field("Content-Encoding", "gzip")) }
    return head
  }
}

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

/// The value of a header field with parameters, such as `multipart/related; boundary="abc"`.
package struct HeaderValue: Sendable, Hashable {
  package struct Parameter: Sendable, Hashable {
    /// In lower case.
    package let name: String
    package let value: String
  }

  /// The text before the parameters, in lower case.
  package let value: String
  /// The parameters in their written order.
  package private(set) var parameters: [Parameter] = []

  /// The value of the first parameter with a name, which is given in lower case.
  package subscript(_ name: String) -> String? {
    parameters.first { $0.name == name }?.value
  }

  /// Parses a value; `nil` if a parameter has no name or no `=`, or a quoted string does not end.
  package init?(_ text: String) {
    var rest = Substring(text).utf8
    value = Self.trimmed(Self.pop(&rest) { $0 != UInt8(ascii: ";") }).lowercased()
    while rest.popFirst() != nil {  // the semicolon
      guard !Self.trimmed(rest.prefix { $0 != UInt8(ascii: ";") }).isEmpty else {
        rest = rest.drop { $0 != UInt8(ascii: ";") }
        continue
      }
      let name = Self.trimmed(Self.pop(&rest) { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ";") })
      guard !name.isEmpty, rest.popFirst() == UInt8(ascii: "="), let value = Self.parameterValue(&rest) else {
        return nil
      }
      parameters.append(Parameter(name: name.lowercased(), value: value))
    }
  }

  /// Text as a quoted string. Control characters, which such a string can't have, become `_`.
  package static func quoted(_ text: String) -> String {
    var quoted: [UInt8] = [UInt8(ascii: "\"")]
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): quoted += [UInt8(ascii: "\\"), byte]
      case 0..<0x20, 0x7F: quoted.append(UInt8(ascii: "_"))
      default: quoted.append(byte)
      }
    }
    quoted.append(UInt8(ascii: "\""))
    return String(decoding: quoted, as: UTF8.self)
  }

  /// Reads up to the next semicolon.
  private static func parameterValue(_ rest: inout Substring.UTF8View) -> String? {
    _ = pop(&rest, while: isSpace)
    guard rest.first == UInt8(ascii: "\"") else {
      let value = trimmed(pop(&rest) { $0 != UInt8(ascii: ";") })
      return value.utf8.contains { isSpace($0) || $0 == UInt8(ascii: "\"") } ? nil : value
    }
    rest.removeFirst()
    var value: [UInt8] = []
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""):
        let isAll = trimmed(pop(&rest) { $0 != UInt8(ascii: ";") }).isEmpty
        return isAll ? String(decoding: value, as: UTF8.self) : nil
      case UInt8(ascii: "\\"):
        guard let escaped = rest.popFirst() else { return nil }
        value.append(escaped)
      default: value.append(byte)
      }
    }
    return nil
  }

  /// Removes the bytes at the start that satisfy a condition, and returns them.
  private static func pop(
    _ rest: inout Substring.UTF8View, while condition: (UInt8) -> Bool
  ) -> Substring.UTF8View {
    let taken = rest.prefix(while: condition)
    rest = rest[taken.endIndex...]
    return taken
  }

  private static func trimmed(_ bytes: Substring.UTF8View) -> String {
    var bytes = bytes.drop(while: isSpace)
    while let last = bytes.last, isSpace(last) { bytes.removeLast() }
    return String(Substring(bytes))
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }
}
