import CDTGzip

/// The value of a header field with parameters, such as `multipart/related; boundary="abc"`.
package struct HeaderValue: Sendable, Hashable {
  package struct Parameter: Sendable, Hashable {
    /// In lower case.
    package let name: String
    package let value: String
  }

  /// What stands before the parameters, in lower case.
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
