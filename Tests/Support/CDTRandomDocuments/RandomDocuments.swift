package import CDTJSON
import CDTTestSupport

/// Draws documents, queries, index definitions and whole histories that meet each other often: few names, few values,
/// every type.
package struct RandomDocuments {
  private var generator: SeededGenerator

  /// The operators that selectors may have.
  package enum Scope {
    /// The operators that the ``Oracle`` knows.
    case oracle
    /// Every operator with every argument that it takes.
    case everything
  }

  package let scope: Scope
  /// Whether bodies have arrays; without, an index has one row for each document, which decides more.
  package var hasArrays = true
  /// The filters drawn for partial indexes, of which some requests ask.
  package var filters: [JSONObject] = []

  package init(seed: UInt64, scope: Scope = .oracle) {
    generator = SeededGenerator(seed: seed)
    self.scope = scope
  }

  package mutating func number(below bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }

  package mutating func chance(_ percent: Int) -> Bool { number(below: 100) < percent }

  package mutating func pick<T>(_ values: [T]) -> T { values[number(below: values.count)] }

  // MARK: Values

  package static let plainNames = ["a", "b", "c", "d"]
  private static let oddNames = [
    "x.y", "$p", "0", "1", "01", "é", "e\u{301}", "it's \"odd\"", "\\", "a\\", "", "😀", "\u{0}", "a b", "`]",
  ]

  private static let strings = [
    "", "a", "ab", "abc", "abb", "aB", "b", "é", "e\u{301}", "1", "\u{0}", "a\u{0}b", "\"q\"", "😀", "zz",
    "a\nb", "\u{FFFF}", "\u{10FFFF}", "\\", "ab?",
    "A", "Ab", "É",
    // Ids and revisions that documents have.
    "doc-1", "doc-12", "doc-2", "1-a", "2-b",
  ]

  private static let doubles =
    [
      0.5, -1.5, 1.0, 2.0, 2.5, 1e300, -0.0, .leastNonzeroMagnitude, 9007199254740993.0,
      9.223372036854775807e18, -1e19,
    ].map(JSONValue.double)
    + ["2.00", "5e-1", "0.250e1", "-0.0", "1e-400", "0.5000000000000000001", "30E-1"].compactMap {
      try? JSONValue(parsing: $0)
    }

  private static let integers: [Int64] = [
    .max, .min, .max - 1, -1, -3, 9_007_199_254_740_993, 9_007_199_254_740_992, 9_007_199_254_740_991,
  ]

  private static let longIntegers = [
    "9223372036854775808", "-9223372036854775809", "18446744073709551617", "10000000000000000000000000000001",
  ].compactMap { try? JSONValue(parsing: $0) }

  package mutating func name() -> String {
    chance(65) ? pick(Self.plainNames) : pick(Self.oddNames)
  }

  package mutating func scalar() -> JSONValue {
    switch number(below: 14) {
    case 0: return .null
    case 1: return .bool(chance(50))
    case 2: return pick(Self.doubles)
    case 3: return .int(pick(Self.integers))
    case 4, 5, 6: return .string(pick(Self.strings))
    case 7 where scope == .everything:
      return chance(60) ? .string(words(below: 5)) : pick(Self.longIntegers)
    default: return .int(Int64(number(below: 6)))
    }
  }

  package mutating func value(depth: Int = 0) -> JSONValue {
    switch number(below: depth > 2 ? 7 : 10) {
    case 7: return .array((0..<number(below: 4)).map { _ in value(depth: depth + 1) })
    case 8: return chance(40) ? nearbyValue() : .array((0..<number(below: 4)).map { _ in scalar() })
    case 9: return .object(body(depth: depth + 1))
    default: return scalar()
    }
  }

  package mutating func body(depth: Int = 0) -> JSONObject {
    var object = JSONObject()
    for _ in 0..<number(below: depth == 0 ? 6 : 4) { object[name()] = member(depth: depth) }
    if depth > 0, chance(5) { object["_id"] = scalar() }
    return object
  }

  private mutating func member(depth: Int) -> JSONValue {
    if hasArrays { return value(depth: depth) }
    return depth < 3 && chance(15) ? .object(body(depth: depth + 1)) : scalar()
  }

  /// A body with so many combinations of values that an index keeps it apart.
  package mutating func wideBody() -> JSONObject {
    var object = JSONObject()
    for name in Self.plainNames { object[name] = .array((0..<40).map { .int($0) } + [scalar()]) }
    return object
  }
}
