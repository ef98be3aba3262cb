import CDTJSON
import CDTPlatform

/// Text that is almost JSON, for a suggestion: names and words without quotation marks, single quotes, a comma behind the last
/// member, and `name=value` for an object of one member.
enum RelaxedJSON {
  private static let longest = 4_096

  /// The JSON that a text was meant to be; `nil` if it is JSON already, or something else.
  static func corrected(_ text: String) -> String? {
    let text = text.withoutOuterSpaces
    guard text.utf8.count < longest, (try? JSONValue(parsing: text)) == nil else { return nil }
    var corrected = text.hasPrefix("{") ? quoted(Array(text.utf8)[...]) : comparison(text)
    if corrected == nil, let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")) {
      let word = String(text[..<equals]).withoutOuterSpaces
      guard !word.isEmpty, word.utf8.allSatisfy(isOfWord) else { return nil }
      let name = JSONString.quoted(word)
      let value = quoted(Array(text[equals...].utf8).dropFirst())
      corrected = value.map { Array("{".utf8) + name + Array(": ".utf8) + $0 + Array("}".utf8) }
    }
    guard let corrected, (try? JSONValue(parsing: corrected)) != nil else { return nil }
    return String(decoding: corrected, as: UTF8.self)
  }

  /// A negation may be meant with or without the documents that lack the field.
  private static let comparisons = [
    (">=", "$gte"), ("<=", "$lte"), ("==", "$eq"), (">", "$gt"), ("<", "$lt"),
  ]

  /// The selector of `age > 20`; `nil` if the text is not a comparison.
  private static func comparison(_ text: String) -> [UInt8]? {
    guard !text.contains("!="), !text.contains("<>") else { return nil }
    for (sign, name) in comparisons {
      guard let place = text.firstRange(of: sign) else { continue }
      let word = String(text[..<place.lowerBound]).withoutOuterSpaces
      let rest = String(text[place.upperBound...]).withoutOuterSpaces
      guard !word.isEmpty, word.utf8.allSatisfy(isOfWord), let value = quoted(Array(rest.utf8)[...]) else {
        return nil
      }
      return Array("{".utf8) + JSONString.quoted(word) + Array(": {\"\(name)\": ".utf8) + value
        + Array("}}".utf8)
    }
    return nil
  }

  /// The text with quotation marks around its words; `nil` if a string does not end.
  private static func quoted(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    var output: [UInt8] = []
    var rest = text
    while let byte = rest.first {
      var length = 1
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "'"):
        guard let end = endOfString(rest) else { return nil }
        length = end
        let inner = String(decoding: rest.prefix(end).dropFirst().dropLast(), as: UTF8.self)
        output +=
          byte == UInt8(ascii: "'")
          ? JSONString.quoted(inner.replacing("\\'", with: "'")) : Array(rest.prefix(end))
      case _ where isOfWord(byte):
        let word = Array(rest.prefix(while: isOfWord))
        length = word.count
        guard let spelled = spelled(String(decoding: word, as: UTF8.self)) else { return nil }
        output += spelled
      case UInt8(ascii: ","):
        let next = rest.dropFirst().first { $0 > 0x20 }
        if next != UInt8(ascii: "}"), next != UInt8(ascii: "]") { output.append(byte) }
      default: output.append(byte)
      }
      rest = rest.dropFirst(length)
    }
    return output
  }

  /// A word in JSON; `nil` if it may be meant as another value than a string.
  private static func spelled(_ word: String) -> [UInt8]? {
    // Numbers, true, false and null stay.
    if (try? JSONValue(parsing: word)) != nil { return Array(word.utf8) }
    switch word.lowercased() {
    case "true", "false", "null": return Array(word.lowercased().utf8)
    case "none", "undefined", "nan", "infinity": return nil
    default: break
    }
    // A number with zeros in front stays one.
    let parts = word.splitBytes(at: ".")
    if let digits = parts.first, !digits.isEmpty, parts.count <= 2,
      parts.allSatisfy({ $0.utf8.allSatisfy(\.isDigit) })
    {
      let whole = digits.drop { $0 == "0" }
      let number = ([whole.isEmpty ? "0" : String(whole)] + parts.dropFirst()).joined(separator: ".")
      return (try? JSONValue(parsing: number)) == nil ? nil : Array(number.utf8)
    }
    let hasQuotes = word.unicodeScalars.contains { (0x2018...0x201F).contains($0.value) }
    return hasQuotes || "./+-".contains(word.prefix(1)) ? nil : JSONString.quoted(word)
  }

  private static func endOfString(_ text: ArraySlice<UInt8>) -> Int? {
    var isEscaped = false
    for (offset, byte) in text.enumerated().dropFirst() {
      if byte == text.first, !isEscaped { return offset + 1 }
      isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
    }
    return nil
  }

  private static func isOfWord(_ byte: UInt8) -> Bool {
    byte.isLetter || byte.isDigit || byte >= 0x80 || "_$.-+@/".utf8.contains(byte)
  }
}
