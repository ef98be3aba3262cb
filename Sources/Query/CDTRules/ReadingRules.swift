package import CDTDatastore
import CDTJSON
package import CDTSelector

/// The documents that a user sees: those that a selector matches, in which the user is known.
package final class Visibility: DocumentVisibility {
  /// The selector as a clause without additions for the user, which a query can have as a conjunct.
  package let clause: Clause
  /// The matcher, for the one thread of a transaction.
  private let filter: Matcher

  init(_ clause: Clause) {
    // A document of one user must not end the queries of others.
    self.clause = .all(clause.conjuncts.map { $0.hasPattern ? .rule(.guarded($0)) : $0 })
    filter = Matcher(self.clause)
  }

  /// Whether the user sees a document. One whose pattern takes too long is not seen.
  package func shows(_ document: StoredParts) -> Bool {
    let bytes = DocumentBytes(id: document.id, revision: document.revision, body: document.body)
    return (try? filter.matches(bytes)) ?? false
  }
}

extension RuleSet {
  /// The documents that a user sees; `nil` for all.
  func visibility(for user: UserContext, inDatabase name: String) -> Visibility? {
    if hidesEverything { return Visibility(.never) }
    guard let reading else { return nil }
    let context = JSONObject([(RuleAdditions.user, .object(user.json(inDatabase: name)))])
    let clauses = reading.filter { $0.concerns(user) }.map { $0.clause.bound(to: context) }
    return Visibility(.any(clauses))
  }
}

/// The rules and roles that decide which documents a user sees, in a form that can be stored. What was seen once can then be compared with
/// what is seen later.
package struct ReadingState: Sendable, Hashable {
  /// The design documents with rules of reading as JSON text; empty if there are none, and everybody sees everything.
  package let rules: String
  /// All roles of the user, sorted: a selector can depend on each. Empty without rules.
  package let roles: [String]

  /// A state that was stored.
  package init(rules: String, roles: [String]) {
    (self.rules, self.roles) = (rules, roles)
  }

  /// The documents that a user saw; `nil` for all.
  ///
  /// - Parameter name: That of the user.
  package func visibility(for name: String?, inDatabase database: String) -> (any DocumentVisibility)? {
    guard !rules.isEmpty else { return nil }
    var set = RuleSet()
    let source = (try? JSONObject(parsing: Array(rules.utf8))) ?? [:]
    for (id, body) in source { set.add(body.objectValue ?? [:], of: id) }
    return set.visibility(for: UserContext(name: name, roles: roles), inDatabase: database)
      ?? Visibility(.never)
  }
}

extension EnforcedRules {
  /// The rules and roles that decide which documents the user sees.
  ///
  /// - Throws: ``QueryError`` if a rule can't be read, and nobody but admins sees anything.
  package func readingState(in transaction: ReadTransaction) throws -> ReadingState {
    let rules = try self.rules(in: transaction)
    if rules.hidesEverything, let (id, error) = rules.unreadable { throw error.below(id) }
    guard !rules.readingSource.isEmpty else { return ReadingState(rules: "", roles: []) }
    return ReadingState(rules: "{\(rules.readingSource.dropLast())}", roles: user.roles.sorted())
  }
}

extension Clause {
  /// The clause with the user's context in place of references to it.
  ///
  /// - Parameter context: An object with the member `userCtx`.
  func bound(to context: JSONObject) -> Clause {
    switch self {
    case .always, .never, .text: self
    case .and(let members): .all(members.map { $0.bound(to: context) })
    case .or(let members): .any(members.map { $0.bound(to: context) })
    case .not(let clause): clause.bound(to: context).complement
    case .rule(let rule): rule.bound { $0.bound(to: context) }
    case .field(let path, let predicate):
      // A member of the document by this name is hidden.
      path.isOfUser ? Self.constant(self, context) : predicate.bound(to: context) { .field(path, $0) }
    case .value(let predicate): predicate.bound(to: context) { .value($0) }
    }
  }

  private static func constant(_ clause: Clause, _ context: JSONObject) -> Clause {
    let matches = try? DocumentBytes.with(context, id: "", revision: "") { bytes throws(QueryError) in
      try Matcher(clause.withOperands(context)).accepts(bytes)
    }
    return matches == true ? .always : .never
  }

  /// A clause about the user whose operands are of the user, too.
  private func withOperands(_ context: JSONObject) -> Clause {
    guard case .field(let path, let predicate) = self else { return self }
    return predicate.bound(to: context) { .field(path, $0) }
  }

  /// A clause about members of an element, where `userCtx` is a member like others.
  fileprivate func boundInElement(to context: JSONObject) -> Clause {
    switch self {
    case .and(let members): .all(members.map { $0.boundInElement(to: context) })
    case .or(let members): .any(members.map { $0.boundInElement(to: context) })
    case .not(let clause): clause.boundInElement(to: context).complement
    case .field(let path, let predicate): predicate.bound(to: context) { .field(path, $0) }
    case .rule(let rule): rule.bound { $0.boundInElement(to: context) }
    case .always, .never, .text, .value: bound(to: context)
    }
  }
}

extension RuleClause {
  fileprivate func bound(_ bind: (Clause) -> Clause) -> Clause {
    switch self {
    case .annotated(let clause, _, _), .guarded(let clause): return bind(clause)
    case .conditional(let condition, let then, let otherwise):
      switch bind(condition) {
      case .always: return bind(then)
      case .never: return bind(otherwise)
      case let bound where condition.hasConditional:
        return .rule(.conditional(bound, then: bind(then), otherwise: bind(otherwise)))
      case let bound:
        // As `$or`, which indexes can decide. The condition stands twice, so those within it are left as they are.
        return .any([.all([bound, bind(then)]), .all([bound.complement, bind(otherwise)])])
      }
    }
  }
}

extension Predicate {
  /// The clause of a target with the predicate, in which operands of the user are literals.
  fileprivate func bound(to context: JSONObject, _ target: (Predicate) -> Clause) -> Clause {
    switch self {
    case .computed(let computed): computed.bound(to: context, target)
    case .elementMatches(let condition): target(.elementMatches(condition.bound(to: context)))
    case .allElementsMatch(let condition): target(.allElementsMatch(condition.bound(to: context)))
    case .keyMatches(let clause): target(.keyMatches(clause.boundInElement(to: context)))
    default: target(self)
    }
  }
}

extension ElementCondition {
  fileprivate func bound(to context: JSONObject) -> ElementCondition {
    switch self {
    case .fields(let clause): .fields(clause.boundInElement(to: context))
    case .operators(let clause): .operators(clause.boundInElement(to: context))
    }
  }
}
