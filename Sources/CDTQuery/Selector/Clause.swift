import JSON

/// A selector after parsing: a boolean expression over fields.
package indirect enum Clause: Sendable, Hashable {
  case always
  case never
  case and([Clause])
  case or([Clause])
  case not(Clause)
  case field(FieldPath, Predicate)
  /// Words of a text index's fields.
  case text(TextSearch)
  /// Inside `$elemMatch`, `$allMatch` and `$keyMapMatch` with operators: the element itself.
  case value(Predicate)

  /// All of `clauses`, with nested conjunctions opened and what decides nothing left out.
  package static func all(_ clauses: [Clause]) -> Clause {
    if clauses.count == 1 { return clauses[0] }
    var flat: [Clause] = []
    flat.reserveCapacity(clauses.count)
    for clause in clauses {
      switch clause {
      case .always: continue
      case .never: return .never
      case .and(let members): flat += members
      default: flat.append(clause)
      }
    }
    return flat.count > 1 ? .and(flat) : flat.first ?? .always
  }

  /// Any of `clauses`, with nested alternatives opened and what decides nothing left out.
  package static func any(_ clauses: [Clause]) -> Clause {
    if clauses.count == 1 { return clauses[0] }
    var flat: [Clause] = []
    flat.reserveCapacity(clauses.count)
    for clause in clauses {
      switch clause {
      case .never: continue
      case .always: return .always
      case .or(let members): flat += members
      default: flat.append(clause)
      }
    }
    return flat.count > 1 ? .or(flat) : flat.first ?? .never
  }

  /// What holds exactly where this does not.
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

  /// Whether it asks for the document's id or revision, which are not in its body; a text search is given the id.
  package var readsDocumentFields: Bool {
    switch self {
    case .field(let path, _): path.documentField != nil
    case .text: true
    case .and(let members), .or(let members): members.contains(where: \.readsDocumentFields)
    case .not(let clause): clause.readsDocumentFields
    case .always, .never, .value: false
    }
  }

  /// The text search in the clause; there is one at most.
  package var textSearch: TextSearch? {
    switch self {
    case .text(let search): search
    case .and(let members), .or(let members): members.lazy.compactMap(\.textSearch).first
    case .always, .never, .not, .field, .value: nil
    }
  }
}
