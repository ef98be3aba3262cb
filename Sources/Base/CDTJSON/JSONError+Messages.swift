import CDTPlatform

// All messages about invalid JSON text.
extension JSONError {
  /// An error without its line and column.
  enum Fault: Hashable {
    case noValue, expectedValue, expectedKey, expectedColon, expectedCommaOrEnd(UInt8), unexpectedEnd,
      trailingText
    case invalidNumber, numberOutOfRange, controlCharacter(UInt8), invalidEscape, loneSurrogate, invalidUTF8
    case byteOrderMark, duplicateMember(String), tooDeep(Int), notAnObject, unquotedKey, comment(Code)

    var code: Code {
      switch self {
      case .expectedValue, .byteOrderMark: .expectedValue
      case .expectedKey, .expectedColon, .expectedCommaOrEnd, .unquotedKey: .expectedCharacter
      case .comment(let code): code
      case .noValue, .unexpectedEnd: .unexpectedEnd
      case .trailingText: .trailingText
      case .invalidNumber: .invalidNumber
      case .numberOutOfRange: .numberOutOfRange
      case .controlCharacter: .invalidString
      case .invalidEscape: .invalidEscape
      case .loneSurrogate: .loneSurrogate
      case .invalidUTF8: .invalidUTF8
      case .duplicateMember: .duplicateMember
      case .tooDeep: .tooDeep
      case .notAnObject: .notAnObject
      }
    }

    var message: String {
      switch self {
      case .noValue: "the text is empty; write a JSON value, such as null"
      case .expectedValue:
        "expected a value: an object, an array, a string in double quotes, a number, true, false or null"
      case .expectedKey: "expected a member name in double quotes; remove a comma after the last member"
      case .unquotedKey:
        "expected a member name in double quotes; put double quotes around each name, as in {\"name\": 1}"
      case .comment: "JSON has no comments; remove them"
      case .expectedColon: "expected a colon after the member name"
      case .expectedCommaOrEnd(let end): "expected a comma or \"\(Character(Unicode.Scalar(end)))\""
      case .unexpectedEnd: "the text ends inside a value; check that it is complete"
      case .trailingText: "unexpected text after the value; remove it"
      case .invalidNumber:
        "invalid number; write numbers as 0, -1.5 or 2e10, with no leading zero and digits on both sides of the point"
      case .numberOutOfRange: "the number is out of the range of a double; write it as a string"
      case .controlCharacter(let byte):
        "the control character \(Hexadecimal.text([byte])) is not allowed in a string; escape it as \\u00\(Hexadecimal.text([byte]))"
      case .invalidEscape:
        "invalid escape; after a backslash write one of \"\\/bfnrt, or u and four hexadecimal digits"
      case .loneSurrogate:
        "unpaired surrogate; escape the character as a surrogate pair, or write it unescaped"
      case .invalidUTF8: "invalid UTF-8; convert the text to UTF-8"
      case .byteOrderMark: "the text begins with a byte order mark; remove it"
      case .duplicateMember(let key): "the object has two members named \(Self.excerpt(key)); name each once"
      case .tooDeep(let bound): "arrays and objects are nested deeper than \(bound) levels; flatten them"
      case .notAnObject: "expected an object, in braces"
      }
    }

    /// A name with JSON escapes, truncated if it is long.
    private static func excerpt(_ name: String) -> String {
      let scalars = name.unicodeScalars
      let isLong = scalars.count > 60
      return JSONValue.string(isLong ? String(scalars.prefix(60)) : name).text + (isLong ? "…" : "")
    }
  }

  /// Computes the line and column of the error.
  init(_ fault: Fault, at offset: Int, in bytes: JSONBytes) {
    var line = 1
    var column = 1
    for byte in bytes.slice(0, offset) {
      if byte == UInt8(ascii: "\n") {
        line += 1
        column = 1
      } else if byte & 0xC0 != 0x80 {
        column += 1
      }
    }
    self.init(code: fault.code, offset: offset, line: line, column: column, message: fault.message)
  }
}
