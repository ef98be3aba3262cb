import JSON

/// A predicate made ready to run on the text of one value.
class ValueTest: @unchecked Sendable {
  // Sendable without a lock: tests have only `let` properties; classes that can be inherited can't say so.

  /// Whether an array satisfies the test by any of its elements, too.
  let looksIntoArrays: Bool

  init(looksIntoArrays: Bool) {
    self.looksIntoArrays = looksIntoArrays
  }

  /// Whether the value that starts at an offset satisfies the test, taken as a whole.
  func holds(_ bytes: JSONBytes, at start: Int) throws(MatchFailure) -> Bool {
    true
  }

  /// Whether the value, or where it is an array any of its elements, satisfies the test.
  final func holdsInside(_ bytes: JSONBytes, at start: Int) throws(MatchFailure) -> Bool {
    if try holds(bytes, at: start) { return true }
    guard looksIntoArrays, bytes.kind(at: start) == .array else { return false }
    var elements = bytes.elements(at: start)
    while let element = elements.next() {
      if try holds(bytes, at: element) { return true }
    }
    return false
  }

  /// Whether a string that is not part of the text satisfies the test: an id, a key.
  final func holds(string: UnsafeRawBufferPointer) throws(MatchFailure) -> Bool {
    let quoted = JSONString.quoted(string)
    var result: Result<Bool, MatchFailure> = .success(false)
    quoted.withUnsafeBytes { buffer in
      do throws(MatchFailure) {
        result = .success(try holds(JSONBytes(buffer), at: 0))
      } catch {
        result = .failure(error)
      }
    }
    return try result.get()
  }

  static func compile(_ predicate: Predicate) -> ValueTest {
    let looksInside = predicate.looksIntoArrays
    switch predicate {
    case .equal(let value): return EqualTest.make(value)
    case .compare(let comparison, let value): return RangeTest.make(comparison, value)
    case .among(let members): return MembershipTest(members)
    case .exists: return ValueTest(looksIntoArrays: looksInside)
    case .notNull: return NotNullTest()
    case .type(let type): return TypeTest(type)
    case .modulo(let modulo): return ModuloTest(modulo)
    case .size(let size): return SizeTest(size)
    case .beginsWith(let prefix): return PrefixTest(prefix)
    case .regex(let expression): return RegexTest(expression)
    case .elementMatches(let condition): return ElementTest(condition, every: false)
    case .allElementsMatch(let condition): return ElementTest(condition, every: true)
    case .keyMatches(let clause): return KeyTest(ElementCheck.compile(clause))
    }
  }
}

private final class NotNullTest: ValueTest, @unchecked Sendable {
  init() {
    super.init(looksIntoArrays: false)
  }

  override func holds(_ bytes: JSONBytes, at start: Int) -> Bool {
    bytes.kind(at: start) != .null
  }
}

private final class TypeTest: ValueTest, @unchecked Sendable {
  private let type: JSONType

  init(_ type: JSONType) {
    self.type = type
    super.init(looksIntoArrays: false)
  }

  override func holds(_ bytes: JSONBytes, at start: Int) -> Bool {
    switch bytes.kind(at: start) {
    case .null: type == .null
    case .false, .true: type == .boolean
    case .number: type == .number
    case .string: type == .string
    case .array: type == .array
    case .object: type == .object
    case .invalid: false
    }
  }
}

private final class SizeTest: ValueTest, @unchecked Sendable {
  private let size: Int

  init(_ size: Int) {
    self.size = size
    super.init(looksIntoArrays: false)
  }

  override func holds(_ bytes: JSONBytes, at start: Int) -> Bool {
    guard bytes.kind(at: start) == .array else { return false }
    var elements = bytes.elements(at: start)
    for _ in 0..<size where elements.next() == nil { return false }
    return elements.next() == nil
  }
}

private final class ModuloTest: ValueTest, @unchecked Sendable {
  private let modulo: Modulo

  init(_ modulo: Modulo) {
    self.modulo = modulo
    super.init(looksIntoArrays: true)
  }

  override func holds(_ bytes: JSONBytes, at start: Int) -> Bool {
    bytes.kind(at: start) == .number && modulo.holds(for: bytes.value(at: start))
  }
}

private final class RegexTest: ValueTest, @unchecked Sendable {
  private let expression: RegularExpression

  init(_ expression: RegularExpression) {
    self.expression = expression
    super.init(looksIntoArrays: true)
  }

  override func holds(_ bytes: JSONBytes, at start: Int) throws(MatchFailure) -> Bool {
    guard bytes.kind(at: start) == .string else { return false }
    let outcome: Bool? = bytes.withStringBytes(at: start) { try? expression.matches($0) }
    guard let outcome else { throw MatchFailure(pattern: expression.pattern) }
    return outcome
  }
}

/// `$elemMatch` and `$allMatch`.
private final class ElementTest: ValueTest, @unchecked Sendable {
  private let every: Bool
  private let check: ElementCheck

  init(_ condition: ElementCondition, every: Bool) {
    self.every = every
    check = ElementCheck.compile(condition)
    super.init(looksIntoArrays: false)
  }

  override func holds(_ bytes: JSONBytes, at start: Int) throws(MatchFailure) -> Bool {
    guard bytes.kind(at: start) == .array else { return false }
    var elements = bytes.elements(at: start)
    var isEmpty = true
    while let element = elements.next() {
      isEmpty = false
      if try check.holds(bytes, at: element) != every { return !every }
    }
    return every && !isEmpty
  }
}

/// `$keyMapMatch`.
private final class KeyTest: ValueTest, @unchecked Sendable {
  private let check: ElementCheck

  init(_ check: ElementCheck) {
    self.check = check
    super.init(looksIntoArrays: true)
  }

  override func holds(_ bytes: JSONBytes, at start: Int) throws(MatchFailure) -> Bool {
    guard bytes.kind(at: start) == .object else { return false }
    var members = bytes.members(at: start)
    while let member = members.next() {
      // The key with its quotes is the text of a string.
      if try check.holds(bytes, at: member.keyStart - 1) { return true }
    }
    return false
  }
}
