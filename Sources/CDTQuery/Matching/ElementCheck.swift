import JSON

/// What is asked of one element of an array: operators of the element itself, or a selector of its fields.
indirect enum ElementCheck: Sendable {
  case constant(Bool)
  case all([ElementCheck])
  case any([ElementCheck])
  case not(ElementCheck)
  case test(ValueTest)
  case fields(Matcher)

  static func compile(_ condition: ElementCondition) -> ElementCheck {
    switch condition {
    case .fields(let clause): .fields(Matcher(clause, isDocument: false))
    case .operators(let clause): compile(clause)
    }
  }

  static func compile(_ clause: Clause) -> ElementCheck {
    switch clause {
    case .always: .constant(true)
    case .never: .constant(false)
    case .and(let clauses): .all(clauses.map(compile))
    case .or(let clauses): .any(clauses.map(compile))
    case .not(let clause): .not(compile(clause))
    case .value(let predicate): .test(ValueTest.compile(predicate))
    // The parser keeps text searches out of elements.
    case .field, .text: .fields(Matcher(clause, isDocument: false))
    }
  }

  /// Whether the element that starts at an offset passes; an array is not looked into.
  func holds(_ bytes: JSONBytes, at start: Int) throws(MatchFailure) -> Bool {
    switch self {
    case .constant(let value): return value
    case .all(let checks):
      for check in checks where try !check.holds(bytes, at: start) { return false }
      return true
    case .any(let checks):
      for check in checks where try check.holds(bytes, at: start) { return true }
      return false
    case .not(let check): return try !check.holds(bytes, at: start)
    case .test(let test): return try test.holds(bytes, at: start)
    case .fields(let matcher):
      let none = UnsafeRawBufferPointer(start: nil, count: 0)
      guard bytes.kind(at: start) == .object else { return false }
      return try matcher.matches(bytes, at: start, id: none, revision: none)
    }
  }
}
