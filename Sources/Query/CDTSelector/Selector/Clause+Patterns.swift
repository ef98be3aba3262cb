extension Clause {
  /// Whether it has a `$regex`, which could make any write slow, or fail.
  package var hasPattern: Bool {
    hasPredicate { if case .regex = $0 { true } else { false } }
  }

  /// Whether it has an operand that is computed.
  package var isComputed: Bool {
    hasPredicate { if case .computed = $0 { true } else { false } }
  }

  private func hasPredicate(where holds: (Predicate) -> Bool) -> Bool {
    switch self {
    case .always, .never, .text: false
    case .and(let members), .or(let members): members.contains { $0.hasPredicate(where: holds) }
    case .not(let member): member.hasPredicate(where: holds)
    case .field(_, let predicate), .value(let predicate):
      switch predicate {
      case .elementMatches(.fields(let clause)), .elementMatches(.operators(let clause)),
        .allElementsMatch(.fields(let clause)), .allElementsMatch(.operators(let clause)),
        .keyMatches(let clause):
        clause.hasPredicate(where: holds)
      default: holds(predicate)
      }
    case .rule(let rule): rule.parts.contains { $0.hasPredicate(where: holds) }
    }
  }
}
