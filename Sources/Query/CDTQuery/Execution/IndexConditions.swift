import CDTPlan

/// The conditions on the rows of an index, in SQL.
///
/// ```
/// name = "mike", age in a range   →   e.v0 = ? AND e.t0 = ? AND e.v1 >= ? AND e.v1 < ? AND e.t1 = ?
/// ```
///
/// This runs for every query, so all text is appended to one buffer.
struct IndexConditions {
  var sql: SQLText
  /// The values of the parameters, in order.
  var values: [CandidateStatement.Value] = []
  /// The fields that are looked up value by value.
  private(set) var lookups: [CandidateStatement.Lookup] = []
  /// The text before the next condition.
  private var junction: StaticString = "\n WHERE "

  /// - Parameter start: The statement up to its conditions.
  init(_ access: IndexAccess, after start: consuming SQLText) {
    sql = start
    let length = sql.count
    values.reserveCapacity(8)
    for (number, field) in access.fields.enumerated() {
      if case .points(let keys) = field, keys.count != 1 {
        lookups.append(.init(position: values.count, keys: keys, hasTag: true, field: number))
        compare("e.v", number, " =", .int(0))
        compare("e.t", number, " =", .int(0))
      } else {
        append(field, number)
      }
      if let absence = access.absence[number] { append(absence, number) }
    }
    for filter in access.filters {
      append(filter.access, filter.field)
      if let absence = filter.absence { append(absence, filter.field) }
    }
    if sql.count == length {
      sql += junction
      sql += "1"
    }
  }

  // MARK: Conditions

  private mutating func append(_ access: FieldAccess, _ field: Int) {
    switch access {
    case .points(let keys): points(keys, field)
    case .range(let lower?, let upper?) where lower.tag == upper.tag:
      // Compare only the values within one type, which costs less; few matching rows have another type.
      end(lower, field, " >")
      end(upper, field, " <")
      compare("e.t", field, " =", .int(lower.tag.rawValue))
    case .range(let lower, let upper):
      if let lower { rowEnd(lower, field, " >") }
      if let upper { rowEnd(upper, field, " <") }
    }
  }

  /// Appends a condition that a field has one of some keys, grouped by type.
  private mutating func points(_ keys: [IndexKey], _ field: Int) {
    if keys.count == 1 { return points(keys, keys[0].tag, field) }
    let tags = Set(keys.map(\.tag)).sorted()
    sql += junction
    if tags.count > 1 { sql += "(" }
    if tags.isEmpty { sql += "0" }
    junction = ""
    for tag in tags {
      points(keys.filter { $0.tag == tag }, tag, field)
      junction = " OR "
    }
    if tags.count > 1 { sql += ")" }
    junction = " AND "
  }

  private mutating func points(_ keys: [IndexKey], _ type: IndexKey.Tag, _ field: Int) {
    if keys.count == 1 {
      compare("e.v", field, " =", .key(keys[0]))
    } else {
      begin("e.v", field)
      sql += " IN (?"
      for _ in keys.dropFirst() { sql += ", ?" }
      sql += ")"
      for key in keys { values.append(.key(key)) }
    }
    compare("e.t", field, " =", .int(type.rawValue))
  }

  /// Appends one bound of a range within a type; nothing if the range extends to the end of the type.
  private mutating func end(_ bound: IndexKey.Bound, _ field: Int, _ sign: StaticString) {
    guard case .key(let key, let inclusive) = bound else { return }
    compare("e.v", field, sign, isInclusive: inclusive, .key(key))
  }

  /// Appends one bound of a range of rows, which may include several types.
  private mutating func rowEnd(_ bound: IndexKey.Bound, _ field: Int, _ sign: StaticString) {
    switch bound {
    case .tag(let type): compare("e.t", field, sign, isInclusive: true, .int(type.rawValue))
    case .key(let key, let inclusive):
      begin("(e.t", field)
      sql += ", e.v"
      sql += field
      sql += ")"
      sql += sign
      sql += inclusive ? "= (?, ?)" : " (?, ?)"
      values.append(.int(key.tag.rawValue))
      values.append(.key(key))
    }
  }

  private mutating func append(_ absence: PredicateAccess.AbsenceFilter, _ field: Int) {
    switch absence {
    case .only(let wanted):
      begin("(e.absent >> ", 2 * field)
      sql += ") & 3 = "
      sql += Int(wanted)
    case .except(let unwanted):
      begin("(e.t", field)
      sql += " <> "
      sql += Int(IndexKey.Tag.nothing.rawValue)
      sql += " OR (e.absent >> "
      sql += 2 * field
      sql += ") & 3 <> "
      sql += Int(unwanted)
      sql += ")"
    }
  }

  /// Appends the comparison of a column with a value.
  private mutating func compare(
    _ column: StaticString, _ field: Int, _ sign: StaticString, isInclusive: Bool = false,
    _ value: CandidateStatement.Value
  ) {
    begin(column, field)
    sql += sign
    sql += isInclusive ? "= ?" : " ?"
    values.append(value)
  }

  /// Begins a condition on a field's column.
  private mutating func begin(_ column: StaticString, _ field: Int) {
    sql += junction
    sql += column
    sql += field
    junction = " AND "
  }
}

extension IndexKey.Bound {
  fileprivate var tag: IndexKey.Tag {
    switch self {
    case .key(let key, _): key.tag
    case .tag(let tag): tag
    }
  }
}

extension IDRange {
  /// The conditions on a column, each preceded by ` AND `; appends their parameters.
  func sql(of column: String, _ values: inout [CandidateStatement.Value]) -> String {
    var sql = ""
    for (bound, sign) in [(lower, ">"), (upper, "<")] {
      guard let bound else { continue }
      sql += "\n   AND \(column) \(sign)\(bound.isInclusive ? "=" : "") ?"
      values.append(.key(.string(bound.id)))
    }
    return sql
  }
}
