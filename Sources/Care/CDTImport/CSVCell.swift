import CDTDatastore
import CDTJSON
import CDTPlatform

/// A cell of a table.
///
/// An unquoted cell that is a JSON number, `true`, `false` or `null` becomes that value. An exponent makes a number only with a
/// sign or a decimal point: `1e-05` and `1.5e7` are numbers, `557e90` and `12e4` are codes. An empty cell is a missing
/// field. Everything else, and every quoted cell, is a string. Options read quoted numbers and decimal commas as numbers.
struct CSVCell {
  var text: [UInt8] = []
  var isQuoted = false

  /// The value of a cell.
  enum Content {
    case nothing, number, word, text
  }

  /// Writes the value; nothing if the cell is empty and not quoted.
  ///
  /// - Parameters:
  ///   - isText: Whether it is a string in any case.
  ///   - options: The forms of numbers besides those of JSON.
  func write(isText: Bool, _ options: DocumentImporter.TableOptions, to output: inout [UInt8]) -> Content {
    guard !text.isEmpty || isQuoted else { return .nothing }
    if !isText, !isQuoted, isWord {
      output += text
      return .word
    } else if !isText, !isQuoted || options.readsQuotedNumbers,
      let number = number(hasDecimalComma: options.hasDecimalComma)
    {
      output += number
      return .number
    }
    text.withUnsafeBytes { JSONString.write($0, to: &output) }
    return .text
  }

  private var isWord: Bool { ["true", "false", "null"].contains { text.elementsEqual($0.utf8) } }

  /// The number that the text represents; `nil` if it is not a number.
  private func number(hasDecimalComma: Bool) -> [UInt8]? {
    guard hasDecimalComma else { return Self.isNumber(text) ? text : nil }
    let number = text.map { $0 == UInt8(ascii: ",") ? UInt8(ascii: ".") : $0 }
    return !text.contains(UInt8(ascii: ".")) && Self.isNumber(number) ? number : nil
  }

  private static func isNumber(_ text: [UInt8]) -> Bool {
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
