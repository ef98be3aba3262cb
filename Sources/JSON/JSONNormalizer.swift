/// Makes the texts of objects ready to be stored, one object after the other in the same memory.
///
/// Most text comes as it is stored, so it is copied in runs: from one thing that is left out or spelled anew to the next.
/// The canonical text says the same in another order, so it is put together of the stored one when an object ends.
package struct JSONNormalizer {
  /// Compact text: members in written order, strings in their one spelling, numbers as they were written.
  package private(set) var text: [UInt8] = []
  /// Top-level members whose names begin with an underscore, which are no part of a body: names and values one after the
  /// other, and where they are.
  private var takenOut: [UInt8] = []
  private var reservedPlaces: [(name: Range<Int>, value: Range<Int>)] = []

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

  /// Top-level members whose names begin with an underscore, which are no part of a body.
  package var reserved: [(name: String, value: JSONValue)] {
    takenOut.withUnsafeBytes { bytes in
      let bytes = JSONBytes(bytes)
      return reservedPlaces.map {
        (bytes.string(at: $0.name.lowerBound), bytes.value(at: $0.value.lowerBound))
      }
    }
  }

  /// The value of the member that is the only reserved one, if it has this name and is a string without escapes.
  ///
  /// - Parameter name: The name's spelling with its quotes.
  package func onlyReserved(_ name: StaticString) -> String? {
    guard reservedPlaces.count == 1, let place = reservedPlaces.first else { return nil }
    return takenOut.withUnsafeBytes { bytes in
      let text = JSONBytes(bytes)
      guard text.hasBytes(of: name, from: place.name.lowerBound, to: place.name.upperBound),
        text.kind(at: place.value.lowerBound) == .string
      else { return nil }
      let start = place.value.lowerBound + 1
      let end = text.nextQuoteOrBackslash(from: start)
      guard text[end] == UInt8(ascii: "\"") else { return nil }
      return String(decoding: text.slice(start, end), as: UTF8.self)
    }
  }

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
    takenOut.removeAll(keepingCapacity: true)
    reservedPlaces.removeAll(keepingCapacity: true)
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
    let mayBeReserved = isBody && name.beginsWithUnderscore && !reservedPlaces.isEmpty
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
    reservedPlaces.contains { takenOut[$0.name].elementsEqual(text[name.range]) }
  }

  /// Takes the member that was read last out of the text.
  private mutating func takeOut(_ name: Name, endingAt end: Int, commaBefore: Bool) {
    endRun(at: end)
    let start = takenOut.count
    let nameEnd = start + name.range.count
    text.withUnsafeBytes { text in
      takenOut.append(contentsOf: UnsafeRawBufferPointer(rebasing: text[name.range.lowerBound...]))
    }
    // A colon is between the name and the value.
    reservedPlaces.append((start..<nameEnd, nameEnd + 1..<takenOut.count))
    takenOut.append(UInt8(ascii: ","))
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
}
