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

  /// Validates text that is one object with nothing behind it, and gives the text to store.
  package static func normalize(whole bytes: UnsafeRawBufferPointer) throws(JSONError) -> NormalizedObject {
    let object = try normalize(bytes)
    var scanner = JSONScanner(JSONBytes(bytes), from: object.end, options: .init())
    try scanner.finish()
    return object
  }
}

/// Copies the text of an object, and leaves out what is not stored.
///
/// Most text comes as it is stored, so it is copied in runs: from one thing that is left out or spelled anew to the next.
private struct Normalizer {
  private var scanner: JSONScanner
  private var text: [UInt8] = []
  /// Where the run begins that is not in the text yet.
  private var run: Int
  private var reserved: [(name: String, value: JSONValue)] = []
  private var names = NameStack()

  init(_ bytes: JSONBytes, from start: Int, options: JSONParsingOptions) {
    scanner = JSONScanner(bytes, from: start, options: options)
    run = start
    text.reserveCapacity(min(bytes.count - start, 4096))
  }

  mutating func normalize() throws(JSONError) -> NormalizedObject {
    scanner.skipSpace()
    run = scanner.position
    scanner.gaps = []
    switch scanner.bytes.kind(at: scanner.position) {
    case .object: break
    case .invalid: throw scanner.fault(scanner.position < scanner.bytes.count ? .expectedValue : .noValue)
    default: throw scanner.fault(.notAnObject)
    }
    try object(isBody: true)
    endRun(at: scanner.position)
    return NormalizedObject(text: text, reserved: reserved, end: scanner.position)
  }

  // MARK: Runs

  /// Copies the run up to an offset; the next one begins there.
  private mutating func endRun(at end: Int) {
    text.append(contentsOf: scanner.bytes.slice(run, end))
    run = end
  }

  /// Where an offset that lies in the run will be in the text.
  private func place(of offset: Int) -> Int { text.count + offset - run }

  /// Leaves out the white space that was passed over.
  @inline(__always)
  private mutating func closeGaps() {
    if scanner.gaps?.isEmpty == false { leaveOutGaps() }
  }

  private mutating func leaveOutGaps() {
    for gap in scanner.gaps ?? [] {
      endRun(at: gap.lowerBound)
      run = gap.upperBound
    }
    scanner.gaps?.removeAll(keepingCapacity: true)
  }

  /// Spells a string anew where it does not stand as it is stored.
  private mutating func respell(_ token: JSONScanner.StringToken) {
    guard token.hasEscapes else { return }
    endRun(at: token.start - 1)
    JSONString.unescaped(scanner.bytes.slice(token.start, token.end)).withUnsafeBytes {
      JSONString.write($0, to: &text)
    }
    run = token.end + 1
  }

  // MARK: Values

  private mutating func value() throws(JSONError) {
    switch scanner.bytes.kind(at: scanner.position) {
    case .null: try scanner.literal("null")
    case .true: try scanner.literal("true")
    case .false: try scanner.literal("false")
    case .number: _ = try scanner.number()
    case .string: respell(try scanner.string())
    case .array: try array()
    case .object: try object(isBody: false)
    case .invalid: throw scanner.fault(.expectedValue)
    }
  }

  private mutating func array() throws(JSONError) {
    try scanner.enter()
    closeGaps()
    if scanner.leaveIfEmpty(UInt8(ascii: "]")) { return }
    var isMore = true
    while isMore {
      try value()
      isMore = try scanner.nextItem(before: UInt8(ascii: "]"))
      closeGaps()
    }
  }

  private mutating func object(isBody: Bool) throws(JSONError) {
    try scanner.enter()
    closeGaps()
    if scanner.leaveIfEmpty(UInt8(ascii: "}")) { return }
    let outer = names.enter()
    var isEmpty = true
    var isMore = true
    while isMore {
      let name = try name()
      try value()
      let end = scanner.position
      isMore = try scanner.nextItem(before: UInt8(ascii: "}"))
      if isBody, name.beginsWithUnderscore {
        takeOut(name, endingAt: end, commaBefore: !isMore && !isEmpty)
        run = isMore ? scanner.position : scanner.position - 1
        scanner.gaps?.removeAll(keepingCapacity: true)
      } else {
        isEmpty = false
        closeGaps()
      }
    }
    names.leave(to: outer)
  }

