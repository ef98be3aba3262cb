import JSON

/// `$eq`, by the form of its argument.
enum EqualTest {
  static func make(_ value: JSONValue) -> ValueTest {
    switch value {
    case .null: KindTest(.null)
    case .bool(let bool): KindTest(bool ? .true : .false)
    case .int, .double, .bigInteger: NumberTest(value, Comparison.equal)
    case .string(let string): SpellingTest(string)
    case .array, .object: WholeTest(value)
    }
  }
}

/// How the order of two values decides a range or an equality.
struct Comparison: Sendable {
  private let ascending, same, descending: Bool

  static let equal = Comparison(ascending: false, same: true, descending: false)

  init(_ comparison: Predicate.Comparison) {
    self.init(
      ascending: comparison.holds(.ascending), same: comparison.holds(.same),
      descending: comparison.holds(.descending))
  }

  private init(ascending: Bool, same: Bool, descending: Bool) {
    self.ascending = ascending
    self.same = same
    self.descending = descending
  }

  @inline(__always)
  func holds(_ order: Order) -> Bool {
    switch order {
    case .ascending: ascending
    case .same: same
    case .descending: descending
    }
  }
}

/// `$lt`, `$lte`, `$gt`, `$gte`: numbers and strings on one scale, every number below every string; booleans apart.
enum RangeTest {
  static func make(_ comparison: Predicate.Comparison, _ value: JSONValue) -> ValueTest {
    let comparison = Comparison(comparison)
    switch value {
    case .bool(let bool): return BooleanRangeTest(bool, comparison)
    case .string(let string): return StringRangeTest(string, comparison)
    default: return NumberTest(value, comparison, strings: comparison.holds(.descending))
    }
  }
}

private final class KindTest: ValueTest, @unchecked Sendable {
  private let kind: JSONKind

  init(_ kind: JSONKind) {
    self.kind = kind
    super.init(looksIntoArrays: true)
  }

  override func holds(_ bytes: JSONBytes, at start: Int) -> Bool {
    bytes.kind(at: start) == kind
  }
}

private final class BooleanRangeTest: ValueTest, @unchecked Sendable {
  private let whenFalse, whenTrue: Bool

  init(_ bool: Bool, _ comparison: Comparison) {
    whenFalse = comparison.holds(bool ? .ascending : .same)
    whenTrue = comparison.holds(bool ? .same : .descending)
    super.init(looksIntoArrays: true)
  }

  override func holds(_ bytes: JSONBytes, at start: Int) -> Bool {
    switch bytes.kind(at: start) {
    case .false: whenFalse
    case .true: whenTrue
    default: false
    }
  }
}

private final class NumberTest: ValueTest, @unchecked Sendable {
  private let operand: JSONNumber
  private let comparison: Comparison
  /// The answer for strings, which are above every number.
  private let strings: Bool

  init(_ value: JSONValue, _ comparison: Comparison, strings: Bool = false) {
    operand = JSONNumber(value) ?? .int(0)
    self.comparison = comparison
    self.strings = strings
    super.init(looksIntoArrays: true)
  }

  override func holds(_ bytes: JSONBytes, at start: Int) -> Bool {
    switch bytes.kind(at: start) {
    case .number:
      guard let number = bytes.number(at: start) else { return false }
      return comparison.holds(Order(number, operand))
    case .string: return strings
    default: return false
    }
  }
}

private final class StringRangeTest: ValueTest, @unchecked Sendable {
  private let operand: [UInt8]
  private let comparison: Comparison

  init(_ string: String, _ comparison: Comparison) {
    operand = Array(string.utf8)
    self.comparison = comparison
    super.init(looksIntoArrays: true)
  }

  override func holds(_ bytes: JSONBytes, at start: Int) -> Bool {
    switch bytes.kind(at: start) {
    case .number: return comparison.holds(.ascending)
    case .string:
      let order = bytes.withStringBytes(at: start) { string in
        operand.withUnsafeBytes { Order(string, $0) }
      }
      return comparison.holds(order)
    default: return false
    }
  }
}

/// Equality with a string: a string has one stored spelling, so the spelled bytes are compared as they stand.
private final class SpellingTest: ValueTest, @unchecked Sendable {
  private let quoted: [UInt8]

  init(_ string: String) {
    quoted = JSONString.quoted(string)
    super.init(looksIntoArrays: true)
  }

  override func holds(_ bytes: JSONBytes, at start: Int) -> Bool {
    bytes.hasPrefix(quoted, at: start)
  }
}

/// `$beginsWith`: as spellings are made character by character, a prefix of the string is a prefix of its spelling.
final class PrefixTest: ValueTest, @unchecked Sendable {
  private let opened: [UInt8]

  init(_ prefix: String) {
    opened = JSONString.quoted(prefix).dropLast()
    super.init(looksIntoArrays: true)
  }

  override func holds(_ bytes: JSONBytes, at start: Int) -> Bool {
    bytes.hasPrefix(opened, at: start)
  }
}

/// Equality with an array or an object: their order keys are equal exactly when they are.
private final class WholeTest: ValueTest, @unchecked Sendable {
  private let key: [UInt8]
  private let kind: JSONKind

  init(_ value: JSONValue) {
    key = OrderKey(value).bytes
    if case .array = value { kind = .array } else { kind = .object }
    super.init(looksIntoArrays: true)
  }

  override func holds(_ bytes: JSONBytes, at start: Int) -> Bool {
    guard bytes.kind(at: start) == kind else { return false }
    return OrderKey(bytes, at: start).bytes == key
  }
}

/// `$in`: few members are tried in turn, many are looked up.
final class MembershipTest: ValueTest, @unchecked Sendable {
  private let tests: [ValueTest]
  private let members: Set<JSONValue>

  /// Above this many members a hash look-up costs less than trying each.
  private static let fewMembers = 8

  init(_ members: [JSONValue]) {
    tests = members.count <= Self.fewMembers ? members.map(EqualTest.make) : []
    self.members = members.count <= Self.fewMembers ? [] : Set(members)
    super.init(looksIntoArrays: true)
  }

  override func holds(_ bytes: JSONBytes, at start: Int) throws(MatchFailure) -> Bool {
    for test in tests where try test.holds(bytes, at: start) { return true }
    return !members.isEmpty && members.contains(bytes.value(at: start))
  }
}
