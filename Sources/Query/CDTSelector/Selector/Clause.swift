import CDTJSON

/// A parsed selector: a boolean expression over fields.
package indirect enum Clause: Sendable, Hashable {
  case always
  case never
  case and([Clause])
  case or([Clause])
  case not(Clause)
  case field(FieldPath, Predicate)
  /// A search for words in a text index's fields.
  case text(TextSearch)
  /// A part of a rule.
  case rule(RuleClause)
  /// A test of the element itself, inside `$elemMatch`, `$allMatch` and `$keyMapMatch` with operators.
  case value(Predicate)

  /// The conjunction of `clauses`, flattened, without clauses that are always true.
  package static func all(_ clauses: [Clause]) -> Clause { joined(clauses, isConjunction: true) }

  /// The disjunction of `clauses`, flattened, without clauses that are always false.
  package static func any(_ clauses: [Clause]) -> Clause { joined(clauses, isConjunction: false) }

  private static func joined(_ clauses: [Clause], isConjunction: Bool) -> Clause {
    var flat: [Clause] = []
    flat.reserveCapacity(clauses.count)
    for clause in clauses {
      switch (clause, isConjunction) {
      case (.never, true), (.always, false): return clause
      case (.always, true), (.never, false): break
      case (.and(let members), true), (.or(let members), false): flat += members
      default: flat.append(clause)
      }
    }
    guard flat.count > 1 else { return flat.first ?? (isConjunction ? .always : .never) }
    return isConjunction ? .and(flat) : .or(flat)
  }

  /// The negation.
  package var complement: Clause {
    switch self {
    case .always: .never
    case .never: .always
    case .not(let clause): clause
    default: .not(self)
    }
  }

  /// The members of a conjunction, or the clause alone.
  package var conjuncts: [Clause] {
    switch self {
    case .always: []
    case .and(let members): members
    default: [self]
    }
  }

  package var isText: Bool {
    if case .text = self { true } else { false }
  }

  /// Whether it uses the document's id, as a text search does, or its revision.
  package func reads(_ field: FieldPath.DocumentField) -> Bool {
    field == .id && textSearch != nil || reads { $0.documentField == field }
  }

  /// Whether it has a condition on a field for which a closure holds.
  package func reads(where holds: (FieldPath) -> Bool) -> Bool {
    switch self {
    case .field(let path, _): holds(path)
    case .and(let members), .or(let members): members.contains { $0.reads(where: holds) }
    case .not(let clause): clause.reads(where: holds)
    case .rule(let rule): rule.parts.contains { $0.reads(where: holds) }
    case .always, .never, .value, .text: false
    }
  }

  /// The text search in the clause, if any; there is at most one.
  package var textSearch: TextSearch? {
    switch self {
    case .text(let search): search
    case .and(let members), .or(let members): members.lazy.compactMap(\.textSearch).first
    case .always, .never, .not, .field, .value, .rule: nil
    }
  }
}
