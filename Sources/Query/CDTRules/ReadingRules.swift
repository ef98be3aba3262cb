package import CDTDatastore
import CDTJSON
package import CDTSelector

/// The documents that a user sees under the rules of reading: those that a selector matches, in which the user is known.
///
/// Two visibilities of a user are equal if the rules and the roles are equal.
package final class Visibility: DocumentVisibility, Equatable {
  /// The selector as a clause without additions for the user, which a query can have as a conjunct.
  package let clause: Clause
  /// The design documents with rules of reading as JSON text; empty without rules, under which everybody sees everything.
  package let rules: String
  /// All roles of the user, sorted: a selector can depend on each.
  package let roles: [String]
  /// Whether a rule can't be read, and nobody but admins sees anything.
  package let isUnreadable: Bool
  /// The matcher, for the one thread of a transaction.
  private let filter: Matcher

  init(_ rules: RuleSet, for user: UserContext, inDatabase name: String) {
    let context = JSONObject([(RuleAdditions.user, .object(user.json(inDatabase: name)))])
    let reading = rules.hidesEverything ? [] : rules.reading
    let clauses = reading?.filter { $0.concerns(user) }.map { $0.clause.bound(to: context) }
    let all: Clause = clauses.map { .any($0) } ?? .always
    // A document of one user must not end the queries of others.
    clause = .all(all.conjuncts.map { $0.hasPattern ? .rule(.guarded($0)) : $0 })
    filter = Matcher(clause)
    (self.rules, isUnreadable) = (rules.readingText, rules.hidesEverything)
    roles = user.roles.sorted()
  }

  package static func == (left: Visibility, right: Visibility) -> Bool {
    left.rules == right.rules && left.roles == right.roles && left.isUnreadable == right.isUnreadable
  }

  /// Whether the user sees a document. One whose pattern takes too long is not seen.
  package func shows(_ document: StoredParts) -> Bool {
    let bytes = DocumentBytes(id: document.id, revision: document.revision, body: document.body)
    return (try? filter.matches(bytes)) ?? false
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
