package import CDTJSON

/// A predicate prepared to be evaluated on the text of a value.
package struct ValueTest: Sendable {
  private let form: Form
  /// Whether an array also satisfies the test if any of its elements does.
  private let looksIntoArrays: Bool

  private enum Form: Sendable {
    case exists
    case notNull
    case type(JSONType)
    case scalar(ScalarTest)
    /// One of a few values, compared one by one.
    case few([ScalarTest])
    /// One of many values, found by hashing.
    case many(Set<JSONValue>)
    case modulo(Modulo)
    case size(Int)
    case regex(RegularExpression, MatchBudget)
    case near(NearCondition)
    case within(GeoRegion)
    /// `$elemMatch` and `$allMatch`: one element, or all of at least one, satisfies the matcher.
    case elements(Matcher, every: Bool)
    /// `$keyMapMatch`.
    case keys(Matcher)
    case collated(CollatedTest)
    case computed(ComputedTest)
  }

  /// Above this number of members, hashing costs less than comparing.
  private static let fewMembers = 8

  /// - Parameter budget: The limits of its patterns.
  package init(_ predicate: Predicate, _ budget: MatchBudget) {
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
      case .regex(let expression): .regex(expression, budget)
      case .near(let near): .near(near)
      case .within(let region): .within(region)
      case .elementMatches(let condition): .elements(Matcher(condition, budget), every: false)
      case .allElementsMatch(let condition): .elements(Matcher(condition, budget), every: true)
      case .keyMatches(let clause): .keys(Matcher(.operators(clause), budget))
      case .computed(let predicate): .computed(ComputedTest(predicate, budget))
      case .collated(let predicate, let collation): .collated(CollatedTest(predicate, collation))
      }
  }

  /// Whether the value at an offset satisfies the test, or, if it is an array, any of its elements does.
  package func holdsInside(_ bytes: JSONBytes, at start: Int) throws(MatchFailure) -> Bool {
    if try holds(bytes, at: start) { return true }
    guard looksIntoArrays, bytes.kind(at: start) == .array else { return false }
    var elements = bytes.elements(at: start)
    while let element = elements.next() {
      if try holds(bytes, at: element) { return true }
    }
    return false
  }

  /// Whether a string outside the text, such as an id or a key, satisfies the test.
  func holds(string: UnsafeRawBufferPointer) throws(MatchFailure) -> Bool {
    let quoted = JSONString.quoted(string)
    let result = quoted.withUnsafeBytes { buffer in
      Result { () throws(MatchFailure) in try holds(JSONBytes(buffer), at: 0) }
    }
    return try result.get()
  }

  /// Whether the value at an offset, as a whole, satisfies the test.
  package func holds(_ bytes: JSONBytes, at start: Int) throws(MatchFailure) -> Bool {
    switch form {
    case .exists: true
    case .notNull: bytes.kind(at: start) != .null
    case .type(let type): JSONType(bytes.kind(at: start)) == type
    case .scalar(let test): test.holds(bytes, at: start)
    case .few(let tests): tests.contains { $0.holds(bytes, at: start) }
    case .many(let members): members.contains(bytes.value(at: start))
    case .modulo(let modulo):
      bytes.kind(at: start) == .number && modulo.holds(for: bytes.value(at: start))
    case .size(let size): Self.hasSize(size, bytes, at: start)
    case .regex(let expression, let budget): try Self.matches(expression, bytes, at: start, budget)
    case .near(let near): near.accepts(near.distance.least(at: start, in: bytes))
    case .within(let region): GeoPoint(bytes, at: start).map(region.contains) ?? false
    case .elements(let matcher, let every): try Self.elements(of: start, in: bytes, matcher, every: every)
    case .keys(let matcher): try Self.keys(of: start, in: bytes, matcher)
    case .collated(let test): test.holds(bytes, at: start)
    case .computed(let test): try test.holds(bytes, at: start)
    }
  }

  private static func hasSize(_ size: Int, _ bytes: JSONBytes, at start: Int) -> Bool {
    guard bytes.kind(at: start) == .array else { return false }
    var elements = bytes.elements(at: start)
    for _ in 0..<size where elements.next() == nil { return false }
    return elements.next() == nil
  }

  private static func matches(
    _ expression: RegularExpression, _ bytes: JSONBytes, at start: Int, _ budget: MatchBudget
  ) throws(MatchFailure) -> Bool {
    guard bytes.kind(at: start) == .string else { return false }
    let outcome: Bool? = bytes.withStringBytes(at: start) { try? expression.matches($0, budget) }
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
      // The key with its quotation marks is a string in JSON.
      if try matcher.matches(valueAt: member.keyStart - 1, in: bytes) { return true }
    }
    return false
  }
}
