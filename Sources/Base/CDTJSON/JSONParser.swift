/// Parses untrusted text into trees.
struct JSONParser {
  private var scanner: JSONScanner

  init(_ bytes: JSONBytes, options: JSONParsingOptions) {
    scanner = JSONScanner(bytes, from: 0, options: options)
  }

  /// Parses text that consists of one value.
  mutating func parse() throws(JSONError) -> JSONValue {
    try scanner.checkByteOrderMark()
    scanner.skipSpace()
    guard scanner.position < scanner.bytes.count else { throw scanner.fault(.noValue) }
    let value = try value()
    try scanner.finish()
    return value
  }

  /// Parses text that consists of one object.
  mutating func parseObject() throws(JSONError) -> JSONObject {
    let value = try parse()
    guard case .object(let object) = value else {
      throw scanner.fault(.notAnObject, at: scanner.bytes.skipSpace(0))
    }
    return object
  }

  /// Parses text that consists of one object, in which names may be repeated.
  mutating func parseMembers() throws(JSONError) -> [JSONObject.Member] {
    try scanner.checkByteOrderMark()
    scanner.skipSpace()
    guard scanner.kind == .object else { throw scanner.fault(.notAnObject) }
    var members: [JSONObject.Member] = []
    try scanner.enter()
    if !scanner.leaveIfEmpty(UInt8(ascii: "}")) {
      repeat {
        let key = text(of: try scanner.key())
        members.append((key, try value()))
      } while try scanner.nextItem(before: UInt8(ascii: "}"))
    }
    try scanner.finish()
    return members
  }

  private mutating func value() throws(JSONError) -> JSONValue {
    switch scanner.kind {
    case .null:
      try scanner.literal("null")
      return .null
    case .true:
      try scanner.literal("true")
      return .bool(true)
    case .false:
      try scanner.literal("false")
      return .bool(false)
    case .number:
      let token = try scanner.number()
      return scanner.bytes.value(at: token.start)
    case .string: return .string(text(of: try scanner.string()))
    case .array: return .array(try array())
    case .object: return .object(try object())
    case .invalid: throw scanner.fault(.expectedValue)
    }
  }

  private func text(of token: JSONScanner.StringToken) -> String {
    let spelling = scanner.bytes.slice(token.start, token.end)
    guard token.hasEscapes else { return String(decoding: spelling, as: UTF8.self) }
    return String(decoding: JSONString.unescaped(spelling), as: UTF8.self)
  }

  private mutating func array() throws(JSONError) -> [JSONValue] {
    var elements: [JSONValue] = []
    try scanner.enter()
    if scanner.leaveIfEmpty(UInt8(ascii: "]")) { return elements }
    repeat {
      elements.append(try value())
    } while try scanner.nextItem(before: UInt8(ascii: "]"))
    return elements
  }

  private mutating func object() throws(JSONError) -> JSONObject {
    var object = JSONObject()
    try scanner.enter()
    if scanner.leaveIfEmpty(UInt8(ascii: "}")) { return object }
    repeat {
      let start = scanner.position
      let key = text(of: try scanner.key())
      if object[key] != nil {
        throw scanner.fault(.duplicateMember(key), at: start)
      }
      object[key] = try value()
    } while try scanner.nextItem(before: UInt8(ascii: "}"))
    return object
  }
}

extension JSONValue {
  /// Parses JSON text, strictly by RFC 8259.
  ///
  /// ```swift
  /// try JSONValue(parsing: #"{"age": 3}"#)["age"]?.intValue  // 3
  /// ```
  ///
  /// - Throws: ``JSONError`` with line, column and message.
  /// - Complexity: O(*n*) in the length of the text.
  public init(parsing text: String, options: JSONParsingOptions = .init()) throws(JSONError) {
    try self.init(parsing: Array(text.utf8), options: options)
  }

  /// Parses JSON text in UTF-8.
  public init(parsing utf8: [UInt8], options: JSONParsingOptions = .init()) throws(JSONError) {
    self = try utf8.withUnsafeBytes { bytes in
      Result { () throws(JSONError) in try JSONValue(parsing: bytes, options: options) }
    }.get()
  }

  /// Parses JSON text in UTF-8.
  public init(
    parsing utf8: UnsafeRawBufferPointer, options: JSONParsingOptions = .init()
  ) throws(JSONError) {
    var parser = JSONParser(JSONBytes(utf8), options: options)
    self = try parser.parse()
  }
}

extension JSONObject {
  /// Parses the members of an object in their written order, a repeated name as often as it stands. In the values no name
  /// may be repeated.
  package static func members(parsing utf8: UnsafeRawBufferPointer) throws(JSONError) -> [Member] {
    var parser = JSONParser(JSONBytes(utf8), options: .init())
    return try parser.parseMembers()
  }

  /// Parses the text of an object.
  ///
  /// - Throws: ``JSONError``, also if the value is not an object.
  public init(parsing text: String, options: JSONParsingOptions = .init()) throws(JSONError) {
    try self.init(parsing: Array(text.utf8), options: options)
  }

  /// Parses the text of an object in UTF-8.
  public init(parsing utf8: [UInt8], options: JSONParsingOptions = .init()) throws(JSONError) {
    self = try utf8.withUnsafeBytes { bytes in
      Result { () throws(JSONError) in try JSONObject(parsing: bytes, options: options) }
    }.get()
  }

  /// Parses the text of an object in UTF-8.
  public init(
    parsing utf8: UnsafeRawBufferPointer, options: JSONParsingOptions = .init()
  ) throws(JSONError) {
    var parser = JSONParser(JSONBytes(utf8), options: options)
    self = try parser.parseObject()
  }
}
