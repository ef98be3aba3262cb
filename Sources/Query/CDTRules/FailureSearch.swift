import CDTDatastore
import CDTJSON
import CDTSelector

/// Finds all parts of a rule that do not hold.
///
/// The matcher decides whether a rule holds. This walks through a clause that does not, with the tests of the matcher at its
/// leaves, and brings negations down to them: `$not` of `$eq` fails as `ne`.
struct FailureSearch {
  /// A failure, as offsets: many are found on the way to those that are shown.
  private struct Found {
    /// The value, or the value below which the path begins that reaches none.
    let place: Int
    let missing: FieldPath?
    let cause: Cause
    let isUnauthorized: Bool
    /// The text between the failure before and this one in the reason.
    var joint: String
    /// Whether the reason leaves it out, as another alternative has a text of the rule's author.
    var isLeftOut = false

    var isAuthored: Bool {
      if case .other("reason", _, _) = cause { true } else { false }
    }
  }

  private enum Cause {
    case predicate(Predicate, isNegated: Bool)
    case other(String, [JSONValue], String)
  }

  private var found: [Found] = []
  private var isUnauthorized = false
  private let budget = MatchBudget()
  private var failures: [RuleFailure] = []
  private var isFirstUnauthorized = false
  private var joint = "; "
  /// The text for people: the first failures.
  private var reason = ""
  /// The number of failures that are not left out of the reason.
  private var reasons = 0
  /// Whether the rule's author has written all of the reason.
  private var isAuthored = true

  /// The violation; `nil` if nothing has failed.
  func violation(of id: String, isDeletion: Bool = false) -> RuleViolation? {
    guard !failures.isEmpty else { return nil }
    let rest = min(reasons, RuleViolation.maximumFailures) - Self.maximumShown
    return RuleViolation(
      documentID: id, isUnauthorized: isFirstUnauthorized, failures: failures,
      reason: (isDeletion && !isAuthored ? "the deletion was refused: " : "") + reason
        + (rest > 0 ? "; and \(rest) more" : ""))
  }

  private static let maximumShown = 3

  /// Adds the failures of a clause about the root of an input.
  mutating func search(_ clause: Clause, in bytes: JSONBytes) throws(MatchFailure) {
    found = []
    if try !holds(RulePart(clause, budget), false, bytes, 0), found.isEmpty {
      add(0, "rule", [], "the rule does not hold")
    }
    if failures.isEmpty, let first = found.first { isFirstUnauthorized = first.isUnauthorized }
    var walk = EnclosingWalk()
    for found in found.prefix(RuleViolation.maximumFailures - failures.count) {
      failures.append(Self.failure(found, bytes, &walk))
    }
    for found in found where !found.isLeftOut {
      reasons += 1
      isAuthored = isAuthored && found.isAuthored
      guard reasons <= Self.maximumShown else { continue }
      reason += (reasons > 1 ? found.joint : "") + Self.failure(found, bytes, &walk).description
    }
  }

  private static func failure(
    _ found: Found, _ bytes: JSONBytes, _ walk: inout EnclosingWalk
  ) -> RuleFailure {
    let path = walk.path(to: found.place, in: bytes).map(\.json) + (found.missing?.steps ?? [])
    switch found.cause {
    case .other(let type, let parameters, let message):
      return RuleFailure(path: path, type: type, parameters: parameters, message: message)
    case .predicate(let predicate, let isNegated):
      let isMissing = found.missing != nil
      let text = FailureText(predicate, isNegated, bytes, at: isMissing ? nil : found.place)
      return RuleFailure(
        path: path, type: text.type, parameters: text.parameters,
        message: text.message + (isMissing && predicate != .exists ? "; it is missing" : ""))
    }
  }

  // MARK: Clauses

  /// Whether a clause holds, or its complement; otherwise its failures are added.
  ///
  /// - Parameter start: The object whose members are the fields, or the element that is tested.
  private mutating func holds(
    _ part: RulePart, _ isNegated: Bool, _ bytes: JSONBytes, _ start: Int
  ) throws(MatchFailure) -> Bool {
    switch part.clause {
    case .always, .never, .text:
      if (part.clause == .always) != isNegated { return true }
      add(start, "never", [], "no value is allowed here")
      return false
    case .rule(.guarded): return try holds(part.parts[0], isNegated, bytes, start)
    case .not: return try holds(part.parts[0], !isNegated, bytes, start)
    case .and, .or:
      let isConjunction = if case .and = part.clause { true } else { false }
      return isConjunction != isNegated
        ? try holds(allOf: part.parts, isNegated, bytes, start)
        : try holds(oneOf: part.parts, isNegated, bytes, start)
    case .field(let path, let predicate):
      var walk = PathWalk(bytes, from: start, through: path.segments)
      var values: [Int] = []
      while let value = walk.next() { values.append(value) }
      return try holds(part, predicate, isNegated, bytes, values, of: path, below: start)
    case .value(let predicate):
      return try holds(part, predicate, isNegated, bytes, [start], of: nil, below: start)
    case .rule(.conditional):
      let isMet = try part.matcher.matches(valueAt: start, in: bytes)
      return try holds(part.parts[isMet ? 0 : 1], isNegated, bytes, start)
    case .rule(.annotated(_, let isUnauthorized, let reason)):
      let (before, outer) = (found.count, self.isUnauthorized)
      self.isUnauthorized = isUnauthorized ?? outer
      defer { self.isUnauthorized = outer }
      if try holds(part.parts[0], isNegated, bytes, start) { return true }
      if let reason {
        found.removeSubrange(before...)
        add(start, "reason", [], reason.beginning(of: Self.maximumReason))
      }
      return false
    }
  }

