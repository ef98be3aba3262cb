import JSON

/// A clause as a condition on the columns of one index's rows.
///
/// ```
/// {"age": {"$ne": 30}} on an index (name, age)   →  NOT (e.t1 = 0 AND e.v1 = 30)
/// ```
///
/// Where each field has one value in each document, so that a document is one row, a row decides any clause whose fields
/// are all in the index: alternatives and complements too.
package indirect enum RowCondition: Sendable, Hashable {
  case constant(Bool)
  case field(Int, FieldAccess, PredicateAccess.AbsenceFilter?)
  case all([RowCondition])
  case any([RowCondition])
  case not(RowCondition)

  /// The condition that holds just for the rows of documents that match, or `nil` when rows can't tell.
  ///
  /// - Parameter definition: The definition of an index in which no document has several rows.
  init?(deciding clause: Clause, in definition: IndexDefinition) {
    switch clause {
    case .always: self = .constant(true)
    case .never: self = .constant(false)
    case .and(let members):
      guard let conditions = Self.conditions(members, in: definition) else { return nil }
      self = .all(conditions)
    case .or(let members):
      guard let conditions = Self.conditions(members, in: definition) else { return nil }
      self = .any(conditions)
    case .not(let member):
      guard let condition = RowCondition(deciding: member, in: definition) else { return nil }
      self = .not(condition)
    case .field(let path, let predicate):
      guard let number = definition.fields.firstIndex(where: { $0.fieldPath == path }),
        let condition = Self.condition(predicate, field: number)
      else { return nil }
      self = condition
    case .text, .value: return nil
    }
  }

  private static func conditions(_ clauses: [Clause], in definition: IndexDefinition) -> [RowCondition]? {
    var conditions: [RowCondition] = []
    for clause in clauses {
      guard let condition = RowCondition(deciding: clause, in: definition) else { return nil }
      conditions.append(condition)
    }
    return conditions
  }

  private static func condition(_ predicate: Predicate, field: Int) -> RowCondition? {
    switch predicate {
    case .equal(.array), .type(.array), .size, .elementMatches, .allElementsMatch:
      // A document with an array would make the index one of several rows.
      return .constant(false)
    case .notNull: return Self.field(field, .notNull)
    case .among(let members):
      let others = members.filter { $0 != .null && $0.arrayValue == nil }
      let values = PredicateAccess.of(.among(others)).map { Self.field(field, $0) } ?? .constant(false)
      guard members.contains(.null), let null = PredicateAccess.of(.equal(.null)) else { return values }
      return .any([values, Self.field(field, null)])
    default:
      guard let access = PredicateAccess.of(predicate), access.isExact(isMultiple: false) else { return nil }
      return Self.field(field, access)
    }
  }

  private static func field(_ number: Int, _ access: PredicateAccess) -> RowCondition {
    .field(number, access.access, access.absence)
  }
}

extension RowCondition {
  /// How large the condition is as SQL: SQLite takes expressions up to a depth, and so many parameters.
  var size: Int {
    switch self {
    case .constant: 1
    case .field(_, .points(let keys), _): 1 + keys.count / 16
    case .field: 1
    case .all(let members), .any(let members): members.reduce(1) { $0 + $1.size }
    case .not(let member): 1 + member.size
    }
  }
}
