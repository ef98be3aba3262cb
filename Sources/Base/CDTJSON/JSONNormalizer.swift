/// Prepares the texts of objects for storage, one object after another in the same memory.
///
/// Most text is already in stored form, so it is copied in runs that end where something is omitted or escaped
/// differently. The canonical text has another order, so it is rearranged when an object ends.
package struct JSONNormalizer {
  /// Compact text: members in written order, strings with the stored escapes, numbers as written.
  package private(set) var text: [UInt8] = []
  /// The top-level members that are not part of the body, see ``ReservedMember``: names and values in turn, and their
  /// positions.
  private var takenOut: [UInt8] = []
  private var reservedPlaces: [(name: Range<Int>, value: Range<Int>)] = []

  private var scanner = JSONScanner(JSONBytes(UnsafeRawBufferPointer(start: nil, count: 0)), from: 0)
  /// The start of the run that is not in the text yet.
  private var run = 0
  private var names = NameStack()
  /// The canonical text, once it differs from the text.
  private var rewritten: [UInt8] = []
  private var isRewritten = false
  /// Memory for sorting an object's members.
  private var inOrder: [UInt8] = []

  /// Whether there is a canonical text, which costs time.
  package var makesCanonical = true
  /// Whether an object that is plain (``PlainObject``) is only checked, and ``text`` is as it was written, until ``settle()``.
  package var defersPlain = false
  /// Whether ``text`` is as it was written.
  package private(set) var isDeferred = false
  private var deferredID: Range<Int>?

  package init() {
    scanner.gaps = []
  }

  /// The `_id` of an object that is deferred.
  package var plainID: String? {
    deferredID.map { String(decoding: text[$0], as: UTF8.self) }
  }

  /// Normalizes an object that was deferred.
  package mutating func settle() {
    guard isDeferred else { return }
    let (written, defers) = (text, defersPlain)
    defersPlain = false
    // The object was checked.
    _ = try? normalize(written)
    defersPlain = defers
  }

  /// The canonical text of the same members, see ``JSONCanonical``; only if ``makesCanonical``.
  package var canonical: [UInt8] { isRewritten ? rewritten : text }

  /// The top-level members that are not part of the body, see ``ReservedMember``.
  package var reserved: [(name: String, value: JSONValue)] {
    takenOut.withUnsafeBytes { bytes in
      let bytes = JSONBytes(bytes)
      return reservedPlaces.map {
        (bytes.string(at: $0.name.lowerBound), bytes.value(at: $0.value.lowerBound))
      }
    }
  }

  /// Whether there are top-level members whose names begin with an underscore.
  package var hasReserved: Bool { !reservedPlaces.isEmpty }

  /// The value of the only reserved member, if it has this name and is a string without escapes.
  ///
  /// - Parameter name: The name with its quotation marks.
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

  /// Validates the object at an offset. Its texts are available until the next call.
  ///
  /// - Returns: The offset after the object.
  /// - Throws: ``JSONError``; line and column count from the start of the bytes.
  package mutating func normalize(
    _ bytes: UnsafeRawBufferPointer, from start: Int = 0, options: JSONParsingOptions = .init()
  ) throws(JSONError) -> Int {
    isDeferred = false
    if defersPlain, let plain = PlainObject(JSONBytes(bytes), from: start) {
      isDeferred = true
      deferredID = plain.id.map { $0.lowerBound - start..<$0.upperBound - start }
      text.removeAll(keepingCapacity: true)
      text.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[start..<plain.end]))
      return plain.end
    }
    return try lend(bytes, from: start, options) { (normalizer) throws(JSONError) in
      try normalizer.normalize()
      return normalizer.scanner.position
    }
  }

  /// Validates the object at an offset of an array.
  package mutating func normalize(_ text: [UInt8], from start: Int = 0) throws(JSONError) -> Int {
    let result: Result<Int, JSONError> = text.withUnsafeBytes { bytes in
      do throws(JSONError) {
        return .success(try normalize(bytes, from: start))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// Validates text that is one object and nothing else.
  package mutating func normalize(whole bytes: UnsafeRawBufferPointer) throws(JSONError) {
    try lend(bytes, from: 0, .init()) { (normalizer) throws(JSONError) in
      try normalizer.normalize()
      try normalizer.scanner.finish()
    }
  }

  /// The scanner has the bytes only during the call.
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
    isRewritten = false
    return try body(&self)
  }

  private mutating func normalize() throws(JSONError) {
    scanner.skipSpace()
    run = scanner.position
    scanner.gaps?.removeAll(keepingCapacity: true)
    switch scanner.kind {
    case .object: break
    case .invalid: throw scanner.fault(scanner.position < scanner.bytes.count ? .expectedValue : .noValue)
    default: throw scanner.fault(.notAnObject)
    }
    try object(isBody: true)
    endRun(at: scanner.position)
  }

  // MARK: Runs

  /// Copies the run up to an offset, where the next run begins.
  @inline(__always)
  private mutating func endRun(at end: Int) {
    append(scanner.bytes.slice(run, end))
    run = end
  }

  private mutating func append(_ bytes: UnsafeRawBufferPointer) {
    text.append(contentsOf: bytes)
    if isRewritten { rewritten.append(contentsOf: bytes) }
  }

  /// The position in the text of an offset in the current run.
  @inline(__always)
  private func place(of offset: Int) -> Int { text.count + offset - run }

  /// The position in the canonical text of an offset in the current run, until its object is sorted.
  @inline(__always)
  private func canonicalPlace(of offset: Int) -> Int {
    (isRewritten ? rewritten.count : text.count) + offset - run
  }

  /// Starts a separate canonical text, which is the same up to here.
  private mutating func depart() {
    guard !isRewritten else { return }
    isRewritten = true
    rewritten.removeAll(keepingCapacity: true)
    rewritten.append(contentsOf: text)
  }

  /// Omits the white space that was skipped.
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

  /// Rewrites a string that is not in stored form.
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
    switch scanner.kind {
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

  /// A number is stored as written; in the canonical text every number has one form.
  @inline(__always)
  private mutating func number(_ token: JSONScanner.NumberToken) {
    guard makesCanonical else { return }
    if token.isWhole, !JSONCanonical.isMinusZero(token.start, token.end, in: scanner.bytes) { return }
    if let canonical = JSONCanonical.respelled(token.start, token.end, in: scanner.bytes) {
      spellCanonically(token, canonical)
    }
  }

  private mutating func spellCanonically(_ token: JSONScanner.NumberToken, _ canonical: String) {
    endRun(at: token.start)
    depart()
    text.append(contentsOf: scanner.bytes.slice(token.start, token.end))
    rewritten.append(contentsOf: canonical.utf8)
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
      if isBody, name.beginsWithUnderscore, isReserved(name, endingAt: end) {
        takeOut(name, endingAt: end, commaBefore: !isMore && !isEmpty)
        run = isMore ? scanner.position : scanner.position - 1
        scanner.gaps?.removeAll(keepingCapacity: true)
      } else {
        isEmpty = false
        closeGaps()
      }
    }
    if makesCanonical, !names.areInOrder { putInOrder() }
    names.leave(to: outer)
  }

  /// Reads a member's name and its colon; the name must be new in its object.
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
      // The run must be in the text for the names to be compared there.
      if !token.hasEscapes { endRun(at: token.end + 1) }
      guard !(mayBeReserved && isKnownReserved(name)), names.isNew(name, in: text) else {
        throw scanner.fault(.duplicateMember(Self.string(text[name.range])), at: start)
      }
    }
    closeGaps()
    names.append(name, in: text)
    return name
  }

  /// Whether a member that begins with an underscore is taken out of the text.
  private mutating func isReserved(_ name: Name, endingAt end: Int) -> Bool {
    endRun(at: end)
    return ReservedMember.isReserved(utf8: text[name.range].dropFirst().dropLast())
  }

  private func isKnownReserved(_ name: Name) -> Bool {
    reservedPlaces.contains { takenOut[$0.name].elementsEqual(text[name.range]) }
  }

  /// Removes the last member from the text.
  private mutating func takeOut(_ name: Name, endingAt end: Int, commaBefore: Bool) {
    endRun(at: end)
    let start = takenOut.count
    let nameEnd = start + name.range.count
    text.withUnsafeBytes { text in
      takenOut.append(contentsOf: UnsafeRawBufferPointer(rebasing: text[name.range.lowerBound...]))
    }
    // There is a colon between the name and the value.
    reservedPlaces.append((start..<nameEnd, nameEnd + 1..<takenOut.count))
    takenOut.append(UInt8(ascii: ","))
    names.removeLast(in: text)
    let comma = commaBefore ? 1 : 0
    text.removeLast(text.count - name.range.lowerBound + comma)
    if isRewritten { rewritten.removeLast(rewritten.count - name.canonicalStart + comma) }
  }

  /// Sorts the members of the object that ends here in the canonical text.
  private mutating func putInOrder() {
    endRun(at: scanner.position - 1)
    depart()
    names.putInOrder(&rewritten, namedIn: text, by: &inOrder)
  }

  private static func string(_ spelled: ArraySlice<UInt8>) -> String {
    spelled.withUnsafeBytes { JSONBytes($0).string(at: 0) }
  }
}
