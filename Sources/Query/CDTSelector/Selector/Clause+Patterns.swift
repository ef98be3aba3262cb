extension Clause {
  /// Whether it has a `$regex`, which could make any write slow, or fail.
  package var hasPattern: Bool {
    has { if case .regex = $0 { true } else { false } }
  }

  /// Whether it has an operand that is computed.
  package var isComputed: Bool {
    has { if case .computed = $0 { true } else { false } }
  }

  /// Whether it has an `$if`.
  package var hasConditional: Bool {
    has(rule: { if case .conditional = $0 { true } else { false } }, where: { _ in false })
  }

  private func has(
    rule: (RuleClause) -> Bool = { _ in false }, where holds: (Predicate) -> Bool
  ) -> Bool {
    switch self {
    case .always, .never, .text: false
    case .and(let members), .or(let members): members.contains { $0.has(rule: rule, where: holds) }
    case .not(let member): member.has(rule: rule, where: holds)
    case .field(_, let predicate), .value(let predicate):
      switch predicate {
      case .elementMatches(.fields(let clause)), .elementMatches(.operators(let clause)),
        .allElementsMatch(.fields(let clause)), .allElementsMatch(.operators(let clause)),
        .keyMatches(let clause):
        clause.has(rule: rule, where: holds)
      default: holds(predicate)
      }
    case .rule(let part): rule(part) || part.parts.contains { $0.has(rule: rule, where: holds) }
    }
  }
}
