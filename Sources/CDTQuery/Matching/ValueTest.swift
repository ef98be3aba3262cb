import JSON

/// A predicate made ready to run on the text of one value.
struct ValueTest: Sendable {
  private let form: Form
  /// Whether an array satisfies the test by any of its elements, too.
  private let looksIntoArrays: Bool

  private enum Form: Sendable {
    case exists
    case notNull
    case type(JSONType)
    case scalar(ScalarTest)
    /// One of a few values, each tried in turn.
    case few([ScalarTest])
    /// One of many values, which are looked up.
    case many(Set<JSONValue>)
    case modulo(Modulo)
    case size(Int)
    case regex(RegularExpression)
    /// `$elemMatch` and `$allMatch`: one element satisfies the matcher, or every one of at least one.
    case elements(Matcher, every: Bool)
    /// `$keyMapMatch`.
    case keys(Matcher)
  }

  /// Above this many members a hash look-up costs less than trying each.
  private static let fewMembers = 8

  init(_ predicate: Predicate) {
    looksIntoArrays = predicate.looksIntoArrays
    form =
      switch predicate {
      case .equal(let value): .scalar(.equality(value))
      case .compare(let comparison, let value): .scalar(.range(comparison, value))
      case .among(let members):
        members.count <= Self.fewMembers ? .few(members.map(ScalarTest.equality)) : .many(Set(members))
      case .exists: .exists
      case .notNull: .notNull
      case .type(let type): .type(type)
      case .modulo(let modulo): .modulo(modulo)
      case .size(let size): .size(size)
      case .beginsWith(let prefix): .scalar(.prefix(prefix))
      case .regex(let expression): .regex(expression)
      case .elementMatches(let condition): .elements(Matcher(condition), every: false)
      case .allElementsMatch(let condition): .elements(Matcher(condition), every: true)
      case .keyMatches(let clause): .keys(Matcher(.operators(clause)))
      }
  }

  /// Whether the value that starts at an offset, or where it is an array any of its elements, satisfies the test.
  func holdsInside(_ bytes: JSONBytes, at start: Int) throws(MatchFailure) -> Bool {
    if try holds(bytes, at: start) { return true }
    guard looksIntoArrays, bytes.kind(at: start) == .array else { return false }
    var elements = bytes.elements(at: start)
    while let element = elements.next() {
      if try holds(bytes, at: element) { return true }
    }
    return false
  }

  /// Whether a string that is not part of the text satisfies the test: an id, a key.
  func holds(string: UnsafeRawBufferPointer) throws(MatchFailure) -> Bool {
    let quoted = JSONString.quoted(string)
    let result = quoted.withUnsafeBytes { buffer in
      Result { () throws(MatchFailure) in try holds(JSONBytes(buffer), at: 0) }
    }
    return try result.get()
  }

  /// Whether the value that starts at an offset satisfies the test, taken as a whole.
  func holds(_ bytes: JSONBytes, at start: Int) throws(MatchFailure) -> Bool {
    switch form {
    case .exists: true
    case .notNull: bytes.kind(at: start) != .null
    case .type(let type): bytes.kind(at: start).type == type
    case .scalar(let test): test.holds(bytes, at: start)
    case .few(let tests): tests.contains { $0.holds(bytes, at: start) }
    case .many(let members): members.contains(bytes.value(at: start))
    case .modulo(let modulo):
      bytes.kind(at: start) == .number && modulo.holds(for: bytes.value(at: start))
    case .size(let size): Self.hasSize(size, bytes, at: start)
    case .regex(let expression): try Self.matches(expression, bytes, at: start)
    case .elements(let matcher, let every): try Self.elements(of: start, in: bytes, matcher, every: every)
    case .keys(let matcher): try Self.keys(of: start, in: bytes, matcher)
    }
  }

  private static func hasSize(_ size: Int, _ bytes: JSONBytes, at start: Int) -> Bool {
    guard bytes.kind(at: start) == .array else { return false }
    var elements = bytes.elements(at: start)
    for _ in 0..<size where elements.next() == nil { return false }
    return elements.next() == nil
  }

  private static func matches(
    _ expression: RegularExpression, _ bytes: JSONBytes, at start: Int
  ) throws(MatchFailure) -> Bool {
    guard bytes.kind(at: start) == .string else { return false }
    let outcome: Bool? = bytes.withStringBytes(at: start) { try? expression.matches($0) }
    guard let outcome else { throw MatchFailure(pattern: expression.pattern) }
    return outcome
  }

  private static func elements(
    of start: Int, in bytes: JSONBytes, _ matcher: Matcher, every: Bool
  ) throws(MatchFailure) -> Bool {
    guard bytes.kind(at: start) == .array else { return false }
    var elements = bytes.elements(at: start)
    var isEmpty = true
    while let element = elements.next() {
      isEmpty = false
      if try matcher.matches(valueAt: element, in: bytes) != every { return !every }
    }
    return every && !isEmpty
  }

  private static func keys(
    of start: Int, in bytes: JSONBytes, _ matcher: Matcher
  ) throws(MatchFailure) -> Bool {
    guard bytes.kind(at: start) == .object else { return false }
    var members = bytes.members(at: start)
    while let member = members.next() {
      // The key with its quotes is the text of a string.
      if try matcher.matches(valueAt: member.keyStart - 1, in: bytes) { return true }
    }
    return false
  }
}

extension JSONKind {
  fileprivate var type: JSONType? {
    switch self {
    case .null: .null
    case .false, .true: .boolean
    case .number: .number
    case .string: .string
    case .array: .array
    case .object: .object
    case .invalid: nil
    }
  }
}
