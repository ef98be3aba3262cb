extension Clause {
  /// Whether it has a `$regex`, which could make any write slow, or fail.
  package var hasPattern: Bool {
    switch self {
    case .always, .never, .text: false
    case .and(let members), .or(let members): members.contains(where: \.hasPattern)
    case .not(let member): member.hasPattern
    case .field(_, let predicate), .value(let predicate): predicate.hasPattern
    case .rule(let rule): rule.clause.hasPattern
    }
  }
}

extension Predicate {
  fileprivate var hasPattern: Bool {
    switch self {
    case .regex: true
    case .elementMatches(let condition), .allElementsMatch(let condition):
      switch condition {
      case .fields(let clause), .operators(let clause): clause.hasPattern
      }
    case .keyMatches(let clause): clause.hasPattern
    case .equal, .compare, .among, .exists, .notNull, .type, .modulo, .size, .beginsWith, .computed,
      .collated:
      false
    }
  }
}
