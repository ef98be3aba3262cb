import JSON

/// A clause made ready to run: names have slots, arguments have the form in which stored text is compared.
class Condition: @unchecked Sendable {
  // Sendable without a lock: conditions have only `let` properties; classes that can be inherited can't say so.

  func holds(_ document: inout DocumentView) throws(MatchFailure) -> Bool {
    true
  }

  /// - Parameter isDocument: Whether `_id` and `_rev` are the document's; in an element they are its members.
  /// - Parameter text: The program of the clause's text search; without one it holds for nothing.
  static func compile(
    _ clause: Clause, names: inout MemberNames, isDocument: Bool, text: TextProgram? = nil
  ) -> Condition {
    switch clause {
    case .always: return Condition()
    case .never: return Complement(Condition())
    case .and(let clauses):
      // Patterns and searches cost most, so they are asked last.
      let ordered = clauses.filter { !$0.isCostly } + clauses.filter(\.isCostly)
      return Conjunction(compile(ordered, names: &names, isDocument: isDocument, text: text))
    case .or(let clauses):
      return Disjunction(compile(clauses, names: &names, isDocument: isDocument, text: text))
    case .not(let clause):
      return Complement(compile(clause, names: &names, isDocument: isDocument, text: text))
    case .text: return text.map(TextCondition.init) ?? Complement(Condition())
    case .field(let path, let predicate):
      let test = ValueTest.compile(predicate)
      if isDocument, let field = path.documentField { return DocumentFieldCondition(field, test) }
      guard let first = path.segments.first else { return Complement(Condition()) }
      return FieldCondition(
        slot: names.slot(of: first), rest: Array(path.segments.dropFirst()), test: test)
    case .value:
      // Asked of an element, never of a document: the parser makes it only inside element conditions.
      return Complement(Condition())
    }
  }

  private static func compile(
    _ clauses: [Clause], names: inout MemberNames, isDocument: Bool, text: TextProgram?
  ) -> [Condition] {
    var conditions: [Condition] = []
    for clause in clauses {
      conditions.append(compile(clause, names: &names, isDocument: isDocument, text: text))
    }
    return conditions
  }
}

private final class Conjunction: Condition, @unchecked Sendable {
  private let members: [Condition]

  init(_ members: [Condition]) {
    self.members = members
  }

  override func holds(_ document: inout DocumentView) throws(MatchFailure) -> Bool {
    for member in members where try !member.holds(&document) { return false }
    return true
  }
}

private final class Disjunction: Condition, @unchecked Sendable {
  private let members: [Condition]

  init(_ members: [Condition]) {
    self.members = members
  }

  override func holds(_ document: inout DocumentView) throws(MatchFailure) -> Bool {
    for member in members where try member.holds(&document) { return true }
    return false
  }
}

private final class Complement: Condition, @unchecked Sendable {
  private let condition: Condition

  init(_ condition: Condition) {
    self.condition = condition
  }

  override func holds(_ document: inout DocumentView) throws(MatchFailure) -> Bool {
    try !condition.holds(&document)
  }
}

/// A text search: the document's fields are cut into words.
private final class TextCondition: Condition, @unchecked Sendable {
  private let program: TextProgram

  init(_ program: TextProgram) {
    self.program = program
  }

  override func holds(_ document: inout DocumentView) throws(MatchFailure) -> Bool {
    program.matches(document.bytes, id: document.id)
  }
}

/// A field of the body: holds when the test holds for any value that the path reaches.
private final class FieldCondition: Condition, @unchecked Sendable {
  private let slot: Int
  private let rest: [FieldPath.Segment]
  private let test: ValueTest

  init(slot: Int, rest: [FieldPath.Segment], test: ValueTest) {
    self.slot = slot
    self.rest = rest
    self.test = test
  }

  override func holds(_ document: inout DocumentView) throws(MatchFailure) -> Bool {
    guard let start = document.value(of: slot) else { return false }
    if rest.isEmpty { return try test.holdsInside(document.bytes, at: start) }
    var walk = PathWalk(document.bytes, from: start, through: rest)
    while let value = walk.next() {
      if try test.holdsInside(document.bytes, at: value) { return true }
    }
    return false
  }
}

/// `_id` or `_rev`: strings that stand beside the body.
private final class DocumentFieldCondition: Condition, @unchecked Sendable {
  private let field: FieldPath.DocumentField
  private let test: ValueTest

  init(_ field: FieldPath.DocumentField, _ test: ValueTest) {
    self.field = field
    self.test = test
  }

  override func holds(_ document: inout DocumentView) throws(MatchFailure) -> Bool {
    try test.holds(string: field == .id ? document.id : document.revision)
  }
}

extension Clause {
  fileprivate var isCostly: Bool {
    switch self {
    case .field(_, .regex), .text: true
    default: false
    }
  }
}