  private mutating func holds(
    allOf parts: [RulePart], _ isNegated: Bool, _ bytes: JSONBytes, _ start: Int
  ) throws(MatchFailure) -> Bool {
    var result = true
    for part in parts where try !holds(part, isNegated, bytes, start) { result = false }
    return result
  }

  /// Whether one of some alternatives holds; otherwise the failures of each are added, joined by "or".
  private mutating func holds(
    oneOf parts: [RulePart], _ isNegated: Bool, _ bytes: JSONBytes, _ start: Int
  ) throws(MatchFailure) -> Bool {
    let (before, outer) = (found.count, joint)
    joint = " and "
    defer { joint = outer }
    var alternatives: [Range<Int>] = []
    for part in parts {
      let first = found.count
      if try holds(part, isNegated, bytes, start) {
        found.removeSubrange(before...)
        return true
      }
      alternatives.append(first..<found.count)
    }
    let authored = alternatives.filter { found[$0].contains(where: \.isAuthored) }
    for number in found.indices[before...]
    where !authored.isEmpty && !authored.contains(where: { $0.contains(number) }) {
      found[number].isLeftOut = true
    }
    var next = outer
    for alternative in alternatives {
      guard let first = found[alternative].firstIndex(where: { !$0.isLeftOut }) else { continue }
      found[first].joint = next
      next = " or "
    }
    return false
  }

  private static let maximumReason = 1_000

  // MARK: Predicates

  /// Whether one of some values passes, or none if it is negated.
  ///
  /// - Parameter path: The path that reaches the values; `nil` if the one value is an element.
  private mutating func holds(
    _ part: RulePart, _ predicate: Predicate, _ isNegated: Bool, _ bytes: JSONBytes, _ values: [Int],
    of path: FieldPath?, below start: Int
  ) throws(MatchFailure) -> Bool {
    let test = part.test(predicate)
    var passing: Int?
    for value in values where passing == nil {
      if try path == nil ? test.holds(bytes, at: value) : test.holdsInside(bytes, at: value) {
        passing = value
      }
    }
    guard (passing != nil) == isNegated else { return true }
    let value = passing ?? values.first
    if let value, try addFailures(ofElements: part, isNegated, bytes, value) { return false }
    found.append(
      Found(
        place: value ?? start, missing: value == nil ? path : nil,
        cause: .predicate(predicate, isNegated: isNegated), isUnauthorized: isUnauthorized, joint: joint))
    return false
  }

  /// Adds the failures of the elements of an array.
  ///
  /// - Returns: Whether there are any.
  private mutating func addFailures(
    ofElements part: RulePart, _ isNegated: Bool, _ bytes: JSONBytes, _ array: Int
  ) throws(MatchFailure) -> Bool {
    guard let condition = part.condition, bytes.kind(at: array) == .array else { return false }
    let before = found.count
    var elements = bytes.elements(at: array)
    while let element = elements.next(), found.count < before + RuleViolation.maximumFailures {
      guard try part.matcher.matches(valueAt: element, in: bytes) == isNegated else { continue }
      if case .fields = condition, bytes.kind(at: element) != .object {
        add(element, "type", ["object"], "expected an object")
      } else {
        _ = try holds(part.parts[0], isNegated, bytes, element)
      }
    }
    return found.count > before
  }

  private mutating func add(_ place: Int, _ type: String, _ parameters: [JSONValue], _ message: String) {
    found.append(
      Found(
        place: place, missing: nil, cause: .other(type, parameters, message), isUnauthorized: isUnauthorized,
        joint: joint))
  }
}

extension EnclosingWalk.Step {
  fileprivate var json: JSONValue {
    switch self {
    case .member(let name): .string(name)
    case .element(let number): .int(Int64(number))
    }
  }
}

extension FieldPath {
  fileprivate var steps: [JSONValue] {
    segments.map { $0.position.map { .int(Int64($0)) } ?? .string(String(decoding: $0.name, as: UTF8.self)) }
  }
}