  /// Takes a member's name and its colon; the name has to be new in its object.
  private mutating func name() throws(JSONError) -> Name {
    let start = scanner.position
    let place = place(of: start)
    let token = try scanner.key()
    let name: Name
    if token.hasEscapes {
      respell(token)
      name = text.withUnsafeBytes { Name(place..<text.count, in: JSONBytes($0), at: place) }
    } else {
      name = Name(place..<place + token.end + 1 - start, in: scanner.bytes, at: start)
    }
    if names.mayHave(name) {
      // The run has to be in the text for the names to be compared there.
      if !token.hasEscapes { endRun(at: token.end + 1) }
      guard names.isNew(name, in: text) else {
        throw scanner.fault(.duplicateMember(Self.string(text[name.range])), at: start)
      }
    }
    closeGaps()
    names.append(name, in: text)
    return name
  }

  /// Takes the member that was read last out of the text.
  private mutating func takeOut(_ name: Name, endingAt end: Int, commaBefore: Bool) {
    endRun(at: end)
    let value = text[name.range.upperBound...].dropFirst()
    reserved.append((Self.string(text[name.range]), Self.value(value)))
    names.takeOut(text[name.range])
    text.removeLast(text.count - name.range.lowerBound + (commaBefore ? 1 : 0))
  }

  private static func string(_ spelled: ArraySlice<UInt8>) -> String {
    spelled.withUnsafeBytes { JSONBytes($0).string(at: 0) }
  }

  private static func value(_ text: ArraySlice<UInt8>) -> JSONValue {
    text.withUnsafeBytes { JSONBytes($0).value(at: 0) }
  }
}

/// A member's name, with its quotes.
private struct Name {
  /// Where it is spelled in the text.
  let range: Range<Int>
  /// The first eight bytes between the quotes, which tell most names apart.
  let prefix: UInt64

  /// - Parameter start: Where its opening quote is in `bytes`.
  init(_ range: Range<Int>, in bytes: JSONBytes, at start: Int) {
    self.range = range
    prefix = bytes.prefix(start + 1, start + range.count - 1)
  }

  var beginsWithUnderscore: Bool { UInt8(truncatingIfNeeded: prefix >> 56) == UInt8(ascii: "_") }
}

/// The names of the objects that are open.
private struct NameStack {
  private var names: [Name] = []
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
    names.removeLast(names.count - start)
    start = outer.start
    many = outer.many
  }

  /// Whether the innermost object may have a name already, by what can be told without its text.
  func mayHave(_ name: Name) -> Bool {
    if names.count - start >= Self.fewNames { return true }
    if !taken.isEmpty, name.beginsWithUnderscore { return true }
    for position in start..<names.count
    where names[position].prefix == name.prefix && names[position].range.count == name.range.count {
      return true
    }
    return false
  }

  /// Whether the innermost object has no such name yet; all of them are in the text.
  mutating func isNew(_ name: Name, in text: [UInt8]) -> Bool {
    // Only the outermost object has members taken out, and their names begin with an underscore.
    if start == 0, name.beginsWithUnderscore, taken.contains(where: { $0.elementsEqual(text[name.range]) }) {
      return false
    }
    guard names.count - start < Self.fewNames else {
      if many.isEmpty { many = Set(names[start...].map { Array(text[$0.range]) }) }
      return !many.contains(Array(text[name.range]))
    }
    return !names[start...].contains { text[$0.range].elementsEqual(text[name.range]) }
  }

  /// Adds a name that is new; it is in the text where names are looked up by it.
  mutating func append(_ name: Name, in text: [UInt8]) {
    if names.isEmpty { names.reserveCapacity(Self.fewNames) }
    names.append(name)
    if !many.isEmpty { many.insert(Array(text[name.range])) }
  }

  /// Keeps the name that was added last, whose spelling is about to go from the text.
  mutating func takeOut(_ name: ArraySlice<UInt8>) {
    taken.append(Array(name))
    names.removeLast()
    if !many.isEmpty { many.remove(Array(name)) }
  }
}
