import CDTDatastore
import CDTJSON
import CDTPlatform

/// A cell of a table.
///
/// An unquoted cell that is a JSON number, `true` or `false` becomes that value. An exponent makes a number only with a
/// sign or a decimal point: `1e-05` and `1.5e7` are numbers, `557e90` and `12e4` are codes. An empty cell is a missing
/// field. Everything else, and every quoted cell, is a string.
struct CSVCell {
  var text: [UInt8] = []
  var isQuoted = false

  /// Writes the value.
  ///
  /// - Parameter isText: Whether it is a string in any case.
  /// - Returns: `false` if there is none.
  func write(isText: Bool, to output: inout [UInt8]) -> Bool {
    guard !text.isEmpty || isQuoted else { return false }
    if !isQuoted, !isText, isNumber || isBoolean {
      output += text
    } else {
      text.withUnsafeBytes { JSONString.write($0, to: &output) }
    }
    return true
  }

  private var isBoolean: Bool { text.elementsEqual("true".utf8) || text.elementsEqual("false".utf8) }

  private var isNumber: Bool {
    guard let first = text.first, first == UInt8(ascii: "-") || first.isDigit else {
      return false
    }
    if let exponent = text.firstIndex(where: { $0 | 0x20 == UInt8(ascii: "e") }) {
      let isSigned = text[exponent...].contains { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") }
      guard isSigned || text.contains(UInt8(ascii: ".")) else { return false }
    }
    return (try? JSONValue(parsing: text)) != nil
  }
}
