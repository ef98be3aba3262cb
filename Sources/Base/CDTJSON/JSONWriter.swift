import CDTPlatform

// Writes values as text: compact, members in written order, strings with the stored escapes.

extension JSONValue {
  /// The value as compact JSON text, members in written order.
  ///
  /// A number that was parsed is written as it was spelled. A double that was assigned is written as the shortest text that
  /// parses to the same double, and always differs from an integer: `1.0`. Infinity and NaN, which JSON can't represent, are written as null; they can't be stored.
  public var text: String { String(decoding: utf8Text, as: UTF8.self) }

  /// The compact text in UTF-8.
  package var utf8Text: [UInt8] {
    var buffer: [UInt8] = []
    write(to: &buffer)
    return buffer
  }

  /// The text with one member or element per line, indented by two spaces per level.
  public var prettyText: String {
    var buffer: [UInt8] = []
    writePretty(to: &buffer, indent: 0)
    return String(decoding: buffer, as: UTF8.self)
  }

  /// Appends the compact text in UTF-8.
  public func write(to buffer: inout [UInt8]) {
    switch self {
    case .array(let elements):
      buffer.append(UInt8(ascii: "["))
      for (position, element) in elements.enumerated() {
        if position > 0 { buffer.append(UInt8(ascii: ",")) }
        element.write(to: &buffer)
      }
      buffer.append(UInt8(ascii: "]"))
    case .object(let object): object.write(to: &buffer)
    default: writeScalar(to: &buffer)
    }
  }

  private func writeScalar(to buffer: inout [UInt8]) {
    switch self {
    case .null, .array, .object: buffer += "null".utf8
    case .bool(let bool): buffer += (bool ? "true" : "false").utf8
    case .int(let int): buffer += int.description.utf8
    case .double(let double): buffer += JSONDouble.text(double).utf8
    case .spelled(let number): buffer += number.text.utf8
    case .string(let string): JSONString.write(string, to: &buffer)
    }
  }

  fileprivate func writePretty(to buffer: inout [UInt8], indent: Int) {
    func line(_ indent: Int) {
      buffer.append(UInt8(ascii: "\n"))
      buffer.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * indent))
    }
    switch self {
    case .array(let elements) where !elements.isEmpty:
      buffer.append(UInt8(ascii: "["))
      for (position, element) in elements.enumerated() {
        if position > 0 { buffer.append(UInt8(ascii: ",")) }
        line(indent + 1)
        element.writePretty(to: &buffer, indent: indent + 1)
      }
      line(indent)
      buffer.append(UInt8(ascii: "]"))
    case .object(let object) where !object.isEmpty:
      buffer.append(UInt8(ascii: "{"))
      for (position, member) in object.enumerated() {
        if position > 0 { buffer.append(UInt8(ascii: ",")) }
        line(indent + 1)
        JSONString.write(member.key, to: &buffer)
        buffer += ": ".utf8
        member.value.writePretty(to: &buffer, indent: indent + 1)
      }
      line(indent)
      buffer.append(UInt8(ascii: "}"))
    default: write(to: &buffer)
    }
  }
}

extension JSONObject {
  /// The object as compact JSON text, members in written order.
  public var text: String { JSONValue.object(self).text }

  /// The text with one member per line, indented by two spaces per level.
  public var prettyText: String { JSONValue.object(self).prettyText }

  /// The compact text in UTF-8.
  package var utf8Text: [UInt8] {
    var buffer: [UInt8] = []
    write(to: &buffer)
    return buffer
  }

  /// Appends the compact text in UTF-8.
  public func write(to buffer: inout [UInt8]) {
    buffer.append(UInt8(ascii: "{"))
    for (position, member) in members.enumerated() {
      if position > 0 { buffer.append(UInt8(ascii: ",")) }
      JSONString.write(member.key, to: &buffer)
      buffer.append(UInt8(ascii: ":"))
      member.value.write(to: &buffer)
    }
    buffer.append(UInt8(ascii: "}"))
  }
}

extension JSONValue: CustomStringConvertible {
  /// The compact text.
  public var description: String { text }
}

extension JSONObject: CustomStringConvertible {
  /// The compact text.
  public var description: String { text }
}

/// The text of doubles.
enum JSONDouble {
  /// The shortest text that parses to the same double; `-0` for negative zero, which has no integer form.
  static func text(_ double: Double) -> String {
    guard double.isFinite else { return "null" }
    if double == 0, double.sign == .minus { return "-0" }
    return double.description
  }

  /// Whether a double is written as the given text of a number.
  ///
  /// Most texts of doubles are recognized without writing the double.
  static func isWritten(_ double: Double, as text: UnsafeRawBufferPointer) -> Bool {
    JSONCanonical.isShortest(text) || isShortWhole(text) || self.text(double).utf8.elementsEqual(text)
  }

  /// Whether the text is that of an integer of at most 14 digits other than 0, and `.0`.
  private static func isShortWhole(_ text: UnsafeRawBufferPointer) -> Bool {
    guard text.count <= 16, text.suffix(2).elementsEqual(".0".utf8) else { return false }
    let digits = text.dropLast(2)
    return digits.first != UInt8(ascii: "0") && !digits.elementsEqual("-0".utf8)
      && digits.allSatisfy { $0.isDigit || $0 == UInt8(ascii: "-") }
  }

  /// The text in the canonical form: a double that equals a 64-bit integer is written with that integer's digits: 1.0 is `1`, 1e18 is
  /// `1000000000000000000`, and negative zero is `0`.
  static func canonicalText(_ double: Double) -> String {
    if let whole = Int64(exactly: double) { return String(whole) }
    return text(double)
  }
}
