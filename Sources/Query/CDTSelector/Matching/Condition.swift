import CDTJSON

/// A clause prepared for execution: names have slots, and arguments are in the form that is compared with stored text.
indirect enum Condition: Sendable {
  case constant(Bool)
  case all([Condition])
  case any([Condition])
  case not(Condition)
  /// The second if the first holds, otherwise the third.
  case choice(Condition, Condition, Condition)
  /// One that does not hold if a pattern takes too long, with its own limits for each document.
  case guarded(Condition, MatchBudget)
  /// Any value that a path reaches in the body: the member with a slot, then the rest of the path.
  case field(slot: Int, rest: [FieldPath.Segment], ValueTest)
  /// The least distance of the values that a path reaches.
  case near(FieldPath, NearCondition)
  /// `_id` or `_rev`.
  case documentField(FieldPath.DocumentField, ValueTest)
  /// The value itself, of an element or a key.
  case value(ValueTest)
  case text(TextProgram)

  /// - Parameters:
  ///   - isDocument: Whether `_id` and `_rev` are the document's; in an element they are members.
  ///   - text: The program of the clause's text search; without it, a search never matches.
  ///   - budget: The limits of its patterns.
  init(
    _ clause: Clause, names: inout MemberNames, isDocument: Bool, text: TextProgram?, _ budget: MatchBudget
  ) {
    switch clause {
    case .always: self = .constant(true)
    case .never: self = .constant(false)
    case .and(let clauses):
      // Patterns and searches cost most, so they are checked last.
      let ordered = clauses.filter { !$0.isCostly } + clauses.filter(\.isCostly)
      self = .all(Self.conditions(ordered, &names, isDocument, text, budget))
    case .or(let clauses): self = .any(Self.conditions(clauses, &names, isDocument, text, budget))
    case .not(let clause):
      self = .not(Condition(clause, names: &names, isDocument: isDocument, text: text, budget))
    case .text: self = text.map(Condition.text) ?? .constant(false)
    case .value(let predicate): self = .value(ValueTest(predicate, budget))
    case .rule(.annotated(let clause, _, _)):
      self = Condition(clause, names: &names, isDocument: isDocument, text: text, budget)
    case .rule(.conditional(let condition, let then, let otherwise)):
      // Not as `$or`, in which each condition stands twice: conditions can be nested.
      self = .choice(
        Condition(condition, names: &names, isDocument: isDocument, text: text, budget),
        Condition(then, names: &names, isDocument: isDocument, text: text, budget),
        Condition(otherwise, names: &names, isDocument: isDocument, text: text, budget))
    case .rule(.guarded(let clause)):
      let own = budget.another
      self = .guarded(
        Condition(clause, names: &names, isDocument: isDocument, text: text, own), own)
    case .field(let path, .near(let near)): self = .near(path, near)
    case .field(let path, let predicate):
      let test = ValueTest(predicate, budget)
      if isDocument, let field = path.documentField {
        self = .documentField(field, test)
      } else if let first = path.segments.first {
        self = .field(slot: names.slot(of: first), rest: Array(path.segments.dropFirst()), test)
      } else {
        self = .constant(false)
      }
    }
  }

  private static func conditions(
    _ clauses: [Clause], _ names: inout MemberNames, _ isDocument: Bool, _ text: TextProgram?,
    _ budget: MatchBudget
  ) -> [Condition] {
    var conditions: [Condition] = []
    for clause in clauses {
      conditions.append(Condition(clause, names: &names, isDocument: isDocument, text: text, budget))
    }
    return conditions
  }

  func holds(_ view: inout DocumentView) throws(MatchFailure) -> Bool {
    switch self {
    case .constant(let holds): return holds
    case .all(let members):
      for member in members where try !member.holds(&view) { return false }
      return true
    case .any(let members):
      for member in members where try member.holds(&view) { return true }
      return false
    case .not(let member): return try !member.holds(&view)
    case .choice(let condition, let then, let otherwise):
      return try condition.holds(&view) ? then.holds(&view) : otherwise.holds(&view)
    case .guarded(let member, let budget):
      budget.renew()
      do throws(MatchFailure) {
        return try member.holds(&view)
      } catch {
        if budget.mustStop { throw error }
        return false
      }
    case .field(let slot, let rest, let test):
      guard let start = view.value(of: slot) else { return false }
      if rest.isEmpty { return try test.holdsInside(view.bytes, at: start) }
      var walk = PathWalk(view.bytes, from: start, through: rest)
      while let value = walk.next() {
        if try test.holdsInside(view.bytes, at: value) { return true }
      }
      return false
    case .near(let path, let near): return near.accepts(near.distance.least(of: path, in: view.bytes))
    case .documentField(let field, let test):
      return try test.holds(string: field == .id ? view.id : view.revision)
    case .value(let test): return try test.holds(view.bytes, at: view.start)
    case .text(let program): return program.matches(view.document)
    }
  }
}

extension Clause {
  fileprivate var isCostly: Bool {
    switch self {
    case .field(_, .regex), .value(.regex), .field(_, .near), .text: true
    default: false
    }
  }
}
