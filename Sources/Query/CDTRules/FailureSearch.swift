import CDTDatastore
import CDTJSON
import CDTSelector

/// Finds all parts of a rule that do not hold.
///
/// The matcher decides whether a rule holds. This walks through a clause that does not, with the tests of the matcher at its
/// leaves, and brings negations down to them: `$not` of `$eq` fails as `ne`.
struct FailureSearch {
  private struct Found {
    let failure: RuleFailure
    let isUnauthorized: Bool
  }

  private var found: [Found] = []
  private var isUnauthorized = false
  private let budget = MatchBudget()

  /// The violation; `nil` if nothing has failed.
  func violation(of id: String) -> RuleViolation? {
    guard let first = found.first else { return nil }
    let failures = found.map(\.failure)
    let shown = failures.prefix(3).map(\.description).joined(separator: "; ")
    let rest = failures.count - 3
    return RuleViolation(
      documentID: id, isUnauthorized: first.isUnauthorized, failures: failures,
      reason: rest > 0 ? "\(shown); and \(rest) more" : shown)
  }

  /// Adds the failures of a clause about the root of an input.
  mutating func search(_ clause: Clause, in bytes: JSONBytes) throws(MatchFailure) {
    let before = found.count
    if try !holds(clause, false, bytes, 0), found.count == before {
      add([], "rule", [], "the rule does not hold")
    }
  }

  // MARK: Clauses

  /// Whether a clause holds, or its complement; otherwise its failures are added.
  ///
  /// - Parameter start: The object whose members are the fields, or the element that is tested.
  private mutating func holds(
    _ clause: Clause, _ isNegated: Bool, _ bytes: JSONBytes, _ start: Int
  ) throws(MatchFailure) -> Bool {
    switch clause {
    case .always, .never, .text:
      if (clause == .always) != isNegated { return true }
      add(bytes.path(to: start), "never", [], "no value is allowed here")
      return false
    case .not(let clause): return try holds(clause, !isNegated, bytes, start)
    case .and(let members): return try holds(members, all: !isNegated, isNegated, bytes, start)
    case .or(let members): return try holds(members, all: isNegated, isNegated, bytes, start)
    case .field(let path, let predicate):
      var walk = PathWalk(bytes, from: start, through: path.segments)
      var values: [Int] = []
      while let value = walk.next() { values.append(value) }
      return try holds(predicate, isNegated, bytes, values, isField: true) {
        bytes.path(to: start) + path.steps
      }
    case .value(let predicate):
      return try holds(predicate, isNegated, bytes, [start], isField: false) { bytes.path(to: start) }
    case .rule(.conditional(let condition, let then, let otherwise)):
      let before = found.count
      let isMet = try holds(condition, false, bytes, start)
      found.removeSubrange(before...)
      return try holds(isMet ? then : otherwise, isNegated, bytes, start)
    case .rule(.annotated(let clause, let isUnauthorized, let reason)):
      let (before, outer) = (found.count, self.isUnauthorized)
      self.isUnauthorized = isUnauthorized ?? outer
      defer { self.isUnauthorized = outer }
      if try holds(clause, isNegated, bytes, start) { return true }
      if let reason {
        found.removeSubrange(before...)
        add(bytes.path(to: start), "reason", [], reason)
      }
      return false
    }
  }

  private mutating func holds(
    _ members: [Clause], all: Bool, _ isNegated: Bool, _ bytes: JSONBytes, _ start: Int
  ) throws(MatchFailure) -> Bool {
    let before = found.count
    var result = all
    for member in members {
      let holds = try holds(member, isNegated, bytes, start)
      if all {
        result = result && holds
      } else if holds {
        found.removeSubrange(before...)
        return true
      }
    }
    return result
  }

  // MARK: Predicates

  /// Whether one of some values passes, or none if it is negated.
  ///
  /// - Parameter path: The path of a value that is missing.
  private mutating func holds(
    _ predicate: Predicate, _ isNegated: Bool, _ bytes: JSONBytes, _ values: [Int], isField: Bool,
    path: () -> [JSONValue]
  ) throws(MatchFailure) -> Bool {
    let test = ValueTest(predicate, budget)
    var passing: Int?
    for value in values where passing == nil {
      if try isField ? test.holdsInside(bytes, at: value) : test.holds(bytes, at: value) { passing = value }
    }
    guard (passing != nil) == isNegated else { return true }
    guard let value = passing ?? values.first else {
      let text = FailureText(predicate, isNegated, bytes, at: nil)
      add(path(), text.type, text.parameters, text.message + (predicate == .exists ? "" : "; it is missing"))
      return false
    }
    if try addFailures(ofElements: predicate, isNegated, bytes, value) { return false }
    let text = FailureText(predicate, isNegated, bytes, at: value)
    add(bytes.path(to: value), text.type, text.parameters, text.message)
    return false
  }

  /// Adds the failures of the elements of an array.
  ///
  /// - Returns: Whether there are any.
  private mutating func addFailures(
    ofElements predicate: Predicate, _ isNegated: Bool, _ bytes: JSONBytes, _ value: Int
  ) throws(MatchFailure) -> Bool {
    guard case .elementMatches(let condition) = predicate else {
      guard case .allElementsMatch(let condition) = predicate else { return false }
      return try add(condition, isNegated, bytes, value)
    }
    return try add(condition, isNegated, bytes, value)
  }

  private mutating func add(
    _ condition: ElementCondition, _ isNegated: Bool, _ bytes: JSONBytes, _ array: Int
  ) throws(MatchFailure) -> Bool {
    guard bytes.kind(at: array) == .array else { return false }
    let before = found.count
    var elements = bytes.elements(at: array)
    while let element = elements.next(), found.count < RuleViolation.maximumFailures {
      switch condition {
      case .fields where bytes.kind(at: element) != .object:
        if !isNegated { add(bytes.path(to: element), "type", ["object"], "expected an object") }
      case .fields(let clause), .operators(let clause):
        _ = try holds(clause, isNegated, bytes, element)
      }
    }
    return found.count > before
  }

  private mutating func add(
    _ path: [JSONValue], _ type: String, _ parameters: [JSONValue], _ message: String
  ) {
    let failure = RuleFailure(path: path, type: type, parameters: parameters, message: message)
    found.append(Found(failure: failure, isUnauthorized: isUnauthorized))
  }
}

extension JSONBytes {
  /// The path of a value from the root.
  fileprivate func path(to start: Int) -> [JSONValue] {
    enclosing(start).map { step in
      switch step.step {
      case .member(let name): .string(name)
      case .element(let number): .int(Int64(number))
      }
    }
  }
}

extension FieldPath {
  fileprivate var steps: [JSONValue] {
    segments.map { $0.position.map { .int(Int64($0)) } ?? .string(String(decoding: $0.name, as: UTF8.self)) }
  }
}
