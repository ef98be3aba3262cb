package import CDTJSON
import CDTPlatform

/// Lines of comma-separated values, or of values with another separator, written so that import reads the same values.
package struct CSVText {
  private let separator: String

  package init(separator: Unicode.Scalar) {
    self.separator = String(Character(separator))
  }

  /// Writes a header, and a line for each row.
  package func write(
    _ columns: ResultColumns, _ forEachRow: (_ row: (JSONObject) throws -> Void) throws -> Void,
    to write: @escaping (_ line: String) throws -> Void
  ) throws {
    try write(line(columns.paths))
    try forEachRow { try write(line(columns.values(of: $0))) }
  }

  /// The header. A name without characters is quoted, so that import reads it as one.
  private func line(_ names: [String]) -> String {
    names.map { $0.isEmpty ? "\"\"" : quoted($0) }.joined(separator: separator)
  }

  private func line(_ values: [JSONValue?]) -> String { values.map(cell).joined(separator: separator) }

  /// A string that looks like a number, a boolean, null or an empty cell is quoted, so that import reads it as a string.
  private func cell(_ value: JSONValue?) -> String {
    switch value {
    case nil: ""
    case .string(let text)?: Self.isAmbiguous(text) ? "\"\(text)\"" : quoted(text)
    case .some(let value): quoted(Self.number(value.text))
    }
  }

  private func quoted(_ text: String) -> String {
    let separator = separator.utf8.first
    guard text.utf8.contains(where: { [0x22, 0x0A, 0x0D].contains($0) || $0 == separator }) else {
      return text
    }
    return "\"" + text.splitBytes(at: "\"").joined(separator: "\"\"") + "\""
  }

  /// A number whose exponent has a sign: import takes `12e4` for text, and `12e+4` for a number.
  private static func number(_ text: String) -> String {
    guard let first = text.utf8.first, first == UInt8(ascii: "-") || first.isDigit,
      let exponent = text.utf8.firstIndex(where: { $0 | 0x20 == UInt8(ascii: "e") })
    else { return text }
    let digits = text.utf8.index(after: exponent)
    guard digits < text.utf8.endIndex, text.utf8[digits].isDigit else { return text }
    return String(text[..<digits]) + "+" + String(text[digits...])
  }

  private static func isAmbiguous(_ text: String) -> Bool {
    guard let value = try? JSONValue(parsing: text) else { return text.isEmpty }
    switch value {
    case .string, .array, .object: return false
    default: return true
    }
  }
}
