/// The text of an object made ready to be stored, in one pass over untrusted bytes.
package struct NormalizedObject: Sendable {
  /// Compact text: members in written order, strings in their one spelling, numbers as they were written.
  package var text: [UInt8]
  /// Top-level members whose names begin with an underscore, which are no part of a body.
  package var reserved: [(name: String, value: JSONValue)]
  /// The offset past the object in the bytes it was read from.
  package var end: Int
}

package enum JSONText {
  /// Validates the object that starts at an offset and gives the text to store.
  ///
  /// - Throws: ``JSONError``; line and column count from the start of the bytes.
  /// - Complexity: O(*n*), without building a tree.
  package static func normalize(
    _ bytes: UnsafeRawBufferPointer, from start: Int = 0, options: JSONParsingOptions = .init()
  ) throws(JSONError) -> NormalizedObject {
    var normalizer = Normalizer(JSONBytes(bytes), from: start, options: options)
    return try normalizer.normalize()
  }

  /// Refuses anything but white space from an offset to the end.
  package static func finish(_ bytes: UnsafeRawBufferPointer, from start: Int) throws(JSONError) {
    var scanner = JSONScanner(JSONBytes(bytes), from: start, options: .init())
    try scanner.finish()
  }
}

private struct Normalizer {
  private var scanner: JSONScanner
  private var text: [UInt8] = []
  private var reserved: [(name: String, value: JSONValue)] = []
  private var names = NameStack()

  init(_ bytes: JSONBytes, from start: Int, options: JSONParsingOptions) {
    scanner = JSONScanner(bytes, from: start, options: options)
    text.reserveCapacity(min(bytes.count - start, 4096))
  }

  mutating func normalize() throws(JSONError) -> NormalizedObject {
    scanner.skipSpace()
    switch scanner.bytes.kind(at: scanner.position) {
    case .object: break
    case .invalid: throw scanner.fault(scanner.position < scanner.bytes.count ? .expectedValue : .noValue)
    default: throw scanner.fault(.notAnObject)
    }
    try object(isBody: true)
    return NormalizedObject(text: text, reserved: reserved, end: scanner.position)
  }

  private mutating func value() throws(JSONError) {
    let start = scanner.position
    switch scanner.bytes.kind(at: start) {
    case .null: try scanner.literal("null")
    case .true: try scanner.literal("true")
    case .false: try scanner.literal("false")
    case .number: _ = try scanner.number()
    case .string: return write(try scanner.string())
    case .array: return try array()
    case .object: return try object(isBody: false)
    case .invalid: throw scanner.fault(.expectedValue)
    }
    text.append(contentsOf: scanner.bytes.slice(start, scanner.position))
  }

  private mutating func write(_ token: JSONScanner.StringToken) {
    let spelling = scanner.bytes.slice(token.start, token.end)
    guard token.hasEscapes else {
      text.append(UInt8(ascii: "\""))
      text.append(contentsOf: spelling)
      return text.append(UInt8(ascii: "\""))
    }
    JSONString.unescaped(spelling).withUnsafeBytes { JSONString.write($0, to: &text) }
  }

  private mutating func array() throws(JSONError) {
    text.append(UInt8(ascii: "["))
    try scanner.enter()
    if !scanner.leaveIfEmpty(UInt8(ascii: "]")) {
      while true {
        try value()
        guard try scanner.nextItem(before: UInt8(ascii: "]")) else { break }
        text.append(UInt8(ascii: ","))
      }
    }
    text.append(UInt8(ascii: "]"))
  }

  private mutating func object(isBody: Bool) throws(JSONError) {
    text.append(UInt8(ascii: "{"))
    try scanner.enter()
    guard !scanner.leaveIfEmpty(UInt8(ascii: "}")) else { return text.append(UInt8(ascii: "}")) }
    let outer = names.enter()
    var isFirst = true
    repeat {
      let member = text.count
      if !isFirst { text.append(UInt8(ascii: ",")) }
      let place = scanner.position
      let spelling = text.count
      write(try scanner.key())
      guard names.insert(spelling..<text.count, in: text) else {
        throw scanner.fault(.duplicateMember(Self.string(text[spelling...])), at: place)
      }
      let isReserved = isBody && text[spelling + 1] == UInt8(ascii: "_")
      let nameEnd = text.count
      text.append(UInt8(ascii: ":"))
      try value()
      if isReserved {
        reserved.append((Self.string(text[spelling..<nameEnd]), Self.value(text[(nameEnd + 1)...])))
        names.takeOut(text[spelling..<nameEnd])
        text.removeSubrange(member...)
      } else {
        isFirst = false
      }
    } while try scanner.nextItem(before: UInt8(ascii: "}"))
    names.leave(to: outer)
    text.append(UInt8(ascii: "}"))
  }

  private static func string(_ spelled: ArraySlice<UInt8>) -> String {
    spelled.withUnsafeBytes { JSONBytes($0).string(at: 0) }
  }

  private static func value(_ text: ArraySlice<UInt8>) -> JSONValue {
    text.withUnsafeBytes { JSONBytes($0).value(at: 0) }
  }
}

/// The names of the objects that are open, by where they are spelled in the text written so far.
private struct NameStack {
  private var names: [Range<Int>] = []
  /// Where the innermost object's names begin.
  private var start = 0
  /// The innermost object's names once they are many, for looking up.
  private var many: Set<[UInt8]> = []
  /// Names of members that were taken out of the text again.
  private var taken: [[UInt8]] = []

  /// Above this many names they are hashed.
  private static let fewNames = 16

  /// An object's names, while those of one within it are looked at.
  struct Outer {
    fileprivate let start: Int
    fileprivate let many: Set<[UInt8]>
  }

  mutating func enter() -> Outer {
    defer {
      start = names.count
      if !many.isEmpty { many = [] }
    }
    return Outer(start: start, many: many)
  }

  mutating func leave(to outer: Outer) {
    names.removeSubrange(start...)
    start = outer.start
    many = outer.many
  }

  /// Whether the name is new.
  mutating func insert(_ name: Range<Int>, in text: [UInt8]) -> Bool {
    // Only the outermost object has members taken out, and their names begin with an underscore.
    if start == 0, !taken.isEmpty, text[name.lowerBound + 1] == UInt8(ascii: "_"),
      taken.contains(where: { $0.elementsEqual(text[name]) })
    {
      return false
    }
    guard many.isEmpty else { return many.insert(Array(text[name])).inserted }
    for known in start..<names.count where Self.isSame(names[known], name, in: text) { return false }
    names.append(name)
    if names.count - start > Self.fewNames { many = Set(names[start...].map { Array(text[$0]) }) }
    return true
  }

  @inline(__always)
  private static func isSame(_ left: Range<Int>, _ right: Range<Int>, in text: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    for offset in 0..<left.count where text[left.lowerBound + offset] != text[right.lowerBound + offset] {
      return false
    }
    return true
  }

  /// Keeps the name that was inserted last, whose spelling is about to go from the text.
  mutating func takeOut(_ name: ArraySlice<UInt8>) {
    taken.append(Array(name))
    if many.isEmpty { names.removeLast() }
  }
}
