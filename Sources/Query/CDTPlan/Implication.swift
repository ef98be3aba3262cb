import CDTJSON

/// Whether every document that one clause matches is also matched by another.
///
/// `true` is certain. `false` only means that no rule here shows it: the rules cover what filters of indexes are made of.
///
/// ```
/// {"state": "open", "age": {"$gt": 30}}   implies   {"state": {"$in": ["open", "new"]}}
/// {"age": {"$gt": 30}}                    implies   {"age": {"$gte": 18}} and {"age": {"$exists": true}}
/// {"age": {"$gt": 30}}     does not imply   {"age": {"$lt": 99}}, nor that age is not a string
/// {"tags": "a"}            does not imply   {"tags": {"$ne": "b"}}: an array can have both
/// ```
///
/// A condition on a field holds if any value that its path reaches satisfies it. Different conditions can hold for
/// different elements of an array, so they are never taken together: each part of the implied clause follows from one
/// condition on the same field. Negations are compared the other way around: not *a* implies not *b* if *b* implies *a*.
package struct Implication {
  /// Comparisons that remain before it gives up: clauses within clauses could take exponential time.
  private var steps = 20_000

  package static func holds(_ clause: Clause, _ other: Clause) -> Bool {
    var implication = Implication()
    return implication.holds(clause, other)
  }

  private mutating func holds(_ clause: Clause, _ other: Clause) -> Bool {
    guard steps > 0 else { return false }
    steps -= 1
    switch (clause, other) {
    case (_, .always), (.never, _): return true
    case (_, .and(let members)): return members.allSatisfy { holds(clause, $0) }
    case (_, .not(.or(let members))): return members.allSatisfy { holds(clause, $0.complement) }
    case (.or(let members), _): return members.allSatisfy { holds($0, other) }
    case (.not(.and(let members)), _): return members.allSatisfy { holds($0.complement, other) }
    default: break
    }
    let isAnyImplied =
      switch other {
      case .or(let members): members.contains { holds(clause, $0) }
      case .not(.and(let members)): members.contains { holds(clause, $0.complement) }
      default: false
      }
    if isAnyImplied { return true }
    switch (clause, other) {
    case (.and(let members), _): return members.contains { holds($0, other) }
    case (.not(.or(let members)), _): return members.contains { holds($0.complement, other) }
    case (.field(let path, let predicate), .field(let otherPath, let implied)):
      guard path == otherPath else { return false }
      // As text, since strings are equal here by their bytes. Long lists use up the steps.
      let (text, impliedText) = (predicate.operators.utf8Text, implied.operators.utf8Text)
      steps -= (text.count + impliedText.count) / 16
      // The text does not say by which collation they are compared.
      return text == impliedText && predicate == implied || predicate.implies(implied)
    case (.not(let clause), .not(let implied)): return holds(implied, clause)
    default: return false
    }
  }
}

extension Predicate {
  /// Whether a document with a value of a field that satisfies this has one that satisfies the other.
  fileprivate func implies(_ other: Predicate) -> Bool {
    switch other {
    case .exists: return true
    // An array is not null, whatever its elements are.
    case .notNull: return !types.contains(.null)
    case .type(.array): return onlyType == .array
    default: return looksIntoArrays && other.looksIntoArrays && impliesForEachValue(other)
    }
  }

  /// Whether the other predicate holds for each value for which this one holds, elements of arrays included.
  private func impliesForEachValue(_ other: Predicate) -> Bool {
    switch (self, other) {
    case (.equal(let value), _): return other.holds(forEach: [value])
    case (.among(let members), .among(let others)): return Set(others).isSuperset(of: members)
    case (.among(let members), _): return other.holds(forEach: members)
    case (.compare(_, .bool), _):
      return other.holds(forEach: [false, true].map(JSONValue.bool).filter { holds(forEach: [$0]) })
    case (.compare(let comparison, let bound), .compare(let implied, let limit)):
      guard limit.boolValue == nil, comparison.isLowerBound == implied.isLowerBound else { return false }
      if limit == bound { return implied.includesBound || !comparison.includesBound }
      return implied.isLowerBound ? limit < bound : bound < limit
    case (.beginsWith(let prefix), .beginsWith(let shorter)): return prefix.hasBytePrefix(shorter)
    case (.beginsWith(let prefix), .compare(let implied, .string(let limit))):
      if prefix.hasSameBytes(as: limit) { return implied == .greaterOrEqual }
      return implied.isLowerBound
        ? limit.precedesInBytes(prefix) : prefix.precedesInBytes(limit) && !limit.hasBytePrefix(prefix)
    // Every string is above every number.
    case (.beginsWith, .compare(let implied, let limit)):
      return limit.boolValue == nil && implied.isLowerBound
    default: return false
    }
  }

  private func holds(forEach values: [JSONValue]) -> Bool {
    switch self {
    // Patterns are left to the matcher.
    case .regex, .keyMatches, .computed: return false
    // A number beyond 64 bits can equal another and leave another remainder.
    case .modulo where !values.allSatisfy(\.isInt): return false
    default:
      let test = ValueTest(self, MatchBudget())
      return values.allSatisfy { value in
        value.utf8Text.withUnsafeBytes { (try? test.holds(JSONBytes($0), at: 0)) ?? false }
      }
    }
  }
}

extension Predicate.Comparison {
  fileprivate var isLowerBound: Bool { self == .greater || self == .greaterOrEqual }
  fileprivate var includesBound: Bool { self == .lessOrEqual || self == .greaterOrEqual }
}

extension JSONValue {
  fileprivate var isInt: Bool { if case .int = self { true } else { false } }
}
