/// Makes the texts of objects ready to be stored, one object after the other in the same memory.
///
/// Most text comes as it is stored, so it is copied in runs: from one thing that is left out or spelled anew to the next.
/// The canonical text says the same in another order, so it is put together of the stored one when an object ends.
package struct JSONNormalizer {
  /// Compact text: members in written order, strings in their one spelling, numbers as they were written.
  package private(set) var text: [UInt8] = []
  /// Top-level members whose names begin with an underscore, which are no part of a body.
  package private(set) var reserved: [(name: String, value: JSONValue)] = []

  private var scanner = JSONScanner(JSONBytes(UnsafeRawBufferPointer(start: nil, count: 0)), from: 0)
  /// Where the run begins that is not in the text yet.
  private var run = 0
  private var names = NameStack()
  /// The canonical text, once it departs from the text.
  private var departed: [UInt8] = []
  private var hasDeparted = false
  /// Room for an object's members while they are put in order.
  private var inOrder: [UInt8] = []

  package init() {
    scanner.gaps = []
  }

  /// The canonical text of the same members, see ``JSONCanonical``.
  package var canonical: [UInt8] { hasDeparted ? departed : text }

  /// Validates the object that starts at an offset; its texts are here until the next one's.
  ///
  /// - Returns: The offset past the object.
  /// - Throws: ``JSONError``; line and column count from the start of the bytes.
  package mutating func normalize(
    _ bytes: UnsafeRawBufferPointer, from start: Int = 0, options: JSONParsingOptions = .init()
  ) throws(JSONError) -> Int {
    try lend(bytes, from: start, options) { (normalizer) throws(JSONError) in
      try normalizer.normalize()
      return normalizer.scanner.position
    }
  }

  /// Validates text that is one object with nothing behind it.
  package mutating func normalize(whole bytes: UnsafeRawBufferPointer) throws(JSONError) {
    try lend(bytes, from: 0, .init()) { (normalizer) throws(JSONError) in
      try normalizer.normalize()
      try normalizer.scanner.finish()
    }
  }

  /// The scanner has the bytes within the call only.
  @inline(__always)
  private mutating func lend<R>(
    _ bytes: UnsafeRawBufferPointer, from start: Int, _ options: JSONParsingOptions,
    _ body: (inout JSONNormalizer) throws(JSONError) -> R
  ) throws(JSONError) -> R {
    scanner.begin(JSONBytes(bytes), from: start, options: options)
    defer {
      scanner.begin(JSONBytes(UnsafeRawBufferPointer(start: nil, count: 0)), from: 0, options: .init())
    }
    text.removeAll(keepingCapacity: true)
    if !reserved.isEmpty { reserved.removeAll(keepingCapacity: true) }
    names.removeAll()
    hasDeparted = false
    return try body(&self)
  }

  private mutating func normalize() throws(JSONError) {
    scanner.skipSpace()
    run = scanner.position
    scanner.gaps?.removeAll(keepingCapacity: true)
    switch scanner.bytes.kind(at: scanner.position) {
    case .object: break
    case .invalid: throw scanner.fault(scanner.position < scanner.bytes.count ? .expectedValue : .noValue)
    default: throw scanner.fault(.notAnObject)
    }
    try object(isBody: true)
    endRun(at: scanner.position)
  }

  // MARK: Runs

  /// Copies the run up to an offset; the next one begins there.
  @inline(__always)
  private mutating func endRun(at end: Int) {
    append(scanner.bytes.slice(run, end))
    run = end
  }

  private mutating func append(_ bytes: UnsafeRawBufferPointer) {
    text.append(contentsOf: bytes)
    if hasDeparted { departed.append(contentsOf: bytes) }
  }

  /// Where an offset that lies in the run will be in the text.
  @inline(__always)
  private func place(of offset: Int) -> Int { text.count + offset - run }

  /// Where an offset that lies in the run will be in the canonical text, as long as its object is not put in order.
  @inline(__always)
  private func canonicalPlace(of offset: Int) -> Int {
    (hasDeparted ? departed.count : text.count) + offset - run
  }

  /// Goes on with a canonical text of its own, which is the same up to here.
  private mutating func depart() {
    guard !hasDeparted else { return }
    hasDeparted = true
    departed.removeAll(keepingCapacity: true)
    departed.append(contentsOf: text)
  }

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
  @inline(__always)
  private mutating func respell(_ token: JSONScanner.StringToken) {
    if token.hasEscapes { spellAnew(token) }
  }

  private mutating func spellAnew(_ token: JSONScanner.StringToken) {
    endRun(at: token.start - 1)
    JSONString.unescaped(scanner.bytes.slice(token.start, token.end)).withUnsafeBytes { string in
      JSONString.quoted(string).withUnsafeBytes { append($0) }
    }
    run = token.end + 1
  }

  // MARK: Values

  private mutating func value() throws(JSONError) {
    switch scanner.bytes.kind(at: scanner.position) {
    case .null: try scanner.literal("null")
    case .true: try scanner.literal("true")
    case .false: try scanner.literal("false")
    case .number: number(try scanner.number())
    case .string: respell(try scanner.string())
    case .array: try array()
    case .object: try object(isBody: false)
    case .invalid: throw scanner.fault(.expectedValue)
    }
  }

  /// A number is stored as it is written; in the canonical text every number has one spelling.
  @inline(__always)
  private mutating func number(_ token: JSONScanner.NumberToken) {
    if !token.isWhole, let canonical = JSONCanonical.respelled(token.start, token.end, in: scanner.bytes) {
      spellCanonically(token, canonical)
    }
  }

  private mutating func spellCanonically(_ token: JSONScanner.NumberToken, _ canonical: String) {
    endRun(at: token.start)
    depart()
    text.append(contentsOf: scanner.bytes.slice(token.start, token.end))
    departed.append(contentsOf: canonical.utf8)
    run = token.end
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
      let name = try name(isBody: isBody)
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
    if !names.areInOrder { putInOrder() }
    names.leave(to: outer)
  }

  /// Takes a member's name and its colon; the name has to be new in its object.
  @inline(__always)
  private mutating func name(isBody: Bool) throws(JSONError) -> Name {
    let start = scanner.position
    let place = place(of: start)
    let canonicalStart = canonicalPlace(of: start)
    let token = try scanner.key()
    let name: Name
    if token.hasEscapes {
      spellAnew(token)
      name = text.withUnsafeBytes {
        Name(place..<text.count, in: JSONBytes($0), at: place, canonicalStart: canonicalStart)
      }
    } else {
      name = Name(
        place..<place + token.end + 1 - start, in: scanner.bytes, at: start, canonicalStart: canonicalStart)
    }
    let mayBeReserved = isBody && name.beginsWithUnderscore && !reserved.isEmpty
    if mayBeReserved || names.mayHave(name) {
      // The run has to be in the text for the names to be compared there.
      if !token.hasEscapes { endRun(at: token.end + 1) }
      guard !(mayBeReserved && isReserved(name)), names.isNew(name, in: text) else {
        throw scanner.fault(.duplicateMember(Self.string(text[name.range])), at: start)
      }
    }
    closeGaps()
    names.append(name, in: text)
    return name
  }

  private func isReserved(_ name: Name) -> Bool {
    reserved.contains { JSONString.quoted($0.name).elementsEqual(text[name.range]) }
  }

  /// Takes the member that was read last out of the text.
  private mutating func takeOut(_ name: Name, endingAt end: Int, commaBefore: Bool) {
    endRun(at: end)
    let value = text[name.range.upperBound...].dropFirst()
    reserved.append((Self.string(text[name.range]), Self.value(value)))
    names.removeLast(in: text)
    let comma = commaBefore ? 1 : 0
    text.removeLast(text.count - name.range.lowerBound + comma)
    if hasDeparted { departed.removeLast(departed.count - name.canonicalStart + comma) }
  }

  /// Puts the members of the object that ends here in order in the canonical text.
  private mutating func putInOrder() {
    endRun(at: scanner.position - 1)
    depart()
    names.putInOrder(&departed, namedIn: text, by: &inOrder)
  }

  private static func string(_ spelled: ArraySlice<UInt8>) -> String {
    spelled.withUnsafeBytes { JSONBytes($0).string(at: 0) }
  }

  private static func value(_ text: ArraySlice<UInt8>) -> JSONValue {
    text.withUnsafeBytes { JSONBytes($0).value(at: 0) }
  }
}
