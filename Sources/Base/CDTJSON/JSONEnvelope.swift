/// A large object, such as a request for many documents: where the elements of one of its arrays are, and its other
/// members.
///
/// ```
/// {"docs": [{…}, {…}], "new_edits": false}   →   elements: the two objects, members: {"new_edits": false}
/// ```
///
/// The elements are validated, but no values are made of them.
package struct JSONEnvelope {
  /// The members besides the array.
  package private(set) var members = JSONObject()
  /// The position of each element; `nil` if there is no array of that name.
  package private(set) var elements: [Range<Int>]?

  private var scanner: JSONScanner

  /// - Parameter name: The name of the member with the array.
  /// - Throws: ``JSONError`` if the bytes are not one object.
  package init(_ bytes: UnsafeRawBufferPointer, array name: String) throws(JSONError) {
    scanner = JSONScanner(JSONBytes(bytes), from: 0)
    try read(bytes, name)
    scanner = JSONScanner(JSONBytes(UnsafeRawBufferPointer(start: nil, count: 0)), from: 0)
  }

  private mutating func read(_ bytes: UnsafeRawBufferPointer, _ name: String) throws(JSONError) {
    try scanner.checkByteOrderMark()
    scanner.skipSpace()
    guard scanner.kind == .object else { throw scanner.fault(.notAnObject) }
    try scanner.enter()
    if !scanner.leaveIfEmpty(UInt8(ascii: "}")) {
      repeat {
        let start = scanner.position
        let token = try scanner.key()
        let spelling = scanner.bytes.slice(token.start, token.end)
        let key = String(
          decoding: token.hasEscapes ? JSONString.unescaped(spelling) : Array(spelling), as: UTF8.self)
        if key == name, scanner.kind == .array {
          guard elements == nil else { throw scanner.fault(.duplicateMember(key), at: start) }
          elements = try readElements()
        } else {
          let start = scanner.position
          try skipValue()
          let text = UnsafeRawBufferPointer(rebasing: bytes[start..<scanner.position])
          members[key] = try JSONValue(parsing: text)
        }
      } while try scanner.nextItem(before: UInt8(ascii: "}"))
    }
    try scanner.finish()
  }

  private mutating func readElements() throws(JSONError) -> [Range<Int>] {
    var elements: [Range<Int>] = []
    try scanner.enter()
    if scanner.leaveIfEmpty(UInt8(ascii: "]")) { return elements }
    repeat {
      let start = scanner.position
      try skipValue()
      elements.append(start..<scanner.position)
    } while try scanner.nextItem(before: UInt8(ascii: "]"))
    return elements
  }

  private mutating func skipValue() throws(JSONError) {
    switch scanner.kind {
    case .null: try scanner.literal("null")
    case .true: try scanner.literal("true")
    case .false: try scanner.literal("false")
    case .number: _ = try scanner.number()
    case .string: _ = try scanner.string()
    case .array:
      try scanner.enter()
      if scanner.leaveIfEmpty(UInt8(ascii: "]")) { return }
      repeat { try skipValue() } while try scanner.nextItem(before: UInt8(ascii: "]"))
    case .object:
      try scanner.enter()
      if scanner.leaveIfEmpty(UInt8(ascii: "}")) { return }
      repeat {
        _ = try scanner.key()
        try skipValue()
      } while try scanner.nextItem(before: UInt8(ascii: "}"))
    case .invalid: throw scanner.fault(.expectedValue)
    }
  }
}
